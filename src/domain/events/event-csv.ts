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
  'site',
] as const

export const eventCsvHeading = toLine(columns)

export function toEventLine(event: EventRecord): string {
  const body = toEventBody(event)
  const cells = { ...body, data: JSON.stringify(body.data), site: body.site?.code ?? null }
  return toLine(columns.map((column) => toCell(cells[column])))
}

function toCell(value: string | number | null): string {
  if (value === null) return ''
  return typeof value === 'number' ? String(value) : toTextCell(value)
}
