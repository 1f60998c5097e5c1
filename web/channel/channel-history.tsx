import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight, Flag } from 'lucide-react'
import { useState } from 'react'
import type { EventBody, EventListBody } from '../../src/contract/history.ts'
import { severities } from '../../src/contract/values.ts'
import { stateLetters } from '../../src/domain/history/columns.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../app/context.ts'
import {
  formatDayTime,
  formatDuration,
  formatMoment,
  formatShortDuration,
  formatTime,
  formatUnit,
  plainText,
} from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { type Resource, useResource } from '../app/resource.ts'
import { serviceNow, toIso } from '../app/service-time.ts'
import { useMay } from '../app/session.ts'
import {
  type ChannelRange,
  neighbourSpan,
  pan,
  parseRange,
  rangeQuery,
  spans,
  zoom,
} from '../parts/channels/channel-range.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { InterruptedSites } from '../parts/equipment/site-note.tsx'
import { ChoiceButtons } from '../parts/forms/choice.tsx'
import { TextField } from '../parts/forms/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { stateNames } from './channel-levels.ts'
import { HistoryChart } from './history-chart.tsx'
import { LevelTable } from './level-table.tsx'
import { isRfInPercent, useChannelLevels, useServerSeconds } from './use-channel-levels.ts'

interface ChannelHistoryProps {
  readonly receiverId: number
  readonly channelId: number
}

export function ChannelHistory({ receiverId, channelId }: ChannelHistoryProps) {
  const { watch } = useServices()
  const { range, change } = useRange()
  const now = useServerSeconds()
  const shown = useChannelLevels(receiverId, channelId, range)
  const events = useChannelEvents(channelId, range, now)
  const [isTableOpen, setTableOpen] = useState(false)
  const { levels, from, to } = shown
  const isInPercent = isRfInPercent(watch.levels(receiverId, channelId))
  const chart = {
    ...{ levels, from, to, events: events.body?.results ?? [] },
    onPan: (seconds: number) => change(pan(range, seconds, now)),
    onZoom: (step: -1 | 1) => change(zoom(range, neighbourSpan(range.span, step), now)),
    onNow: () => change({ ...range, to: null }),
  }
  return (
    <>
      <section className="detail-part detail-history">
        <div className="history-head">
          <h2>{t('channel.history')}</h2>
          <Link className="history-link" to={pathOf('timeline')} search={timelineQuery(channelId, from, to)}>
            {t('channel.timeline')}
          </Link>
        </div>
        <RangeControls range={range} now={now} change={change} />
        {shown.problem === null ? null : (
          <p role="status" className="history-problem">
            {t('channel.historyFailed', { reason: shown.problem.detail })}
          </p>
        )}
        <InterruptedSites names={shown.interruptedSites} />
        <HistoryChart series={isInPercent ? 'levelsInPercent' : 'levels'} {...chart} />
        <HistoryChart series="battery" {...chart} />
        <StateLegend />
        <EventLegend />
        <details className="detail-more" onToggle={({ currentTarget }) => setTableOpen(currentTarget.open)}>
          <summary>{t('channel.table')}</summary>
          {isTableOpen ? <LevelTable {...{ levels, from, to, isInPercent }} /> : null}
        </details>
      </section>
      <ChannelEvents channelId={channelId} resource={events} />
    </>
  )
}

function timelineQuery(channel: number, from: number, to: number): Record<string, unknown> {
  const [start, end] = [from, to].map((at) => new Date(at * 1_000).toISOString())
  return { channel, from: start, to: end }
}

function useRange(): { range: ChannelRange; change(range: ChannelRange): void } {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = (range: ChannelRange) =>
    void navigate({ to: '.', search: () => rangeQuery(range), replace: true, resetScroll: false })
  return { range: parseRange(search), change }
}

/** A range that follows now has no end, so that new events belong to it. */
function useChannelEvents(channelId: number, { span, to }: ChannelRange, now: number): Resource<EventListBody> {
  const [openedAt] = useState(now)
  const start = (to ?? openedAt) - span
  const query = new URLSearchParams({
    channel: String(channelId),
    from: toIso(start * 1_000),
    ...(to !== null && { to: toIso(to * 1_000) }),
    limit: '200',
  })
  return useResource(`/api/events/?${query}`, 'object', eventTopics)
}

const eventTopics = ['event', 'event_changed', 'event_deleted'] as const

interface RangeControlsProps {
  readonly range: ChannelRange
  readonly now: number
  change(range: ChannelRange): void
}

