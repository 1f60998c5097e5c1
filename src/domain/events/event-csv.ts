/** Events as lines of a CSV file. */

import { toLine, toTextCell } from '../csv.ts'
import { type EventRecord, toEventBody } from './event.ts'

const columns = [
  'id',
  'time',
  'until',
  'kind',
  'severity',
  'channel_id',
  'receiver_id',
  'manufacturer',
  'text',
  'data',
  'by',
] as const

export const eventCsvHeading = toLine(columns)

export function toEventLine(event: EventRecord): string {
  const body = toEventBody(event)
  return toLine(columns.map((column) => toCell(column === 'data' ? JSON.stringify(body.data) : body[column])))
}

function toCell(value: string | number | null): string {
  if (value === null) return ''
  return typeof value === 'number' ? String(value) : toTextCell(value)
}
