/** Keeps minimum and maximum, so that nothing short disappears. */

import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { type LevelBlock, type Source, settleSeconds } from './level-blocks.ts'

export interface Columns {
  /** Index in `stateLetters`, or `notLoaded`. */
  readonly state: Uint8Array
  /** `noValue`: not measured. */
  readonly rfMin: Int16Array
  readonly rfMax: Int16Array
  readonly audio: Int16Array
  readonly battery: Int16Array
  /** 1: weak RF. */
  readonly weak: Uint8Array
}

export const notLoaded = 255

export function createColumns(width: number): Columns {
  const levels = () => new Int16Array(width)
  return {
    state: new Uint8Array(width),
    ...{ rfMin: levels(), rfMax: levels(), audio: levels(), battery: levels() },
    weak: new Uint8Array(width),
  }
}

/** Columns of one zoom level are numbered from the epoch. */
export interface Folding {
  readonly offset: number
  readonly msPerColumn: number
  /** Indexes; `last` is exclusive. */
  readonly first: number
  readonly last: number
  /** Epoch ms */
  readonly now: number
  /** `at`: epoch seconds. */
  find(at: number): Source
}

export function foldColumns(columns: Columns, { offset, msPerColumn, first, last, now, find }: Folding): void {
  columns.state.fill(notLoaded, first, last)
  for (const levels of [columns.rfMin, columns.rfMax, columns.audio, columns.battery]) levels.fill(noValue, first, last)
  columns.weak.fill(0, first, last)
  const end = Math.min(((offset + last) * msPerColumn) / 1_000, now / 1_000)
  const settled = now / 1_000 - settleSeconds
  const columnOf = (seconds: number) => (seconds * 1_000) / msPerColumn - offset
  for (let at = Math.floor(((offset + first) * msPerColumn) / 1_000); at < end; ) {
    const { block, until } = find(at)
    if (block !== null) {
      const firstStep = Math.max(0, Math.floor((at - block.from) / block.step))
      for (let step = firstStep; step < block.count; step++) {
        const from = block.from + step * block.step
        if (from >= until || from >= end) break
        // The last seconds may still be recorded.
        if (block.state[step] === 0 && from + block.step > settled) continue
        const left = Math.max(first, Math.floor(columnOf(from) + tolerance))
        const right = Math.min(last, Math.ceil(columnOf(from + block.step) - tolerance))
        for (let column = left; column < right; column++) merge(columns, column, block, step)
      }
    }
    at = Math.max(until, at + 1)
  }
}

/** Rounding errors must not add a step to the neighbouring column. */
const tolerance = 1e-4

/** A column with several states shows the first of them after "not recorded". */
function rankOf(state: number): number {
  return state === 0 ? 0 : stateLetters.length - state
}

function merge(columns: Columns, column: number, block: LevelBlock, step: number) {
  const state = block.state[step] ?? 0
  const before = columns.state[column] ?? notLoaded
  if (before === notLoaded || rankOf(state) > rankOf(before)) columns.state[column] = state
  columns.rfMin[column] = least(columns.rfMin[column] ?? noValue, block.rfMin[step] ?? noValue)
  columns.rfMax[column] = Math.max(columns.rfMax[column] ?? noValue, block.rfMax[step] ?? noValue)
  columns.audio[column] = Math.max(columns.audio[column] ?? noValue, block.audioMax[step] ?? noValue)
  const battery = block.battery[step] ?? noValue
  if (battery !== noValue) columns.battery[column] = battery
  if ((block.weakMs[step] ?? 0) > 0) columns.weak[column] = 1
}

function least(a: number, b: number): number {
  if (a === noValue) return b
  return b === noValue ? a : Math.min(a, b)
}

/** A level is null if it was not measured. */
export interface StepValues {
  /** Epoch ms */
  readonly from: number
  readonly to: number
  /** A letter of `stateLetters`. */
  readonly state: (typeof stateLetters)[number]
  readonly rfMin: number | null
  readonly rfMax: number | null
  readonly audioMax: number | null
  readonly quality: number | null
  readonly battery: number | null
  readonly minutes: number | null
  readonly weakMs: number
}

/** `at`: epoch ms. Null if the values are not loaded. */
export function valuesAt(find: Folding['find'], at: number): StepValues | null {
  const { block } = find(at / 1_000)
  if (block === null) return null
  const step = Math.floor((at / 1_000 - block.from) / block.step)
  if (step < 0 || step >= block.count) return null
  const from = (block.from + step * block.step) * 1_000
  return {
    ...{ from, to: from + block.step * 1_000, state: stateLetters[block.state[step] ?? 0] ?? '-' },
    ...{ rfMin: known(block.rfMin[step]), rfMax: known(block.rfMax[step]), audioMax: known(block.audioMax[step]) },
    ...{ quality: known(block.quality[step]), battery: known(block.battery[step]) },
    ...{ minutes: known(block.minutes[step]), weakMs: block.weakMs[step] ?? 0 },
  }
}

function known(value = noValue): number | null {
  return value === noValue ? null : value
}

/** `last` is exclusive. */
function summarize(block: LevelBlock, first: number, last: number): StepValues {
  const columns = createColumns(1)
  columns.state[0] = notLoaded
  for (const levels of [columns.rfMin, columns.rfMax, columns.audio, columns.battery]) levels.fill(noValue)
  let [weakMs, quality, minutes] = [0, noValue, noValue]
  for (let step = first; step < last; step++) {
    merge(columns, 0, block, step)
    weakMs += block.weakMs[step] ?? 0
    quality = least(quality, block.quality[step] ?? noValue)
    if ((block.minutes[step] ?? noValue) !== noValue) minutes = block.minutes[step] ?? noValue
  }
  return {
    from: (block.from + first * block.step) * 1_000,
    to: (block.from + last * block.step) * 1_000,
    state: stateLetters[columns.state[0] ?? 0] ?? '-',
    ...{ rfMin: known(columns.rfMin[0]), rfMax: known(columns.rfMax[0]), audioMax: known(columns.audio[0]) },
    ...{ battery: known(columns.battery[0]), quality: known(quality), minutes: known(minutes), weakMs },
  }
}

/** At most `maxRows` rows of a range in epoch ms. Parts that are not loaded are omitted. */
export function listValues(find: Folding['find'], from: number, to: number, maxRows: number): readonly StepValues[] {
  const rows: StepValues[] = []
  const rowSeconds = Math.max(1, Math.ceil((to - from) / 1_000 / maxRows))
  for (let at = Math.floor(from / 1_000); at < to / 1_000; ) {
    const { block, until } = find(at)
    if (block === null) {
      at = Math.max(until, at + 1)
      continue
    }
    const end = Math.min(until, Math.ceil(to / 1_000))
    const stepsPerRow = Math.max(1, Math.ceil(rowSeconds / block.step))
    const first = Math.max(0, Math.floor((at - block.from) / block.step))
    const last = Math.min(block.count, Math.ceil((end - block.from) / block.step))
    for (let step = first; step < last; step += stepsPerRow) {
      rows.push(summarize(block, step, Math.min(last, step + stepsPerRow)))
    }
    at = Math.max(until, at + 1)
  }
  return rows
}
