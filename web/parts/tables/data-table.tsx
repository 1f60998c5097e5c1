/** Rows are displayed as cards on a phone. */

import type { MouseEvent, ReactNode } from 'react'
import { useSearch } from '../../app/query.ts'
import type { Selection } from '../../app/selection.ts'
import { type Order, orderOf, type SortValue, sortRows } from './sorting.ts'
import './list.css'
import { t } from '../../app/i18n.ts'
import { useRegion } from '../use-region.ts'

export interface Column<Row> {
  readonly key: string
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** Only for complete lists, because sorting one page of several would be misleading. */
  readonly sortBy?: (row: Row) => SortValue
  readonly align?: 'end'
}

interface DataTableProps<Row, Id extends number | string> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => Id
  readonly selection?: Selection<Id> | undefined
  readonly nameOf?: (row: Row) => string
  readonly isHighlighted?: (row: Row) => boolean
}

export function DataTable<Row, Id extends number | string>(props: DataTableProps<Row, Id>) {
  const { caption, columns, rows, idOf, selection, nameOf, isHighlighted } = props
  const [search, change] = useSearch()
  const region = useRegion<HTMLTableElement>()
  const order = orderOf(search)
  const sortBy = columns.find(({ key }) => key === order?.key)?.sortBy
  const sorted = order === null || sortBy === undefined ? rows : sortRows(rows, sortBy, order.isDescending)
  const ids = selection === undefined ? [] : sorted.map(idOf)
  return (
    <table className="data-table" ref={region}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {selection === undefined ? null : (
            <th scope="col" className="cell-tick">
              <span className="visually-hidden">{t('parts.list.select', { what: '' })}</span>
            </th>
          )}
          {columns.map((column) => (
            <Heading
              key={column.key}
              column={column}
              order={order?.key === column.key ? order : null}
              onSort={(sort) => change({ sort })}
            />
          ))}
        </tr>
      </thead>
      <tbody>
        {sorted.map((row) => {
          const id = idOf(row)
          return (
            <tr
              key={id}
              data-selected={selection?.has(id) || undefined}
              data-highlighted={isHighlighted?.(row) || undefined}
            >
              {selection === undefined ? null : (
                <td className="cell-tick">
                  <RowBox id={id} selection={selection} name={nameOf?.(row) ?? String(id)} order={ids} />
                </td>
              )}
              {columns.map(({ key, title, cell, align }) => (
                <td key={key} data-column={key} data-label={title} data-align={align}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

interface RowBoxProps<Id extends number | string> {
  readonly id: Id
  readonly name: string
  readonly selection: Selection<Id>
  /** With Shift, a range of these is selected. */
  readonly order?: readonly Id[]
}

export function RowBox<Id extends number | string>({ id, name, selection, order = [] }: RowBoxProps<Id>) {
  // Also for the Space key.
  const click = ({ shiftKey }: MouseEvent) => {
    if (shiftKey) selection.toggleTo(id, order)
    else selection.toggle(id)
  }
  return (
    <label className="tick row-box">
      <input
        type="checkbox"
        checked={selection.has(id)}
        onMouseDown={keepTextSelection}
        onClick={click}
        aria-label={t('parts.list.select', { what: name })}
      />
    </label>
  )
}

/** With Shift, the browser would select the text between the boxes. */
function keepTextSelection(event: MouseEvent): void {
  if (event.shiftKey) event.preventDefault()
}

interface HeadingProps<Row> {
  readonly column: Column<Row>
  readonly order: Order | null
  onSort(sort: string | null): void
}

/** Clicking cycles through ascending, descending and the service's own order. */
function Heading<Row>({ column, order, onSort }: HeadingProps<Row>) {
  const { key, title, sortBy, align } = column
  if (sortBy === undefined) {
    return (
      <th scope="col" data-column={key} data-align={align}>
        {title}
      </th>
    )
  }
  const direction = order === null ? undefined : order.isDescending ? 'descending' : 'ascending'
  const next = order === null ? key : order.isDescending ? null : `-${key}`
  return (
    <th scope="col" data-column={key} data-align={align} aria-sort={direction}>
      <button type="button" className="sort" onClick={() => onSort(next)}>
        {title}
        <span className="sort-sign" data-direction={direction} aria-hidden="true" />
      </button>
    </th>
  )
}
