import { useParams } from '@tanstack/react-router'
import type { ShowBody } from '../../src/contract/shows.ts'
import { UnknownPage } from '../app/error-pages.tsx'
import { formatShortDuration, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import type { DocumentTimes } from './document.tsx'
import { DocumentPage } from './document.tsx'
import { Alerts, Channels, Dropouts, Markers, type ReportProps } from './report-tables.tsx'
import { Summary } from './summary.tsx'

export function Report() {
  const id = useParams({ strict: false }).id ?? ''
  return /^[1-9]\d{0,14}$/.test(id) ? <ReportOfShow id={Number(id)} /> : <UnknownPage />
}

function ReportOfShow({ id }: { id: number }) {
  const show = useResource(`/api/shows/${id}/`, 'object', ['show'])
  const title = show.body === null ? t('report.title') : t('report.titleOf', { title: plainText(show.body.title) })
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
