/**
 * The recorded levels that the browser has: blocks of one channel, one tier and a fixed range of time, so that a response
 * serves every range that contains the block.
 */

import type { HistoryLevelsBody } from '../../src/contract/history.ts'
import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { type TierStep, tierSteps } from '../../src/domain/history/tiers.ts'

/** Seconds that a block of each tier spans. */
const blockSeconds: Readonly<Record<TierStep, number>> = { 1: 600, 10: 3_600, 60: 21_600, 600: 86_400, 3600: 604_800 }

/** Which part of the history a block contains. Times are epoch seconds. */
export interface BlockKey {
  readonly step: TierStep
  readonly from: number
  readonly to: number
}

/** Consecutive steps of one channel. A level that was not measured is `noValue`. */
export interface LevelBlock {
  /** Epoch seconds. */
  readonly from: number
  /** Seconds per step: the step of its key, or a coarser one if the finer steps are no longer stored. */
  readonly step: number
  readonly count: number
  /** The end of what will not change, in epoch seconds. */
  readonly until: number
  /** Indexes in `stateLetters`. */
  readonly state: Uint8Array
  readonly rfMin: Int16Array
  readonly rfMax: Int16Array
  readonly audioMax: Int16Array
  readonly audioLast: Int16Array
  readonly quality: Int16Array
  readonly battery: Int16Array
  readonly minutes: Int16Array
  readonly weakMs: Int32Array
}

/** Recorded levels are stored in parts, so those of the last seconds may still be missing from a response. */
export const settleSeconds = 12

/** Steps per CSS pixel at most. More would be folded into the same pixel. */
const densest = 2

/** Returns the finest tier whose steps do not crowd the pixels. */
export function tierFor(msPerPixel: number): TierStep {
  return tierSteps.find((step) => step * 1_000 * densest >= msPerPixel) ?? 3600
}

/** Returns the blocks of a tier that contain a range in epoch ms. */
export function blocksIn(step: TierStep, fromMs: number, toMs: number): readonly BlockKey[] {
  const length = blockSeconds[step]
  const first = Math.floor(Math.max(0, fromMs) / 1_000 / length)
  const last = Math.ceil(toMs / 1_000 / length)
  return Array.from({ length: Math.max(0, last - first) }, (_, index) => {
    const from = (first + index) * length
    return { step, from, to: from + length }
  })
}

/** Converts a response, which was received at `now` (epoch ms), to one block per channel. */
export function readBlocks(body: HistoryLevelsBody, now: number): ReadonlyMap<number, LevelBlock> {
  const { from, to, step_seconds, channels, interrupted_sites } = body
  const settled = Math.min(Math.floor(Date.parse(to) / 1_000), Math.floor(now / 1_000) - settleSeconds)
  const until = interrupted_sites === undefined ? settled : Math.floor(Date.parse(from) / 1_000)
  return new Map(
    channels.map(({ id, state, rf, audio, quality, battery, minutes, weak_ms }) => {
      const count = state.length
      const values = (list: readonly (number | null)[] = []) =>
        Int16Array.from({ length: count }, (_, index) => list[index] ?? noValue)
      const block: LevelBlock = {
        from: Math.floor(Date.parse(from) / 1_000),
        step: step_seconds,
        count,
        until,
        state: Uint8Array.from(state, (letter) => Math.max(0, (stateLetters as readonly string[]).indexOf(letter))),
        rfMin: values(rf?.min),
        rfMax: values(rf?.max),
        audioMax: values(audio?.max),
        audioLast: values(audio?.last),
        quality: values(quality?.min),
        battery: values(battery?.last),
        minutes: values(minutes?.last),
        weakMs: Int32Array.from({ length: count }, (_, index) => weak_ms[index] ?? 0),
      }
      return [id, block]
    }),
  )
}

