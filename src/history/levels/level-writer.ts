/** Stores recorded seconds: appends them in slices, and later closes blocks of slices, which become chunks of all tiers. */

import type { RecordedSeconds, Steps } from '../../domain/history/columns.ts'
import type { PrunedTier, Retention } from '../../domain/history/level-history.ts'
import { decodeSteps, encodeSteps } from '../../domain/history/step-format.ts'
import {
  ceilTo,
  createSteps,
  floorTo,
  foldSteps,
  joinSteps,
  type MutableSteps,
  mergeSteps,
  sliceSteps,
} from '../../domain/history/steps.ts'
import type { TierStep } from '../../domain/history/tiers.ts'
import { pruneTables } from './prune.ts'
import type { StepReader, TimeRange } from './step-reader.ts'
import {
  blockSeconds,
  type Chunk,
  chunkSpans,
  groupOf,
  groupsOf,
  type HistoryTables,
  partOf,
  partsOf,
  type Slice,
} from './tables.ts'

/** Blocks are closed late, so that late seconds can still be appended. */
const closeDelaySeconds = 20

export class LevelWriter {
  readonly #tables: HistoryTables
  readonly #reader: StepReader
  #closedUntil = 0
  #isShrinkNeeded = false
  #newest = 0

  constructor(tables: HistoryTables, reader: StepReader) {
    this.#tables = tables
    this.#reader = reader
  }

  async append(seconds: RecordedSeconds): Promise<void> {
    const end = seconds.from + seconds.count
    const slices: Slice[] = []
    for (const part of partsOf(seconds.channelIds)) {
      const ids = seconds.channelIds.filter((id) => partOf(id) === part).toSorted((a, b) => a - b)
      for (let from = seconds.from; from < end; ) {
        const to = Math.min(end, floorTo(from, blockSeconds) + blockSeconds)
        slices.push({ part, from, count: to - from, data: encodeSteps(sliceSteps(seconds, 1, { from, to }, ids)) })
        from = to
      }
    }
    await this.#tables.transaction(() => this.#tables.addSlices(slices))
    this.#newest = end
  }

  /** Closes the blocks that have ended. `now` is in epoch seconds. */
  async #closeBlocks(now: number): Promise<void> {
    while (await this.closeNextPart(now)) {
      // The next part is closed.
    }
  }

  /** Closes one part of a block that has ended. Returns whether there may be more to close. `now` is in epoch seconds. */
  async closeNextPart(now: number = this.#newest): Promise<boolean> {
    const until = floorTo(now - closeDelaySeconds, blockSeconds)
    // The clock may have been set back.
    if (until === this.#closedUntil) return false
    const oldest = (await this.#tables.listSlices()).find(({ from, count }) => from + count <= until)
    if (oldest === undefined) {
      if (this.#isShrinkNeeded) await this.#tables.shrink()
      this.#isShrinkNeeded = false
      this.#closedUntil = until
      return false
    }
    const from = floorTo(oldest.from, blockSeconds)
    await this.#tables.transaction(() => this.#closePart({ from, to: from + blockSeconds }, oldest.part))
    this.#isShrinkNeeded = true
    await this.#tables.freeReplaced()
    return true
  }

  async #closePart(block: TimeRange, part: number): Promise<void> {
    const slices = (await this.#tables.listSlices()).filter(
      (slice) => slice.part === part && slice.from >= block.from && slice.from < block.to,
    )
    // Another process may have closed it.
    if (slices.length === 0) return
    const seconds = await this.#reader.mergeSlices(slices, block)
    const ids = slices.map(({ id }) => id)
    this.#reader.forgetSlices(ids)
    await this.#tables.deleteSlices(ids)
    await this.#store(seconds)
  }

  async importSeconds(seconds: RecordedSeconds): Promise<void> {
    await this.#tables.transaction(() => this.#store(seconds))
  }

  async prune(retention: Retention): Promise<readonly PrunedTier[]> {
    await this.#closeBlocks(Math.max(retention.now, this.#newest))
    return pruneTables(this.#tables, retention)
  }

  /** Merges seconds into the chunks of all tiers. */
  async #store(seconds: Steps): Promise<void> {
    for (const part of partsOf(seconds.channelIds)) {
      await this.#storePart(
        seconds,
        seconds.channelIds.filter((id) => partOf(id) === part).toSorted((a, b) => a - b),
      )
    }
  }

  async #storePart(seconds: Steps, channelIds: readonly number[]): Promise<void> {
    const range = { from: seconds.from, to: seconds.from + seconds.count }
    const hours = { from: floorTo(range.from, 3600), to: ceilTo(range.to, 3600) }
    const groups = groupsOf(channelIds).map(
      (group) => [group, channelIds.filter((id) => groupOf(id) === group)] as const,
    )
    const chunks: Record<TierStep, Chunk[]> = { 1: [], 10: [], 60: [], 600: [], 3600: [] }
    for (const [group, ids] of groups) {
      const blocks = await this.#mergeWithTier(1, group, sliceSteps(seconds, 1, range, ids))
      chunks[1].push(...blocks.map((block) => toChunk(block, group)))
      for (const tier of [10, 60, 600] as const) {
        const folded = blocks.map((block) => foldSteps(block, 1, tier))
        const merged = await this.#mergeWithTier(tier, group, joinSteps(folded, tier))
        chunks[tier].push(...merged.map((steps) => toChunk(steps, group)))
      }
    }
    for (const tier of [1, 10, 60, 600] as const) await this.#tables.writeChunks(tier, chunks[tier])
    // Hours are computed from the tiers written above.
    for (const [group, ids] of groups) {
      const merged = await this.#mergeWithTier(3600, group, await this.#reader.foldHours(hours, ids))
      chunks[3600].push(...merged.map((steps) => toChunk(steps, group)))
    }
    await this.#tables.writeChunks(3600, chunks[3600])
  }

  /** Merges steps of one group with the chunks of a tier. Returns the new contents of these chunks. */
  async #mergeWithTier(tier: TierStep, group: number, steps: Steps): Promise<readonly MutableSteps[]> {
    const span = chunkSpans[tier]
    const range = { from: floorTo(steps.from, span), to: ceilTo(steps.from + steps.count * tier, span) }
    const stored = await this.#tables.readChunks(tier, range, [group])
    const contents: MutableSteps[] = []
    for (let start = range.from; start < range.to; start += span) {
      const data = stored.find((chunk) => chunk.start === start)?.data
      const existing = data === undefined ? null : decodeSteps(data, start)
      const ids = [...new Set([...(existing?.channelIds ?? []), ...steps.channelIds])].toSorted((a, b) => a - b)
      const content = createSteps(start, span / tier, ids)
      if (existing !== null) mergeSteps(content, existing, tier)
      mergeSteps(content, steps, tier)
      contents.push(content)
    }
    return contents
  }
}

const toChunk = (steps: Steps, group: number): Chunk => ({ start: steps.from, group, data: encodeSteps(steps) })
