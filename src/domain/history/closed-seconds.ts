/** Closed seconds of all channels, until they are stored. */

import type { GapReason } from '../../contract/values.ts'
import { type ColumnName, columnNames, noValue, type RecordedSeconds } from './columns.ts'
import { columnCount } from './second.ts'

/** A range without a record. Epoch seconds; `until` is exclusive. */
export interface RecordingGap {
  readonly from: number
  readonly until: number
  readonly reason: GapReason
}

/** One second of several channels. */
export interface ClosedSecond {
  /** Why this process did not record the previous seconds; null if it did. */
  readonly after: GapReason | null
  /** Epoch seconds. */
  readonly time: number
  readonly channelIds: readonly number[]
  /** `columnCount` values per channel, in the order of `columnNames`. */
  readonly values: Int16Array
}

/**
 * Converts consecutive closed seconds to parts of at most `maxChannels` channels. A second that lacks a channel of its
 * part has state `-` for it.
 */
export function* toParts(seconds: readonly ClosedSecond[], maxChannels: number): Generator<RecordedSeconds> {
  for (const run of listRuns(seconds)) {
    const channelIds = listChannels(run)
    const positions = new Map<readonly number[], Int32Array>()
    const positionsIn = (list: readonly number[]) => {
      const known = positions.get(list) ?? positionsOf(channelIds, list)
      positions.set(list, known)
      return known
    }
    for (let first = 0; first < channelIds.length; first += maxChannels) {
      const end = first + maxChannels
      yield toPart(run, channelIds.slice(first, end), (list) => positionsIn(list).subarray(first, end))
    }
  }
}

/** Lists the gaps before and between closed seconds. `last` is the end of the last second before them, if known. */
export function listGaps(seconds: readonly ClosedSecond[], last: number | null): RecordingGap[] {
  const gaps: RecordingGap[] = []
  let from = last
  for (const { time: until, after: reason } of seconds) {
    if (reason !== null && from !== null && until > from) gaps.push({ from, until, reason })
    // The clock may have been set back.
    from = Math.max(from ?? until, until + 1)
  }
  return gaps
}

/** Splits the seconds wherever one does not follow the previous one. */
function listRuns(seconds: readonly ClosedSecond[]): ClosedSecond[][] {
  const runs: ClosedSecond[][] = []
  for (const second of seconds) {
    const run = runs.at(-1)
    if (run !== undefined && run.at(-1)?.time === second.time - 1) run.push(second)
    else runs.push([second])
  }
  return runs
}

function listChannels(run: readonly ClosedSecond[]): readonly number[] {
  const [first] = run
  if (first === undefined || run.every(({ channelIds }) => channelIds === first.channelIds))
    return first?.channelIds ?? []
  return [...new Set(run.flatMap(({ channelIds }) => channelIds))]
}

/** Returns the position of each channel in a list, or -1. */
function positionsOf(channelIds: readonly number[], list: readonly number[]): Int32Array {
  if (list === channelIds) return Int32Array.from(list.keys())
  const positions = new Map(list.map((id, position) => [id, position]))
  return Int32Array.from(channelIds, (id) => positions.get(id) ?? -1)
}

/** `positionsIn` returns the positions of `channelIds` in a second. */
function toPart(
  run: readonly ClosedSecond[],
  channelIds: readonly number[],
  positionsIn: (list: readonly number[]) => Int32Array,
): RecordedSeconds {
  const count = run.length
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(count * channelIds.length).fill(isMask(name) ? 0 : noValue)]),
  ) as Record<ColumnName, Int16Array>
  for (const [step, second] of run.entries()) {
    const sources = positionsIn(second.channelIds)
    for (const [column, name] of columnNames.entries()) {
      copyColumn(second.values, column, sources, columns[name], { count, step })
    }
  }
  return { from: run[0]?.time ?? 0, count, channelIds, columns }
}

/** Copies one column of a second. `sources` contains the position of each target channel in the second, or -1. */
function copyColumn(
  values: Int16Array,
  column: number,
  sources: Int32Array,
  target: Int16Array,
  { count, step }: { readonly count: number; readonly step: number },
): void {
  for (let index = 0; index < sources.length; index += 1) {
    const source = sources[index] ?? -1
    if (source >= 0) target[index * count + step] = values[source * columnCount + column] ?? noValue
  }
}

/** True if 0 stands for absence: state `-`, or no rows. */
function isMask(name: ColumnName): boolean {
  return name === 'state' || name === 'rows'
}
