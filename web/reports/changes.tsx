/** The batteries to change so that all packs last until a time. */

import './changes.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { BatteryChange } from '../../src/contract/reports.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useWatchState } from '../app/context.ts'
import { formatPercent, formatTimeLeft, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { serviceNow } from '../app/service-time.ts'
import { Ago } from '../parts/age.tsx'
import { timeLeftText } from '../parts/card/time-left.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { DocumentPage, type DocumentTimes, type PaperColumn, PaperTable } from './document.tsx'

const columns: readonly PaperColumn<BatteryChange>[] = [
  { key: 'slot', title: t('changes.columns.slot'), isNumber: true, cell: ({ slot }) => slot },
  {
    ...{ key: 'name', title: t('changes.columns.name') },
    cell: ({ channel_id, title }) => (
      <Link to="/channels/$id" params={{ id: String(channel_id) }}>
        <bdi>{plainText(title)}</bdi>
      </Link>
    ),
  },
  {
    ...{ key: 'battery', title: t('changes.columns.battery'), isNumber: true },
    cell: ({ battery }) => (battery === null ? t('card.percentUnknown') : formatPercent(battery)),
  },
  { key: 'left', title: t('changes.columns.left'), isNumber: true, cell: (change) => <TimeLeft change={change} /> },
  { key: 'pack', title: t('changes.columns.pack'), cell: (change) => <Pack change={change} /> },
  { key: 'state', title: t('changes.columns.state'), cell: (change) => <State change={change} /> },
]

function TimeLeft({ change: { minutes_left, forecast } }: { change: BatteryChange }) {
  return (
    <>
      {timeLeftText({ minutesLeft: minutes_left, forecast }) ?? t('card.percentUnknown')}
      {forecast?.source === 'history' ? (
        <small>{t('changes.range', { low: formatTimeLeft(forecast.low), high: formatTimeLeft(forecast.high) })}</small>
      ) : null}
    </>
  )
}

function Pack({ change: { pack, model, battery_type } }: { change: BatteryChange }) {
  return (
    <>
      <bdi>{plainText(pack ?? '–')}</bdi>
      <small>{[model, battery_type].filter((part) => part !== null).join(' · ')}</small>
    </>
  )
}

function State({ change: { state, reason, last_seen } }: { change: BatteryChange }) {
  const isShort = state === 'ok' && reason === 'will_not_last'
  return (
    <>
      <StateIcon state={isShort ? 'battery_replace_soon' : state} />{' '}
      {t(isShort ? 'card.willNotLast' : `states.${state}`)}
      {last_seen === null ? null : (
        <small>
          <Ago at={last_seen} />
        </small>
      )}
    </>
  )
}

const topics = ['slots', 'slot_records', 'show', 'receiver_removed'] as const
const refreshMs = 15_000

export function Changes() {
  const { before } = useSearch({ strict: false }) as { readonly before?: string }
  const query = before === undefined ? '' : (`?${new URLSearchParams({ before })}` as const)
  const list = useResource(`/api/changes/${query}`, 'object', topics, refreshMs)
  return (
    <DocumentPage title={t('changes.title')} csv={`/api/changes.csv${query}`}>
      {(times) => (
        <Loaded resource={list}>{({ before, changes }) => <BatteryList {...{ before, changes, times }} />}</Loaded>
      )}
    </DocumentPage>
  )
}

interface BatteryListProps {
  readonly before: string
  readonly changes: readonly BatteryChange[]
  readonly times: DocumentTimes
}

function BatteryList({ before, changes, times }: BatteryListProps) {
  const known = changes.filter(({ reason }) => reason !== 'unknown')
  const unknown = changes.filter(({ reason }) => reason === 'unknown')
  return (
    <div className="changes">
      <header className="document-heading">
        <h1>{t('changes.until', { time: times.clock(before) })}</h1>
        <p>{`${times.date(before)} · ${t('changes.asOf', { time: times.clock(new Date(serviceNow()).toISOString()) })}`}</p>
      </header>
      <Until before={before} times={times} />
      {known.length === 0 ? (
        <Empty title={t('changes.empty')}>
          <p>{t(unknown.length === 0 ? 'changes.emptyNext' : 'changes.emptyUnknown')}</p>
        </Empty>
      ) : (
        <List title={t('changes.title')} changes={known} />
      )}
      {unknown.length === 0 ? null : (
        <section className="document-part">
          <h2>{t('changes.unknown')}</h2>
          <List title={t('changes.unknown')} changes={unknown} />
        </section>
      )}
    </div>
  )
}

function List({ title, changes }: { title: string; changes: readonly BatteryChange[] }) {
  return <PaperTable title={title} columns={columns} rows={changes} idOf={({ channel_id }) => channel_id} />
}

const [minuteMs, hourMs, dayMinutes] = [60_000, 3_600_000, 1_440]
const hours = [1, 2, 3] as const

function Until({ before, times }: Pick<BatteryListProps, 'before' | 'times'>) {
  const navigate = useNavigate()
  const ends = useWatchState(({ shows }) => Math.max(0, ...shows.map(({ ends_at }) => Date.parse(ends_at ?? '') || 0)))
  const [typed, setTyped] = useState<string | null>(null)
  const now = serviceNow()
  const choose = (at: number) =>
    void navigate({ to: pathOf('changes'), search: { before: new Date(at).toISOString() }, replace: true })
  const choices = [
    ...(ends > now
      ? [{ at: ends, text: t('changes.showEnd', { time: times.clock(new Date(ends).toISOString()) }) }]
      : []),
    ...hours.map((count) => ({ at: now + count * hourMs, text: t('changes.hours', { hours: count }) })),
  ]
  const clock = clockOf(Date.parse(before), times.zone)
  return (
    <fieldset className="changes-until screen-only">
      <legend className="visually-hidden">{t('changes.label')}</legend>
      {choices.map(({ at, text }) => (
        <button
          key={text}
          type="button"
          className="choice"
          aria-pressed={Math.abs(at - Date.parse(before)) < minuteMs}
          onClick={() => choose(at)}
        >
          {text}
        </button>
      ))}
      <label className="changes-time">
        {t('changes.at')}
        <input
          type="time"
          className="choice"
          value={typed ?? clock}
          onChange={({ target: { value } }) => {
            setTyped(value)
            if (value !== '') choose(nextTime(value, now, times.zone))
          }}
          onBlur={() => setTyped(null)}
        />
      </label>
    </fieldset>
  )
}

/** 22:40 */
function clockOf(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(at)
}

/** Returns the next occurrence of this time of day. */
function nextTime(clock: string, now: number, zone: string): number {
  const minutesOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5))
  const wait = minutesOf(clock) - minutesOf(clockOf(now, zone))
  return Math.floor(now / minuteMs) * minuteMs + (wait > 0 ? wait : wait + dayMinutes) * minuteMs
}
