/** The line check of a show, as its page and as a part of the report. */

import './check-report.css'
import { useParams } from '@tanstack/react-router'
import type { CheckReport as CheckReportBody } from '../../src/contract/reports.ts'
import { UnknownPage } from '../app/error-pages.tsx'
import { formatPercent, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { shortPersonName } from '../parts/alerts/alert-text.ts'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { DocumentPage, type DocumentTimes, type PaperColumn, PaperTable } from './document.tsx'

type Row = CheckReportBody['slots'][number]

export function CheckReport() {
  const id = useParams({ strict: false }).id ?? ''
  return /^[1-9]\d{0,14}$/.test(id) ? <ReportOfShow id={Number(id)} /> : <UnknownPage />
}

const topics = ['check', 'show', 'slot_records', 'groups'] as const

function ReportOfShow({ id }: { id: number }) {
  const report = useResource(`/api/shows/${id}/check-report/`, 'object', topics)
  const { body } = report
  const title = body === null ? t('pages.check') : t('checkReport.titleOf', { title: plainText(body.show.title) })
  return (
    <DocumentPage title={title} csv={`/api/shows/${id}/check-report.csv`}>
      {(times) => <Loaded resource={report}>{(body) => <Page report={body} times={times} />}</Loaded>}
    </DocumentPage>
  )
}

function Page({ report: { show, slots }, times }: { report: CheckReportBody; times: DocumentTimes }) {
  const start = show.started_at ?? show.starts_at
  return (
    <>
      <header className="document-heading">
        <h1>{t('checkReport.titleOf', { title: plainText(show.title) })}</h1>
        {start === null ? null : <p>{`${times.date(start)} · ${times.clock(start)}`}</p>}
        {slots.length === 0 ? null : <p>{summaryText(slots)}</p>}
      </header>
      {slots.length === 0 ? (
        <Empty title={t('checkReport.empty')}>
          <p>{t('checkReport.emptyNext')}</p>
        </Empty>
      ) : (
        <CheckTable slots={slots} times={times} near={start} />
      )}
    </>
  )
}

function summaryText(slots: readonly Row[]): string {
  const checked = slots.filter(({ result }) => result !== null)
  const failed = checked.filter(({ result }) => result === 'fail').length
  const progress = t('check.progress', { checked: checked.length, total: slots.length })
  return failed === 0 ? progress : `${progress} · ${t('check.failedCount', { count: failed })}`
}

interface CheckTableProps {
  readonly slots: readonly Row[]
  readonly times: DocumentTimes
  /** Times of this day are shown without it. */
  readonly near: string | null
}

export function CheckTable({ slots, times, near }: CheckTableProps) {
  const day = near ?? slots.find(({ at }) => at !== null)?.at ?? ''
  const columns: readonly PaperColumn<Row>[] = [
    { key: 'slot', title: t('report.columns.slot'), isNumber: true, cell: ({ slot }) => slot },
    { key: 'name', title: t('report.columns.name'), cell: ({ title }) => <bdi>{plainText(title ?? '–')}</bdi> },
    { key: 'pack', title: t('report.columns.pack'), cell: ({ pack }) => <bdi>{plainText(pack ?? '–')}</bdi> },
    {
      ...{ key: 'battery', title: t('report.columns.battery'), isNumber: true },
      cell: ({ battery }) => (battery === null ? '–' : formatPercent(battery)),
    },
    {
      ...{ key: 'lowest', title: t('report.columns.lowest'), isNumber: true },
      cell: ({ rf_lowest }) => (rf_lowest === null ? '–' : String(rf_lowest).replace('-', '−')),
    },
    {
      ...{ key: 'dropouts', title: t('report.columns.dropouts'), isNumber: true },
      cell: ({ dropouts }) => (dropouts ? <strong>{dropouts}</strong> : (dropouts ?? '–')),
    },
    { key: 'result', title: t('check.result'), cell: ({ result }) => <Result result={result} /> },
    {
      ...{ key: 'by', title: t('checkReport.by') },
      cell: ({ by, at }) =>
        by === null || at === null ? '' : t('parts.byAt', { by: shortPersonName(by), time: times.moment(at, day) }),
    },
    { key: 'note', title: t('check.note'), cell: ({ note }) => <bdi>{plainText(note ?? '')}</bdi> },
  ]
  return (
    <div className="check-table">
      <PaperTable title={t('pages.check')} columns={columns} rows={slots} idOf={({ slot }) => slot} />
    </div>
  )
}

function Result({ result }: Pick<Row, 'result'>) {
  if (result === null) return <span className="check-open">{t('check.statuses.open')}</span>
  return result === 'fail' ? <strong>{t('check.fail')}</strong> : t('check.pass')
}