/** Returns `before` with its end replaced by what was read later. */
function extendBlock(before: LevelBlock, end: LevelBlock): LevelBlock {
  const kept = Math.round((end.from - before.from) / before.step)
  if (end.from <= before.from) return end
  // The end is in another tier only if the service has deleted the finer steps in between.
  if (before.step !== end.step || kept > before.count) return { ...before, until: end.until }
  const joined = <List extends Uint8Array | Int16Array | Int32Array>(a: List, b: List): List => {
    const list = new (a.constructor as new (length: number) => List)(kept + end.count)
    list.set(a.subarray(0, kept))
    list.set(b, kept)
    return list
  }
  return {
    ...{ from: before.from, step: before.step, count: kept + end.count, until: end.until },
    state: joined(before.state, end.state),
    rfMin: joined(before.rfMin, end.rfMin),
    rfMax: joined(before.rfMax, end.rfMax),
    audioMax: joined(before.audioMax, end.audioMax),
    audioLast: joined(before.audioLast, end.audioLast),
    quality: joined(before.quality, end.quality),
    battery: joined(before.battery, end.battery),
    minutes: joined(before.minutes, end.minutes),
    weakMs: joined(before.weakMs, end.weakMs),
  }
}

/** A block, or the lack of one, that applies until `until` (epoch seconds). */
export interface Source {
  readonly block: LevelBlock | null
  readonly until: number
}

export interface BlockCache {
  get(channelId: number, key: BlockKey): LevelBlock | undefined
  /** Adds a block, or its end. */
  put(channelId: number, key: BlockKey, block: LevelBlock): void
  /** Returns what to draw from `at` (epoch seconds) on: the tier if it is there, otherwise the nearest other tier. */
  find(channelId: number, step: TierStep, at: number): Source
}

/** Keeps at most `maxSteps` steps, the most recently used ones. */
export function createBlockCache(maxSteps = 2_500_000): BlockCache {
  /** The least recently used first. */
  const blocks = new Map<string, LevelBlock>()
  let steps = 0

  function keep(name: string, block: LevelBlock) {
    blocks.delete(name)
    blocks.set(name, block)
  }

  return {
    get(channelId, key) {
      const name = nameOf(channelId, key.step, key.from)
      const block = blocks.get(name)
      if (block !== undefined) keep(name, block)
      return block
    },
    put(channelId, key, block) {
      const name = nameOf(channelId, key.step, key.from)
      const before = blocks.get(name)
      const joined = before === undefined ? block : extendBlock(before, block)
      steps += joined.count - (before?.count ?? 0)
      keep(name, joined)
      for (const [oldest, { count }] of blocks) {
        if (steps <= maxSteps || oldest === name) break
        blocks.delete(oldest)
        steps -= count
      }
    },
    find(channelId, step, at) {
      const { to } = keyAt(step, at)
      for (const tier of nearestTiers(step)) {
        const block = blocks.get(nameOf(channelId, tier, keyAt(tier, at).from))
        // A step that has begun counts, because it contains what was recorded so far.
        if (block !== undefined && at >= block.from && at < block.from + block.count * block.step) {
          return { block, until: Math.min(to, block.from + block.count * block.step) }
        }
      }
      // A finer block may begin before the end of this one.
      return { block: null, until: Math.min(to, Math.floor(at) + blockSeconds[1]) }
    },
  }
}

function keyAt(step: TierStep, at: number): BlockKey {
  const from = Math.floor(at / blockSeconds[step]) * blockSeconds[step]
  return { step, from, to: from + blockSeconds[step] }
}

function nameOf(channelId: number, step: TierStep, from: number): string {
  return `${channelId} ${step} ${from}`
}

/** The tier itself, then the coarser ones, then the finer ones, the nearest first. */
const tierOrder = new Map(
  tierSteps.map((step, index) => [
    step,
    [...tierSteps.slice(index), ...tierSteps.slice(0, index).reverse()] satisfies readonly TierStep[],
  ]),
)

function nearestTiers(step: TierStep): readonly TierStep[] {
  return tierOrder.get(step) ?? [step]
}
