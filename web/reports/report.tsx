import { useParams } from '@tanstack/react-router'
import type { ReportedChannel, ShowReport } from '../../src/contract/reports.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import { UnknownPage } from '../app/error-pages.tsx'
import { formatShortDuration, formatUnit, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { alertKindTitle } from '../parts/alerts/alert-text.ts'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { DocumentPage, type DocumentTimes } from './document.tsx'
import { channelText, isQuiet, type ReportSummary, summarizeReport } from './report-summary.ts'
import { Alerts, Channels, Checks, Clips, Dropouts, Markers, type ReportProps } from './report-tables.tsx'

export function Report() {
  const id = useParams({ strict: false }).id ?? ''
  return /^[1-9]\d{0,14}$/.test(id) ? <ReportOfShow id={Number(id)} /> : <UnknownPage />
}

function ReportOfShow({ id }: { id: number }) {
  const show = useResource(`/api/shows/${id}/`, 'object', ['show'])
  const title = show.body === null ? t('pages.report') : t('report.titleOf', { title: plainText(show.body.title) })
  return (
    <DocumentPage title={title} csv={show.body?.started_at == null ? null : `/api/shows/${id}/report.csv`}>
      {(times) => (
        <Loaded resource={show}>
          {(body) =>
            body.state === 'planned' ? <Planned show={body} times={times} /> : <Started {...{ id, times }} />
          }
        </Loaded>
      )}
    </DocumentPage>
  )
}

function Planned({ show: { title, starts_at }, times }: { show: ShowBody; times: DocumentTimes }) {
  return (
    <>
      <h1>{plainText(title)}</h1>
      <Empty title={t('report.planned')}>
        <p>{t('report.plannedNext')}</p>
        {starts_at === null ? null : (
          <p>{t('report.plannedStart', { date: times.date(starts_at), time: times.clock(starts_at) })}</p>
        )}
      </Empty>
    </>
  )
}

function Started({ id, times }: { id: number; times: DocumentTimes }) {
  const report = useResource(`/api/shows/${id}/report/`, 'object', ['show'])
  return <Loaded resource={report}>{(body) => <Pages report={body} times={times} />}</Loaded>
}

function Pages({ report, times }: ReportProps) {
  const { channels } = report
  return (
    <>
      <Heading report={report} times={times} />
      {channels.length === 0 ? (
        <Empty title={t('report.noChannels')}>
          <p>{t('report.noChannelsNext')}</p>
        </Empty>
      ) : (
        <>
          <Summary report={report} />
          <Channels channels={channels} />
          <Dropouts report={report} times={times} />
          <Alerts report={report} times={times} />
          <Markers report={report} times={times} />
          <Clips report={report} times={times} />
          <Checks report={report} times={times} />
        </>
      )}
    </>
  )
}

function Heading({ report: { show, from, to }, times }: ReportProps) {
  const isRunning = show.state === 'running'
  const [start, end] = [times.clock(from), times.time(to, from)]
  return (
    <header className="document-heading">
      <h1>{plainText(show.title)}</h1>
      <p>
        {times.date(from)}
        <br />
        {isRunning ? t('report.running', { start, end }) : t('report.range', { start, end: times.clock(to) })}
        {' · '}
        {formatShortDuration(Date.parse(to) - Date.parse(from))}
        {' · '}
        {times.zone}
      </p>
      {show.notes === '' ? null : <p className="document-notes">{plainText(show.notes)}</p>}
    </header>
  )
}

function Summary({ report: { channels, step_seconds } }: { report: ShowReport }) {
  const summary = summarizeReport(channels)
  const lines = [...recordingLines(step_seconds), ...problemLines(summary), ...idleLines(summary, step_seconds)]
  return (
    <section className="document-summary">
      <h2>{t('report.summary')}</h2>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  )
}

function recordingLines(step: number | null): readonly string[] {
  if (step === null) return [t('report.notRecorded')]
  return step > 1 ? [t('report.coarse', { duration: formatUnit('second', step) })] : []
}

function problemLines(summary: ReportSummary): readonly string[] {
  const { dropouts, longest, interference, clipping, alertKinds, unacknowledged } = summary
  if (isQuiet(summary)) return [t('report.quiet')]
  const lines = alertKinds.map(({ kind, count, channels }) =>
    t('report.alertCount', { kind: alertKindTitle(kind), count, channels: namesOf(channels) }),
  )
  if (unacknowledged > 0) lines.push(t('report.unacknowledged', { count: unacknowledged }))
  if (longest !== null) {
    const total = formatUnit('second', dropouts.seconds)
    const worst = formatUnit('second', longest.dropouts.longest_seconds)
    lines.push(t('report.dropoutCount', { count: dropouts.count, total, worst, channel: channelText(longest) }))
  }
  if (interference.count > 0)
    lines.push(t('report.interferenceCount', { count: interference.count, channels: namesOf(interference.channels) }))
  if (clipping.count > 0)
    lines.push(t('report.clippingCount', { count: clipping.count, channels: namesOf(clipping.channels) }))
  return lines
}

function idleLines({ neverOn, notRecorded }: ReportSummary, step: number | null): readonly string[] {
  // Nothing was recorded, as a note says.
  if (step === null) return []
  return [
    ...(neverOn.length === 0 ? [] : [t('report.neverOn', { channels: namesOf(neverOn) })]),
    ...(notRecorded.length === 0 ? [] : [t('report.channelsNotRecorded', { channels: namesOf(notRecorded) })]),
  ]
}

function namesOf(channels: readonly ReportedChannel[]): string {
  return channels.map(channelText).join(', ')
}
