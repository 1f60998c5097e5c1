import { CalendarClock, ChevronLeft, ChevronRight, Radio, ZoomIn, ZoomOut } from 'lucide-react'
import { useState } from 'react'
import { useWatchState } from '../app/context.ts'
import { formatDateTime, formatShortDuration } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSearch } from '../app/query.ts'
import { ChannelChoice } from '../parts/channels/channel-choice.tsx'
import { fromLocalInput, toLocalInput } from '../parts/forms/field.tsx'
import { focused } from '../parts/forms/focused.ts'
import type { TimelineControl, TimelineState } from './control.ts'
import { zoomAtPlayhead } from './gestures.ts'
import { listIds, presets, type TimelineAddress } from './range.ts'

export const heights = ['compact', 'normal', 'detailed'] as const
export type Height = (typeof heights)[number]

interface TimeToolsProps {
  readonly control: TimelineControl
  readonly settled: TimelineState
  readonly isNarrow: boolean
  discretely(action: () => void): void
}

export function TimeTools({ control, settled, isNarrow, discretely }: TimeToolsProps) {
  const { range, isFollowing } = settled
  const [isGoing, setGoing] = useState(false)
  const setSpan = (span: number) =>
    discretely(() => {
      const before = control.get()
      if (before.isFollowing) control.follow(span)
      else zoomAtPlayhead(control, span / before.range.span)
    })
  const isShown = (span: number) => Math.abs(range.span - span) < span / 100
  const step = (direction: 1 | -1) => control.pan((direction * control.get().range.span) / 2)
  return (
    <>
      <fieldset className="timeline-tools" aria-label={t('timeline.range')}>
        <IconButton text={t('timeline.earlier')} icon={ChevronLeft} onClick={() => step(-1)} />
        <IconButton text={t('timeline.later')} icon={ChevronRight} onClick={() => step(1)} />
        <button
          type="button"
          className="choice"
          aria-pressed={isFollowing}
          onClick={() => discretely(() => control.follow())}
        >
          <Radio className="icon" aria-hidden="true" />
          {t('timeline.now')}
        </button>
        <button type="button" className="choice" aria-expanded={isGoing} onClick={() => setGoing(!isGoing)}>
          <CalendarClock className="icon" aria-hidden="true" />
          {t('timeline.goTo')}
        </button>
      </fieldset>
      {isGoing ? (
        <GoTo
          initial={control.get().playhead ?? range.from + range.span / 2}
          onGo={(at) => {
            discretely(() => control.jump(at))
            setGoing(false)
          }}
        />
      ) : null}
      <fieldset className="timeline-tools" aria-label={t('timeline.zoom')}>
        <IconButton text={t('timeline.zoomOut')} icon={ZoomOut} onClick={() => zoomAtPlayhead(control, 2)} />
        <IconButton text={t('timeline.zoomIn')} icon={ZoomIn} onClick={() => zoomAtPlayhead(control, 0.5)} />
        {isNarrow ? (
          <select
            className="choice"
            aria-label={t('timeline.range')}
            value={presets.find(isShown) ?? ''}
            onChange={(event) => setSpan(Number(event.target.value))}
          >
            {presets.some(isShown) ? null : <option value="">{formatShortDuration(range.span)}</option>}
            {presets.map((span) => (
              <option key={span} value={span}>
                {presetText(span)}
              </option>
            ))}
          </select>
        ) : (
          presets.map((span) => (
            <button
              key={span}
              type="button"
              className="choice"
              aria-pressed={isShown(span)}
              onClick={() => setSpan(span)}
            >
              {presetText(span)}
            </button>
          ))
        )}
      </fieldset>
    </>
  )
}

function presetText(span: number): string {
  return span === presets.at(-1) ? t('timeline.week') : formatShortDuration(span)
}

interface IconButtonProps {
  readonly text: string
  readonly icon: typeof ZoomIn
  onClick(): void
}

function IconButton({ text, icon: Icon, onClick }: IconButtonProps) {
  return (
    <button type="button" className="choice" aria-label={text} title={text} onClick={onClick}>
      <Icon className="icon" aria-hidden="true" />
    </button>
  )
}

function GoTo({ initial, onGo }: { initial: number; onGo: (at: number) => void }) {
  return (
    <form
      className="timeline-tools"
      onSubmit={(event) => {
        event.preventDefault()
        const at = fromLocalInput(String(new FormData(event.currentTarget).get('at') ?? ''))
        if (at !== null) onGo(at)
      }}
    >
      <input
        className="choice"
        type="datetime-local"
        name="at"
        step={1}
        required={true}
        aria-label={t('timeline.goToTime')}
        defaultValue={toLocalInput(initial)}
        {...focused}
      />
      <button type="submit" className="choice" data-tone="usual">
        {t('timeline.go')}
      </button>
    </form>
  )
}

interface ChannelToolsProps {
  readonly address: TimelineAddress
  readonly height: Height
  readonly isTable: boolean
  onHeight(height: Height): void
  onTable(isTable: boolean): void
}

export function ChannelTools({ address, height, isTable, onHeight, onTable }: ChannelToolsProps) {
  const [, change] = useSearch()
  const groups = useWatchState((watchState) => watchState.groups)
  const ids = listIds(address.channel ?? '')
  return (
    <fieldset className="timeline-tools" aria-label={t('timeline.selection')}>
      <input
        className="choice search"
        type="search"
        aria-label={t('timeline.search')}
        placeholder={t('timeline.search')}
        maxLength={100}
        defaultValue={address.q ?? ''}
        onChange={(event) => change({ q: event.target.value.trim(), channel: null })}
      />
      <select
        className="choice"
        aria-label={t('timeline.group')}
        value={address.group ?? ''}
        onChange={(event) => change({ group: event.target.value, channel: null })}
      >
        <option value="">{t('timeline.allGroups')}</option>
        {groups.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
      <ChannelChoice
        className="choice search"
        label={t('timeline.channel')}
        placeholder={ids.length > 1 ? t('timeline.several', { count: ids.length }) : undefined}
        others={[{ value: '', text: t('timeline.allChannels') }]}
        value={ids.length === 1 ? String(ids[0]) : ''}
        onChoice={(value) => change({ channel: value })}
      />
      <button
        type="button"
        className="choice"
        aria-pressed={address.state === 'problems'}
        onClick={() => change({ state: address.state === 'problems' ? null : 'problems', channel: null })}
      >
        {t('timeline.problems')}
      </button>
      <select
        className="choice"
        aria-label={t('timeline.height')}
        value={height}
        onChange={(event) => onHeight(event.target.value as Height)}
      >
        {heights.map((value) => (
          <option key={value} value={value}>
            {t(`timeline.heights.${value}`)}
          </option>
        ))}
      </select>
      <button type="button" className="choice" aria-pressed={isTable} onClick={() => onTable(!isTable)}>
        {t('timeline.asTable')}
      </button>
    </fieldset>
  )
}

export function RangeText({ settled: { range } }: Pick<TimeToolsProps, 'settled'>) {
  const [from, to] = [formatDateTime(range.from), formatDateTime(range.from + range.span)]
  return <p className="timeline-range tabular">{t('timeline.rangeText', { from, to })}</p>
}
