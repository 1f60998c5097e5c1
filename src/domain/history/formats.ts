import type { SiteReference } from '../../contract/schema.ts'
import { byteOrderMark, toLine, toTextCell } from '../csv.ts'
import { type ColumnName, noValue, type Steps, stateLetters } from './columns.ts'
import type { CsvPart, LevelExport, LevelQuery, LevelSeries } from './level-history.ts'
import { ceilTo, floorTo } from './steps.ts'

/** The fields of each series in `HistoryLevels`, with their columns. */
export const seriesColumns: Readonly<Record<LevelSeries, readonly (readonly [field: string, column: ColumnName])[]>> = {
  rf: [
    ['min', 'rf_min'],
    ['max', 'rf_max'],
  ],
  audio: [
    ['max', 'audio_max'],
    ['last', 'audio_last'],
  ],
  quality: [['min', 'quality_min']],
  battery: [['last', 'battery']],
  minutes: [['last', 'minutes']],
}

/** `to` is in epoch seconds. */
export function formatLevels(
  steps: Steps,
  step: number,
  { to, series }: Pick<LevelQuery, 'to' | 'series'>,
  interruptedSites: readonly SiteReference[] = [],
): string {
  const list = (column: ColumnName, channel: number) => {
    const values = steps.columns[column]
    const parts: (number | 'null')[] = []
    for (let at = channel * steps.count; at < (channel + 1) * steps.count; at++) {
      const value = values[at] as number
      parts.push(value === noValue ? 'null' : value)
    }
    return `[${parts.join(',')}]`
  }
  const channels = steps.channelIds.map((id, channel) => {
    const { state } = steps.columns
    let letters = ''
    for (let at = channel * steps.count; at < (channel + 1) * steps.count; at++) {
      letters += stateLetters[state[at] as number] ?? '-'
    }
    const chosen = series.map((name) => {
      const fields = seriesColumns[name].map(([field, column]) => `"${field}":${list(column, channel)}`)
      return `"${name}":{${fields.join(',')}},`
    })
    return `{"id":${id},"state":"${letters}",${chosen.join('')}"weak_ms":${list('weak_ms', channel)}}`
  })
  const range = `"from":"${formatTime(steps.from)}","to":"${formatTime(to)}"`
  const interrupted = interruptedSites.length === 0 ? '' : `,"interrupted_sites":${JSON.stringify(interruptedSites)}`
  return `{${range},"step_seconds":${step},"channels":[${channels.join(',')}]${interrupted}}`
}

const csvColumns = [
  'rf_min',
  'rf_max',
  'audio_max',
  'audio_last',
  'quality_min',
  'battery',
  'minutes',
  'weak_ms',
] as const satisfies readonly ColumnName[]

/** Approximate number of lines per part. */
const csvLines = 20_000

/** Returns the parts in which a CSV file of levels is generated. */
export function* listCsvParts({ channels, from, to, step }: LevelExport): Iterable<CsvPart> {
  const first = floorTo(from, step)
  const seconds = Math.max(1, Math.floor(csvLines / Math.max(1, channels.length))) * step
  for (let start = first; start < to; start += seconds) {
    yield { start, end: Math.min(ceilTo(to, step), start + seconds), isFirst: start === first }
  }
}

export const csvHeading = byteOrderMark + toLine(['time', 'channel_id', 'name', 'state', ...csvColumns])

/** Returns a line per step and channel, sorted by time and then in the order of the channels. */
export function formatCsv(steps: Steps, step: number, names: readonly string[]): string {
  const cells = steps.channelIds.map((id, channel) => `,${id},${toTextCell(names[channel] ?? '')},`)
  let text = ''
  for (let index = 0; index < steps.count; index++) {
    const time = formatTime(steps.from + index * step)
    for (let channel = 0; channel < steps.channelIds.length; channel++) {
      const at = channel * steps.count + index
      const state = steps.columns.state[at] as number
      text += time + cells[channel] + (state === 0 ? '' : stateLetters[state])
      for (const name of csvColumns) {
        const value = steps.columns[name][at] as number
        text += value === noValue ? ',' : `,${value}`
      }
      text += '\r\n'
    }
  }
  return text
}

function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
