/** A table of a document. On paper, its headings are repeated on every page and no row is split. */

import type { ReactNode } from 'react'

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
