/**
 * Converts recorded levels to remote-write samples: one per series and interval, stamped at the end of the interval.
 */

import { type ColumnName, noValue, type Steps } from './columns.ts'
import type { TierStep } from './tiers.ts'
import { encodeLabels, type TimeSeries } from './write-request.ts'

/** A channel, as `micwatch_channel_info` describes it. */
export interface SentChannel {
  readonly id: number
  readonly channel: number
  readonly slot: number
  readonly name: string | null
  readonly receiver: string
  readonly manufacturer: string
}

type Fold = 'min' | 'max' | 'last'

/** The series that contain a recorded column. `micwatch_channel_weak_seconds_total` and `…_info` are computed. */
const columnSeries = [
  { metric: 'micwatch_channel_rf_dbm_min', column: 'rf_min', fold: 'min' },
  { metric: 'micwatch_channel_rf_dbm_max', column: 'rf_max', fold: 'max' },
  { metric: 'micwatch_channel_audio_dbfs_max', column: 'audio_max', fold: 'max' },
  { metric: 'micwatch_channel_battery_percent', column: 'battery', fold: 'last' },
  { metric: 'micwatch_channel_minutes_left', column: 'minutes', fold: 'last' },
] as const satisfies readonly { metric: string; column: ColumnName; fold: Fold }[]

export const seriesPerChannel = columnSeries.length + 2

/** The encoded labels of a channel's series. */
export interface ChannelLabels {
  /** In the order of `columnSeries`. */
  readonly columns: readonly Uint8Array[]
  readonly weakSeconds: Uint8Array
  readonly info: Uint8Array
}

/** The labels match the labels of scraped series, so that alerting rules treat both as the same. */
export function encodeChannelLabels(
  { id, channel, slot, name, receiver, manufacturer }: SentChannel,
  installation: string,
): ChannelLabels {
  const labels = { channel_id: String(id), installation, job: 'micwatch' }
  return {
    columns: columnSeries.map(({ metric }) => encodeLabels(metric, labels)),
    weakSeconds: encodeLabels('micwatch_channel_weak_seconds_total', labels),
    info: encodeLabels('micwatch_channel_info', {
      ...labels,
      channel: String(channel),
      manufacturer,
      name: name ?? '',
      receiver,
      slot: String(slot),
    }),
  }
}

/** The weak milliseconds of each channel since the start of the UTC day. A restart does not change them. */
export interface WeakTotals {
  /** Epoch seconds. */
  readonly day: number
  readonly ms: ReadonlyMap<number, number>
}

const daySeconds = 86_400

export function startOfDay(time: number): number {
  return Math.floor(time / daySeconds) * daySeconds
}

/** Adds the weak milliseconds of some steps of one day. */
export function addWeak(totals: WeakTotals, steps: Steps): WeakTotals {
  const day = startOfDay(steps.from)
  const ms = new Map(day === totals.day ? totals.ms : [])
  for (const [index, id] of steps.channelIds.entries()) {
    let sum = ms.get(id) ?? 0
    for (let step = index * steps.count; step < (index + 1) * steps.count; step++) {
      const weak = steps.columns.weak_ms[step] ?? noValue
      if (weak !== noValue) sum += weak
    }
    ms.set(id, sum)
  }
  return { day, ms }
}

/** Returns the longest step that divides the interval. */
export function stepOf(intervalSeconds: number): TierStep {
  if (intervalSeconds % 60 === 0) return 60
  return intervalSeconds % 10 === 0 ? 10 : 1
}

/**
 * Converts steps that consist of whole intervals, all beginning in one day. `totals` are those before. A series has no
 * sample for an interval without a value.
 */
export function toTimeSeries(
  steps: Steps,
  { step, intervalSeconds }: { readonly step: TierStep; readonly intervalSeconds: number },
  labelsById: ReadonlyMap<number, ChannelLabels>,
  totals: WeakTotals,
): TimeSeries[] {
  const perInterval = intervalSeconds / step
  const intervals = Array.from({ length: Math.floor(steps.count / perInterval) }, (_, index) => index)
  return steps.channelIds.flatMap((id, index) => {
    const labels = labelsById.get(id)
    if (labels === undefined) return []
    let weakMs = startOfDay(steps.from) === totals.day ? (totals.ms.get(id) ?? 0) : 0
    const collect = (label: Uint8Array, valueIn: (range: StepRange) => number | null): TimeSeries => ({
      labels: label,
      samples: intervals.flatMap((interval) => {
        const from = index * steps.count + interval * perInterval
        const value = valueIn({ from, to: from + perInterval })
        const time = (steps.from + (interval + 1) * intervalSeconds) * 1000
        return value === null ? [] : [{ value, time }]
      }),
    })
    const series = [
      ...columnSeries.map(({ column, fold }, number) =>
        collect(labels.columns[number] ?? labels.info, (range) => foldColumn(steps.columns[column], range, fold)),
      ),
      collect(labels.weakSeconds, (range) => {
        const weak = foldColumn(steps.columns.weak_ms, range, 'sum')
        weakMs += weak ?? 0
        return weak === null ? null : weakMs / 1000
      }),
      collect(labels.info, (range) => (isRecorded(steps.columns.state, range) ? 1 : null)),
    ]
    return series.filter(({ samples }) => samples.length > 0)
  })
}

interface StepRange {
  readonly from: number
  readonly to: number
}

/** Returns null if no step has a value. */
function foldColumn(values: Int16Array | Int32Array, { from, to }: StepRange, fold: Fold | 'sum'): number | null {
  let result: number | null = null
  for (let step = from; step < to; step++) {
    const value = values[step] ?? noValue
    if (value === noValue) continue
    if (result === null || fold === 'last') result = value
    else if (fold === 'sum') result += value
    else result = fold === 'min' ? Math.min(result, value) : Math.max(result, value)
  }
  return result
}

function isRecorded(state: Int16Array | Int32Array, { from, to }: StepRange): boolean {
  return state.subarray(from, to).some((letter) => letter !== 0)
}
