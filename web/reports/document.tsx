/** Printable pages, in the installation's paper size. */

import './document.css'
import { Download, Printer } from 'lucide-react'
import type { ReactNode } from 'react'
import { useServices } from '../app/context.ts'
import { locale, t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useResource } from '../app/resource.ts'
import { Loaded } from '../parts/loaded.tsx'

interface DocumentPageProps {
  readonly title: string
  /** Null while there is no data. */
  readonly csv: string | null
  readonly children: (times: DocumentTimes) => ReactNode
}

export function DocumentPage({ title, csv, children }: DocumentPageProps) {
  const { mount } = useServices()
  usePageTitle(title)
  const config = useResource('/api/config/', 'object', ['settings'])
  return (
    <main className="content document" id="content" tabIndex={-1} data-paper={config.body?.PAPER}>
      <p className="document-actions screen-only">
        <button type="button" className="choice" data-tone="usual" onClick={() => print()}>
          <Printer className="icon" aria-hidden="true" />
          {t('documents.print')}
        </button>
        {csv === null ? null : (
          <a className="choice" href={`${mount}${csv}`} download>
            <Download className="icon" aria-hidden="true" />
            {t('documents.csv')}
          </a>
        )}
      </p>
      <Loaded resource={config}>{({ TIME_ZONE }) => children(documentTimes(TIME_ZONE))}</Loaded>
    </main>
  )
}

export interface DocumentTimes {
  readonly zone: string
  date(at: string): string
  clock(at: string): string
  /** With the day if it differs from that of `near`. */
  time(at: string, near: string): string
  /** As `time`, without seconds. */
  moment(at: string, near: string): string
}

function documentTimes(zone: string): DocumentTimes {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(locale, { timeZone: zone, ...options })
    return (at: string) => formatter.format(new Date(at))
  }
  const [date, clock] = [format({ dateStyle: 'full' }), format({ timeStyle: 'short' })]
  const dayOptions = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
  const [time, dayTime] = [format({ timeStyle: 'medium' }), format({ ...dayOptions, second: '2-digit' })]
  const dayClock = format(dayOptions)
  const isNear = (at: string, near: string) => near !== '' && date(at) === date(near)
  return {
    ...{ zone, date, clock },
    time: (at, near) => (isNear(at, near) ? time(at) : dayTime(at)),
    moment: (at, near) => (isNear(at, near) ? clock(at) : dayClock(at)),
  }
}

export interface PaperColumn<Row> {
  readonly key: string
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
}

interface PaperTableProps<Row> {
  readonly title: string
  readonly columns: readonly PaperColumn<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => number | string
}

export function PaperTable<Row>({ title, columns, rows, idOf }: PaperTableProps<Row>) {
  return (
    // On a narrow screen, the table scrolls within its own area.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: an area that scrolls must be reachable by keyboard.
    <section className="paper-area" aria-label={title} tabIndex={0}>
      <table className="paper-table">
        <thead>
          <tr>
            {columns.map(({ key, title: heading, isNumber }) => (
              <th key={key} scope="col" data-number={isNumber}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {columns.map(({ key, cell, isNumber }) => (
                <td key={key} data-column={key} data-number={isNumber}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
