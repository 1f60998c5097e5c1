import { maxLevelChannels, maxResponseSteps, type TierStep } from '../../src/domain/history/tiers.ts'
import { type BlockCache, type BlockKey, blocksIn, settleSeconds, tierFor } from './level-blocks.ts'
import type { TimeRange } from './range.ts'

export interface Demand {
  readonly range: TimeRange
  readonly channelIds: readonly number[]
  readonly msPerPixel: number
}

export interface LevelRequest {
  readonly key: BlockKey
  readonly channelIds: readonly number[]
  /** Epoch seconds. */
  readonly from: number
  readonly to: number
  readonly maxPoints: number
}

/** Seconds between two reads of the end of the levels: half a step within these limits. */
const [quickest, slowest] = [2, 60]

export function planRequests(demand: Demand, cache: BlockCache, nowMs: number): readonly LevelRequest[] {
  const { range, msPerPixel } = demand
  const step = tierFor(msPerPixel)
  const end = Math.min(range.from + range.span, nowMs)
  const visible = blocksIn(step, range.from, end)
  const centre = (range.from + range.span / 2) / 1_000
  const byDistance = (a: BlockKey, b: BlockKey) => distance(a, centre) - distance(b, centre)
  const wanted = visible.toSorted(byDistance).flatMap((key) => requestsFor(key, demand, cache, nowMs))
  if (wanted.length > 0) return wanted
  const [first, last] = [visible[0], visible.at(-1)]
  if (first === undefined || last === undefined) return []
  const length = (first.to - first.from) * 1_000
  const beside = [
    ...blocksIn(step, first.from * 1_000 - length, first.from * 1_000),
    ...blocksIn(step, last.to * 1_000, last.to * 1_000 + length).filter(({ from }) => from * 1_000 < nowMs),
  ]
  return beside.flatMap((key) => requestsFor(key, demand, cache, nowMs))
}

function distance({ from, to }: BlockKey, at: number): number {
  return Math.abs((from + to) / 2 - at)
}

/** For the channels whose block or its end is missing. */
function requestsFor(key: BlockKey, { channelIds }: Demand, cache: BlockCache, nowMs: number): LevelRequest[] {
  const now = Math.floor(nowMs / 1_000)
  const to = Math.min(key.to, now + 1)
  const byStart = new Map<number, number[]>()
  for (const id of channelIds) {
    const from = startFor(key, cache.get(id, key)?.until, now)
    if (from === null || from >= to) continue
    const others = byStart.get(from)
    if (others === undefined) byStart.set(from, [id])
    else others.push(id)
  }
  return [...byStart].flatMap(([from, ids]) => {
    // With this number, the service selects this tier, or a coarser one if this one is no longer stored.
    const maxPoints = Math.ceil((to - from) / key.step)
    const size = Math.min(maxLevelChannels, Math.floor(maxResponseSteps / maxPoints))
    const parts = Math.ceil(ids.length / size)
    return Array.from({ length: parts }, (_, index) => ({
      ...{ key, from, to, maxPoints },
      channelIds: ids.slice(index * size, (index + 1) * size),
    }))
  })
}

/** Epoch seconds; null if everything is known. */
function startFor(key: BlockKey, until: number | undefined, now: number): number | null {
  if (until === undefined) return key.from
  if (until >= key.to || now - settleSeconds - until < refreshSeconds(key.step)) return null
  return Math.max(key.from, key.from + Math.floor((until - key.from) / key.step) * key.step)
}

function refreshSeconds(step: TierStep): number {
  return Math.min(slowest, Math.max(quickest, step / 2))
}

export function refreshMs({ msPerPixel }: Demand): number {
  return refreshSeconds(tierFor(msPerPixel)) * 1_000
}
