/** Folds steps into longer ones, and merges them. */

import { type ColumnName, columnNames, noValue, type Steps, stateLetters } from './columns.ts'

export type MutableSteps = Steps<Int32Array>

/** Creates empty steps. */
export function createSteps(from: number, count: number, channelIds: readonly number[]): MutableSteps {
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int32Array(count * channelIds.length).fill(emptyValue(name))]),
  ) as Record<ColumnName, Int32Array>
  return { from, count, channelIds, columns }
}

function emptyValue(name: ColumnName): number {
  return name === 'state' || name === 'rows' ? 0 : noValue
}

/** Combines the values of a column. `state` has rules of its own. */
const combine: Readonly<Record<Exclude<ColumnName, 'state'>, (earlier: number, later: number) => number>> = {
  rows: (earlier, later) => earlier | later,
  rf_min: smaller,
  rf_max: greater,
  audio_max: greater,
  audio_last: second,
  quality_min: smaller,
  battery: second,
  minutes: second,
  weak_ms: (earlier, later) => earlier + later,
}
const levelColumns = columnNames.filter((name) => name !== 'state')

function smaller(a: number, b: number): number {
  return a < b ? a : b
}

function greater(a: number, b: number): number {
  return a > b ? a : b
}

function second(_: number, b: number): number {
  return b
}

/**
 * Folds steps of `fineStep` seconds into steps of `coarseStep` seconds, aligned to multiples of it. The state of a step
 * is the most frequent one of its recorded fine steps; ties follow the order of `stateLetters`.
 */
export function foldSteps(fine: Steps, fineStep: number, coarseStep: number): MutableSteps {
  const from = floorTo(fine.from, coarseStep)
  const end = fine.from + fine.count * fineStep
  const count = Math.ceil((end - from) / coarseStep)
  const coarse = createSteps(from, count, fine.channelIds)
  const target = (index: number) => Math.floor((fine.from - from + index * fineStep) / coarseStep)
  for (const name of levelColumns) {
    const [source, result, both] = [fine.columns[name], coarse.columns[name], combine[name]]
    const isMask = name === 'rows'
    for (let channel = 0; channel < fine.channelIds.length; channel++) {
      for (let index = 0; index < fine.count; index++) {
        const value = source[channel * fine.count + index] as number
        if (value === noValue) continue
        const at = channel * count + target(index)
        const before = result[at] as number
        result[at] = before === noValue && !isMask ? value : both(before, value)
      }
    }
  }
  const votes = new Int32Array(stateLetters.length)
  for (let channel = 0; channel < fine.channelIds.length; channel++) {
    for (let index = 0; index < fine.count; index++) {
      const state = fine.columns.state[channel * fine.count + index] as number
      votes[state] = (votes[state] as number) + 1
      const isLast = index === fine.count - 1 || target(index + 1) !== target(index)
      if (!isLast) continue
      coarse.columns.state[channel * count + target(index)] = winner(votes)
      votes.fill(0)
    }
  }
  return coarse
}

/** Returns the recorded state with the most votes; 0 if nothing was recorded. */
function winner(votes: Int32Array): number {
  let best = 0
  for (let state = 1; state < votes.length; state++) {
    if ((votes[state] as number) > (best === 0 ? 0 : (votes[best] as number))) best = state
  }
  return best
}

/**
 * Merges `source` into `target`, which has steps of the same length; anything outside `target` is ignored. Where both
 * are recorded, minima, maxima and flags are combined, and `source` supplies the last values and the state. Weak
 * milliseconds are added in seconds, because a second that is recorded twice was recorded in two parts. They are not
 * added in longer steps, which were computed twice from almost the same seconds.
 */
export function mergeSteps(target: MutableSteps, source: Steps, step: number): void {
  const shift = (source.from - target.from) / step
  const first = Math.max(0, -shift)
  const end = Math.min(source.count, target.count - shift)
  if (first >= end) return
  const indexes = new Map(target.channelIds.map((id, index) => [id, index]))
  const addWeak = (a: number, b: number) => Math.min(1000, a + b)
  for (const [channel, id] of source.channelIds.entries()) {
    const targetChannel = indexes.get(id)
    if (targetChannel === undefined) continue
    const [sourceStart, targetStart] = [channel * source.count, targetChannel * target.count + shift]
    for (const name of columnNames) {
      const [from, to] = [source.columns[name], target.columns[name]]
      const weak = step === 1 ? addWeak : greater
      const both = name === 'state' ? second : name === 'weak_ms' ? weak : combine[name]
      const empty = emptyValue(name)
      for (let index = first; index < end; index++) {
        const value = from[sourceStart + index] as number
        if (value === empty) continue
        const before = to[targetStart + index] as number
        to[targetStart + index] = before === empty ? value : both(before, value)
      }
    }
  }
}

/** `from` and `to` are multiples of the step. */
export function sliceSteps(
  source: Steps,
  step: number,
  range: { readonly from: number; readonly to: number },
  channelIds: readonly number[] = source.channelIds,
): MutableSteps {
  const steps = createSteps(range.from, (range.to - range.from) / step, channelIds)
  mergeSteps(steps, source, step)
  return steps
}

/** Joins consecutive or overlapping steps, whose channels may differ. */
export function joinSteps(parts: readonly Steps[], step: number): MutableSteps {
  const ids = [...new Set(parts.flatMap(({ channelIds }) => channelIds))].toSorted((a, b) => a - b)
  const from = Math.min(...parts.map((part) => part.from))
  const to = Math.max(...parts.map((part) => part.from + part.count * step))
  const joined = createSteps(from, (to - from) / step, ids)
  for (const part of parts) mergeSteps(joined, part, step)
  return joined
}

/** Returns the times of the first and the last recorded step; null if nothing is recorded. */
export function findRecorded({ from, count, columns }: Steps, step: number): { first: number; last: number } | null {
  let [first, last] = [count, -1]
  for (const [at, state] of columns.state.entries()) {
    if (state === 0) continue
    first = Math.min(first, at % count)
    last = Math.max(last, at % count)
  }
  return last < 0 ? null : { first: from + first * step, last: from + last * step }
}

export function floorTo(value: number, multiple: number): number {
  return Math.floor(value / multiple) * multiple
}

export function ceilTo(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple
}