function RangeControls({ range, now, change }: RangeControlsProps) {
  const { span, to } = range
  const end = to ?? now
  const format = span >= 86_400 ? formatDayTime : formatTime
  return (
    <div className="history-controls">
      <fieldset className="history-spans">
        <legend className="visually-hidden">{t('channel.span')}</legend>
        <ChoiceButtons
          value={span}
          values={spans}
          nameOf={spanText}
          onChoice={(value) => change(zoom(range, value, now))}
        />
      </fieldset>
      <div className="history-spans">
        <button
          type="button"
          className="choice"
          aria-label={t('channel.earlier')}
          onClick={() => change(pan(range, -span / 2, now))}
        >
          <ChevronLeft className="icon" aria-hidden="true" />
        </button>
        <button
          type="button"
          className="choice"
          aria-label={t('channel.later')}
          disabled={to === null}
          onClick={() => change(pan(range, span / 2, now))}
        >
          <ChevronRight className="icon" aria-hidden="true" />
        </button>
        <button
          type="button"
          className="choice"
          aria-pressed={to === null}
          onClick={() => change({ ...range, to: null })}
        >
          {t('channel.followNow')}
        </button>
      </div>
      <span className="history-range">
        {t('channel.range', { min: format((end - span) * 1_000), max: format(end * 1_000) })}
      </span>
    </div>
  )
}

function spanText(seconds: number): string {
  const weeks = seconds / (7 * 86_400)
  return Number.isInteger(weeks)
    ? formatUnit('week', weeks)
    : seconds === 86_400
      ? formatUnit('day', 1)
      : formatShortDuration(seconds * 1_000)
}

function StateLegend() {
  return (
    <ul className="history-states" aria-label={t('channel.stateLegend')}>
      {stateLetters.toReversed().map((letter) => (
        <li key={letter}>
          <span className="history-swatch" data-state={stateNames[letter]} aria-hidden="true" />
          {t(`channel.recorded.${stateNames[letter]}`)}
        </li>
      ))}
    </ul>
  )
}

function EventLegend() {
  return (
    <ul className="history-states" aria-label={t('channel.events')}>
      {severities.map((severity) => (
        <li key={severity}>
          <span className="history-swatch" data-event={severity} aria-hidden="true" />
          {t(`events.ranges.${severity}`)}
        </li>
      ))}
      <li>
        <span className="history-swatch" data-event="marker" aria-hidden="true" />
        {t('events.kinds.marker')}
      </li>
    </ul>
  )
}

function ChannelEvents({ channelId, resource }: { channelId: number; resource: Resource<EventListBody> }) {
  const mayOperate = useMay('operate')
  const [markedAt, setMarkedAt] = useState<number | null>(null)
  return (
    <section className="detail-part detail-events">
      <div className="history-head">
        <h2>{t('channel.events')}</h2>
        {mayOperate ? (
          <button type="button" className="choice" onClick={() => setMarkedAt(Math.floor(serviceNow() / 1_000))}>
            <Flag className="icon" aria-hidden="true" />
            {t('channel.addMarker')}
          </button>
        ) : null}
      </div>
      <Loaded resource={resource}>
        {({ results, next }) => (
          <>
            {results.length === 0 ? <p>{t('channel.noEvents')}</p> : null}
            <ul className="event-list">
              {results.map((event) => (
                <EventItem key={event.id} event={event} />
              ))}
            </ul>
            {next === null ? null : <p>{t('channel.moreEvents', { count: results.length })}</p>}
          </>
        )}
      </Loaded>
      {markedAt === null ? null : (
        <MarkerDialog
          {...{ channelId, at: markedAt }}
          onAdded={() => void resource.reload()}
          onClose={() => setMarkedAt(null)}
        />
      )}
    </section>
  )
}

function EventItem({ event: { time, until, kind, severity, text, by } }: { event: EventBody }) {
  const duration = until === null ? 0 : Date.parse(until) - Date.parse(time)
  return (
    <li className="event" data-severity={kind === 'marker' ? 'marker' : severity}>
      <time dateTime={time}>{formatMoment(time)}</time>
      <span className="event-text">
        <bdi>{plainText(text)}</bdi>
        {duration < 1_000 ? null : <span className="event-more"> · {formatDuration(duration)}</span>}
        {by === null ? null : (
          <span className="event-more">
            {' '}
            · <bdi>{plainText(by)}</bdi>
          </span>
        )}
      </span>
      <Link
        to={pathOf('monitor')}
        search={{ at: toIso(Math.floor(Date.parse(time) / 1_000) * 1_000) }}
        aria-label={t('channel.showMomentOf', { time: formatMoment(time) })}
      >
        {t('channel.showMoment')}
      </Link>
    </li>
  )
}

interface MarkerDialogProps {
  readonly channelId: number
  /** Epoch seconds. */
  readonly at: number
  onAdded(): void
  onClose(): void
}

function MarkerDialog({ channelId, at, onAdded, onClose }: MarkerDialogProps) {
  const { api } = useServices()
  const time = toIso(at * 1_000)
  return (
    <FormDialog
      title={t('channel.markerAt', { time: formatTime(at * 1_000) })}
      action={t('channel.addMarker')}
      edit={{ address: `/api/markers/?channel=${channelId}`, record: null }}
      send={(values) =>
        api.write('POST', '/api/markers/', { time, channel_id: channelId, text: values.get('text') }, 'object')
      }
      onDone={() => {
        onAdded()
        onClose()
      }}
      onClose={onClose}
    >
      <TextField name="text" label={t('channel.markerText')} maxLength={500} required={true} />
    </FormDialog>
  )
}
