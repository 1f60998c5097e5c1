/** The report of a show as CSV, one line per channel. */

import type { ReportedChannel, ShowReport } from '../../contract/reports.ts'
import { byteOrderMark, toLine, toTextCell } from '../csv.ts'

const columns = [
  'channel_id',
  'slot',
  'name',
  'performer',
  'pack',
  'minutes_on',
  'battery_start',
  'battery_end',
  'rf_lowest',
  'rf_p1',
  'dropouts',
  'dropout_seconds',
  'longest_dropout_seconds',
  'dropout_times',
  'interference',
  'mutes',
  'clipping',
  'clipping_seconds',
  'alerts',
  'markers',
] as const

type Cells = Readonly<Record<(typeof columns)[number], string | number | null>>

export function toReportCsv({ channels }: ShowReport): string {
  return byteOrderMark + toLine(columns) + channels.map(toReportLine).join('')
}

function toReportLine(channel: ReportedChannel): string {
  const { dropouts, clipping, alerts, markers, ...values } = channel
  const cells: Cells = {
    ...values,
    dropouts: dropouts.count,
    dropout_seconds: dropouts.seconds,
    longest_dropout_seconds: dropouts.longest_seconds,
    dropout_times: dropouts.times.join('; '),
    clipping: clipping.count,
    clipping_seconds: clipping.seconds,
    alerts: alerts.map(alertText).join('; '),
    markers: markers.map(({ time, text }) => `${time} ${text}`).join('; '),
  }
  return toLine(columns.map((column) => toCell(cells[column])))
}

function alertText({ kind, happened_at, seconds_to_acknowledge: seconds }: ReportedChannel['alerts'][number]): string {
  return `${happened_at} ${kind}${seconds === null ? '' : `, acknowledged after ${seconds} s`}`
}

function toCell(value: string | number | null): string {
  if (value === null) return ''
  return typeof value === 'number' ? String(value) : toTextCell(value)
}
