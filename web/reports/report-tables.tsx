import type { ReactNode } from 'react'
import type { ClipBody } from '../../src/contract/clips.ts'
import type { EventBody } from '../../src/contract/history.ts'
import type { ReportedChannel, ShowReport } from '../../src/contract/reports.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../app/context.ts'
import { formatDuration, formatPercent, formatUnit, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { alertKindTitle } from '../parts/alerts/alert-text.ts'
import { clipLength, faultsText, useClips } from '../parts/clips.ts'
import { CheckTable } from './check-report.tsx'
import type { DocumentTimes } from './document.tsx'
import { type PaperColumn, PaperTable } from './document.tsx'
import { type AlertOfChannels, channelText, listAlerts, listMarkers, nameOf } from './report-summary.ts'

export interface ReportProps {
  readonly report: ShowReport
  readonly times: DocumentTimes
}

const problems = (value: number, seconds?: number) =>
  value === 0 ? '' : <strong>{seconds === undefined ? value : `${value} (${formatUnit('second', seconds)})`}</strong>
const known = (value: number | null, format: (value: number) => string = String) =>
  value === null ? '–' : format(value)
const decibels = (value: number) => String(value).replace('-', '−')

const channelColumns: readonly PaperColumn<ReportedChannel>[] = [
  { key: 'slot', title: t('report.columns.slot'), isNumber: true, cell: ({ slot }) => known(slot) },
  { key: 'name', title: t('report.columns.name'), cell: (channel) => <Name channel={channel} /> },
  { key: 'pack', title: t('report.columns.pack'), cell: ({ pack }) => <bdi>{plainText(pack ?? '–')}</bdi> },
  {
    ...{ key: 'minutes', title: t('report.columns.minutes'), isNumber: true },
    cell: ({ is_recorded, minutes_on }) => (is_recorded ? minutes_on.toFixed(1) : '–'),
  },
  {
    ...{ key: 'battery', title: t('report.columns.battery'), isNumber: true },
    cell: ({ battery_start: start, battery_end: end }) =>
      start === null && end === null ? '–' : `${known(start, formatPercent)} → ${known(end, formatPercent)}`,
  },
  {
    key: 'lowest',
    title: t('report.columns.lowest'),
    isNumber: true,
    cell: ({ rf_lowest }) => known(rf_lowest, decibels),
  },
  { key: 'p1', title: t('report.columns.p1'), isNumber: true, cell: ({ rf_p1 }) => known(rf_p1, decibels) },
  {
    ...{ key: 'dropouts', title: t('report.columns.dropouts'), isNumber: true },
    cell: ({ dropouts }) => problems(dropouts.count, dropouts.seconds),
  },
  {
    ...{ key: 'interference', title: t('report.columns.interference'), isNumber: true },
    cell: ({ interference }) => problems(interference),
  },
  { key: 'mutes', title: t('report.columns.mutes'), isNumber: true, cell: mutesText },
  {
    ...{ key: 'clipping', title: t('report.columns.clipping'), isNumber: true },
    cell: ({ clipping }) => problems(clipping.count, clipping.seconds),
  },
  { key: 'alerts', title: t('report.columns.alerts'), isNumber: true, cell: ({ alerts }) => problems(alerts.length) },
]

function mutesText({ mutes, mutes_on_purpose: purpose }: ReportedChannel): string {
  if (purpose > 0) return t('report.mutesOnPurpose', { count: mutes, purpose })
  return mutes === 0 ? '' : String(mutes)
}

function Name({ channel }: { channel: ReportedChannel }) {
  const { title, performer, name } = channel
  const others = [performer, name].filter((other) => other !== null && other !== title)
  return (
    <>
      <bdi>{nameOf(channel)}</bdi> {others.length === 0 ? null : <small>{plainText(others.join(', '))}</small>}
    </>
  )
}

export function Channels({ channels }: { channels: readonly ReportedChannel[] }) {
  return (
    <Part title={t('report.channels')}>
      <PaperTable
        title={t('report.channels')}
        columns={channelColumns}
        rows={channels}
        idOf={({ channel_id }) => channel_id}
      />
      <p className="hint">{t('report.legend')}</p>
    </Part>
  )
}

export function Dropouts({ report: { channels, from }, times }: ReportProps) {
  const rows = channels.filter(({ dropouts }) => dropouts.count > 0)
  const columns: readonly PaperColumn<ReportedChannel>[] = [
    { key: 'channel', title: t('report.columns.channel'), cell: (channel) => <bdi>{channelText(channel)}</bdi> },
    {
      ...{ key: 'longest', title: t('report.columns.longest'), isNumber: true },
      cell: ({ dropouts }) => formatUnit('second', dropouts.longest_seconds),
    },
    {
      ...{ key: 'times', title: t('report.columns.times') },
      cell: ({ dropouts }) => dropouts.times.map((time) => times.time(time, from)).join(', '),
    },
  ]
  return (
    <Part title={t('report.dropouts')}>
      {rows.length === 0 ? (
        <p>{t('report.noDropouts')}</p>
      ) : (
        <PaperTable title={t('report.dropouts')} columns={columns} rows={rows} idOf={({ channel_id }) => channel_id} />
      )}
    </Part>
  )
}

export function Alerts({ report: { channels, from }, times }: ReportProps) {
  const rows = listAlerts(channels)
  const columns: readonly PaperColumn<AlertOfChannels>[] = [
    { key: 'time', title: t('report.columns.time'), cell: ({ happened_at }) => times.time(happened_at, from) },
    { key: 'kind', title: t('report.columns.alert'), cell: ({ kind }) => alertKindTitle(kind) },
    {
      ...{ key: 'channel', title: t('report.columns.channel') },
      cell: (alert) => <bdi>{alert.channels.map(channelText).join(', ')}</bdi>,
    },
    {
      ...{ key: 'acknowledged', title: t('report.columns.acknowledged') },
      cell: ({ seconds_to_acknowledge: seconds }) =>
        seconds === null
          ? t('report.never')
          : t('report.after', { time: formatDuration(Math.max(1, Math.round(seconds)) * 1000) }),
    },
  ]
  return (
    <Part title={t('report.alerts')}>
      {rows.length === 0 ? (
        <p>{t('report.noAlerts')}</p>
      ) : (
        <PaperTable title={t('report.alerts')} columns={columns} rows={rows} idOf={({ id }) => id} />
      )}
    </Part>
  )
}

export function Markers({ report: { channels, from }, times }: ReportProps) {
  const rows = listMarkers(channels)
  const byId = new Map(channels.map((channel) => [channel.channel_id, channel]))
  const columns: readonly PaperColumn<EventBody>[] = [
    {
      ...{ key: 'time', title: t('report.columns.time') },
      cell: ({ time, until }) =>
        until === null ? times.time(time, from) : `${times.time(time, from)} – ${times.time(until, from)}`,
    },
    {
      ...{ key: 'channel', title: t('report.columns.channel') },
      cell: ({ channel_id }) => {
        const channel = channel_id === null ? undefined : byId.get(channel_id)
        return channel === undefined ? t('report.allChannels') : <bdi>{channelText(channel)}</bdi>
      },
    },
    { key: 'text', title: t('report.columns.marker'), cell: ({ text }) => <bdi>{plainText(text)}</bdi> },
  ]
  return (
    <Part title={t('report.markers')}>
      {rows.length === 0 ? (
        <p>{t('report.noMarkers')}</p>
      ) : (
        <PaperTable title={t('report.markers')} columns={columns} rows={rows} idOf={({ id }) => id} />
      )}
    </Part>
  )
}

/** For those who may play them. */
export function Clips({ report: { channels, from, to }, times }: ReportProps) {
  const { mount } = useServices()
  const { clips } = useClips(Date.parse(from), Date.parse(to))
  if (clips === null) return null
  const byId = new Map(channels.map((channel) => [channel.channel_id, channel]))
  const rows = clips.filter(({ channel_id }) => byId.has(channel_id)).toReversed()
  const columns: readonly PaperColumn<ClipBody>[] = [
    {
      ...{ key: 'time', title: t('report.columns.time') },
      cell: ({ channel_id, from: start, to: end }) => {
        const query = new URLSearchParams({ channel: String(channel_id), from: start, to: end, at: start })
        return <a href={`${mount}${pathOf('timeline')}?${query}`}>{times.time(start, from)}</a>
      },
    },
    {
      ...{ key: 'channel', title: t('report.columns.channel') },
      cell: ({ channel_id }) => {
        const channel = byId.get(channel_id)
        return channel === undefined ? null : <bdi>{channelText(channel)}</bdi>
      },
    },
    {
      ...{ key: 'seconds', title: t('clips.length'), isNumber: true },
      cell: clipLength,
    },
    { key: 'faults', title: t('clips.found'), cell: ({ faults }) => faultsText(faults) },
  ]
  return (
    <Part title={t('clips.title')}>
      {rows.length === 0 ? (
        <p>{t('clips.none')}</p>
      ) : (
        <PaperTable title={t('clips.title')} columns={columns} rows={rows} idOf={({ id }) => id} />
      )}
    </Part>
  )
}

export function Checks({ report: { checks, from }, times }: ReportProps) {
  const isChecked = checks.some(({ result }) => result !== null)
  return (
    <Part title={t('pages.check')}>
      {isChecked ? <CheckTable slots={checks} times={times} near={from} /> : <p>{t('checkReport.none')}</p>}
    </Part>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="document-part">
      <h2>{title}</h2>
      {children}
    </section>
  )
}
