/** A block contains one channel, one tier and a fixed range of time, so that a response serves every range that contains the block. */

import type { HistoryLevelsBody } from '../../src/contract/history.ts'
import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { type TierStep, tierSteps } from '../../src/domain/history/tiers.ts'

const blockSeconds: Readonly<Record<TierStep, number>> = { 1: 600, 10: 3_600, 60: 21_600, 600: 86_400, 3600: 604_800 }

/** Epoch seconds. */
export interface BlockKey {
  readonly step: TierStep
  readonly from: number
  readonly to: number
}

/** Consecutive steps of one channel. `noValue`: not measured. */
export interface LevelBlock {
  /** Epoch seconds. */
  readonly from: number
  /** Seconds per step. Coarser than in its key if the finer steps are no longer stored. */
  readonly step: number
  readonly count: number
  /** Epoch seconds. Later steps may change. */
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

/** Levels are recorded in parts, so the last seconds may be missing from a response. */
export const settleSeconds = 12

/** Steps per CSS pixel. More would be folded into the same pixel. */
const densest = 2

/** The finest tier whose steps do not crowd the pixels. */
export function tierFor(msPerPixel: number): TierStep {
  return tierSteps.find((step) => step * 1_000 * densest >= msPerPixel) ?? 3600
}

/** Epoch ms. */
export function blocksIn(step: TierStep, fromMs: number, toMs: number): readonly BlockKey[] {
  const length = blockSeconds[step]
  const first = Math.floor(Math.max(0, fromMs) / 1_000 / length)
  const last = Math.ceil(toMs / 1_000 / length)
  return Array.from({ length: Math.max(0, last - first) }, (_, index) => {
    const from = (first + index) * length
    return { step, from, to: from + length }
  })
}

/** `now`: when the response was received, in epoch ms. */
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

/** Replaces the end of `before` with the newer one. */
function extendBlock(before: LevelBlock, end: LevelBlock): LevelBlock {
  const kept = Math.round((end.from - before.from) / before.step)
  if (end.from <= before.from) return end
  // The two ends differ in tier only after the service has deleted the finer steps between them.
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

/** The block, or the lack of one, applies until `until` (epoch seconds). */
export interface Source {
  readonly block: LevelBlock | null
  readonly until: number
}

export interface BlockCache {
  get(channelId: number, key: BlockKey): LevelBlock | undefined
  put(channelId: number, key: BlockKey, block: LevelBlock): void
  /** The tier if it is there, otherwise the nearest other one. `at`: epoch seconds. */
  find(channelId: number, step: TierStep, at: number): Source
}

/** Keeps the most recently used steps. */
export function createBlockCache(maxSteps = 2_500_000): BlockCache {
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
        // A step that has begun contains the values so far.
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
