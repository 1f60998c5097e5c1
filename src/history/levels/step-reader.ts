/** Reads recorded steps: those of stored chunks, with those of the slices that are not in chunks yet. */

import type { Steps } from '../../domain/history/columns.ts'
import { decodeStates, decodeSteps } from '../../domain/history/step-format.ts'
import { ceilTo, createSteps, floorTo, foldSteps, type MutableSteps, mergeSteps } from '../../domain/history/steps.ts'
import type { TierStep } from '../../domain/history/tiers.ts'
import { LruMap } from '../../platform/cache.ts'
import {
  blockSeconds,
  type ChunkTable,
  chunkSpans,
  groupsOf,
  type HistoryTables,
  partOf,
  type StoredSlice,
} from './tables.ts'

/** Seconds of all channels that stay decoded. Each needs 40 bytes. */
const maxDecodedSeconds = 1_200_000

/** `to` is exclusive. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

export class StepReader {
  readonly #tables: HistoryTables
  /** Decoded slices by id. */
  readonly #slices = new LruMap<number, Steps>(maxDecodedSeconds, ({ count, channelIds }) => count * channelIds.length)

  constructor(tables: HistoryTables) {
    this.#tables = tables
  }

  /**
   * Computes hourly steps from ten-minute steps. States are computed from the seconds, because ten-minute states are not
   * enough.
   */
  async foldHours(hours: TimeRange, channelIds: readonly number[]): Promise<MutableSteps> {
    const folded = foldSteps(await this.readSteps(600, hours, channelIds), 600, 3600)
    const states = foldSteps(await this.#readStates(hours, channelIds), 1, 3600)
    for (const [index, state] of states.columns.state.entries()) if (state !== 0) folded.columns.state[index] = state
    return folded
  }

  async #readStates(range: TimeRange, channelIds: readonly number[]): Promise<MutableSteps> {
    const steps = createSteps(range.from, range.to - range.from, channelIds)
    for (const table of ['pinned', 1] as const) {
      for (const { start, data } of await this.#tables.readChunks(table, range, groupsOf(channelIds)))
        mergeSteps(steps, decodeStates(data, start), 1)
    }
    for (const seconds of await this.#readSlices(range, channelIds)) mergeSteps(steps, seconds, 1)
    return steps
  }

  /** Reads the steps of a tier, including those that are computed from slices. The range consists of whole steps. */
  async readSteps(tier: TierStep, range: TimeRange, channelIds: readonly number[]): Promise<MutableSteps> {
    const steps = createSteps(range.from, (range.to - range.from) / tier, channelIds)
    const starts = { from: floorTo(range.from, chunkSpans[tier]), to: range.to }
    for (const table of tier === 1 ? (['pinned', 1] as const) : ([tier] as const)) {
      for (const { start, data } of await this.#tables.readChunks(table, starts, groupsOf(channelIds)))
        mergeSteps(steps, decodeSteps(data, start), tier)
    }
    const open = await this.#readSlices(range, channelIds)
    if (tier < 3600) for (const seconds of open) mergeSteps(steps, foldSteps(seconds, 1, tier), tier)
    else
      for (const hour of new Set(open.map(({ from }) => floorTo(from, 3600))))
        mergeSteps(steps, await this.foldHours({ from: hour, to: hour + 3600 }, channelIds), 3600)
    return steps
  }

  /** Returns the seconds of slices in a range, merged for each block and part. Null stands for all channels. */
  async #readSlices(range: TimeRange, channelIds: readonly number[] | null): Promise<readonly MutableSteps[]> {
    const parts = channelIds === null ? null : new Set(channelIds.map(partOf))
    const wanted = (await this.#tables.listSlices()).filter(
      ({ part, from, count }) => from < range.to && from + count > range.from && (parts === null || parts.has(part)),
    )
    const blocks = new Map<string, StoredSlice[]>()
    for (const slice of wanted) {
      const key = `${floorTo(slice.from, blockSeconds)} ${slice.part}`
      blocks.set(key, [...(blocks.get(key) ?? []), slice])
    }
    const merged: MutableSteps[] = []
    for (const slices of blocks.values()) {
      const part = slices[0]?.part
      merged.push(
        await this.mergeSlices(
          slices,
          range,
          channelIds?.filter((id) => partOf(id) === part),
        ),
      )
    }
    return merged
  }

  /** Merges the seconds of slices in a range. Without `channelIds`, of all channels. */
  async mergeSlices(
    slices: readonly StoredSlice[],
    range: TimeRange,
    channelIds?: readonly number[],
  ): Promise<MutableSteps> {
    const decoded: Steps[] = []
    for (const slice of slices) decoded.push(await this.#decodeSlice(slice))
    const from = Math.max(range.from, Math.min(...slices.map((slice) => slice.from)))
    const to = Math.min(range.to, Math.max(...slices.map((slice) => slice.from + slice.count)))
    const ids = channelIds ?? [...new Set(decoded.flatMap((steps) => steps.channelIds))].toSorted((a, b) => a - b)
    const seconds = createSteps(from, to - from, ids)
    for (const steps of decoded) mergeSteps(seconds, steps, 1)
    return seconds
  }

  async #decodeSlice({ id, from }: StoredSlice): Promise<Steps> {
    const cached = this.#slices.get(id)
    if (cached !== undefined) return cached
    const slice = decodeSteps(await this.#tables.readSlice(id), from)
    this.#slices.set(id, slice)
    return slice
  }

  /** Limits a range, which consists of whole steps, to those in which something may be recorded. */
  async clampToRecorded(tier: TierStep, range: TimeRange, step: number): Promise<TimeRange | null> {
    const bounds = await this.boundsOf(tier, range)
    if (bounds === null) return null
    const [from, to] = [Math.max(range.from, floorTo(bounds.from, step)), Math.min(range.to, ceilTo(bounds.to, step))]
    return from < to ? { from, to } : null
  }

  /**
   * Returns a range that contains everything that is recorded at this tier in a range; null if nothing is. With
   * `channelIds`, pinned seconds of other channels do not count.
   */
  async boundsOf(tier: TierStep, range: TimeRange, channelIds?: readonly number[]): Promise<TimeRange | null> {
    const span = chunkSpans[tier]
    const starts = { from: floorTo(range.from, span), to: range.to }
    const tables: readonly ChunkTable[] = tier === 1 ? ['pinned', 1] : [tier]
    const found: TimeRange[] = []
    for (const table of tables) {
      const chunks =
        table === 'pinned' && channelIds !== undefined
          ? await this.#findPinned(starts, channelIds)
          : await this.#tables.findStarts(table, starts)
      if (chunks !== null) found.push({ from: chunks.first, to: chunks.last + span })
    }
    for (const { from, count } of await this.#tables.listSlices()) {
      if (from < range.to && from + count > range.from) found.push({ from, to: from + count })
    }
    if (found.length === 0) return null
    return { from: Math.min(...found.map(({ from }) => from)), to: Math.max(...found.map(({ to }) => to)) }
  }

  /** Returns the starts of the first and the last pinned chunk that contains one of these channels; null if none does. */
  async #findPinned(starts: TimeRange, channelIds: readonly number[]) {
    const chunks = (await this.#tables.readChunks('pinned', starts, groupsOf(channelIds))).filter(({ data, start }) =>
      decodeStates(data, start).channelIds.some((id) => channelIds.includes(id)),
    )
    const [first, last] = [chunks.at(0), chunks.at(-1)]
    return first === undefined || last === undefined ? null : { first: first.start, last: last.start }
  }

  async readAll(tier: TierStep, range: TimeRange): Promise<MutableSteps> {
    const starts = { from: floorTo(range.from, chunkSpans[tier]), to: range.to }
    const ids = new Set<number>()
    const tables: readonly ChunkTable[] = tier === 1 ? ['pinned', 1] : [tier]
    for (const table of tables) {
      for (const { start, data } of await this.#tables.readChunks(table, starts, null))
        for (const id of decodeStates(data, start).channelIds) ids.add(id)
    }
    for (const { channelIds } of await this.#readSlices(range, null)) for (const id of channelIds) ids.add(id)
    return this.readSteps(
      tier,
      range,
      [...ids].toSorted((a, b) => a - b),
    )
  }

  /** Slices were deleted. */
  forgetSlices(ids: readonly number[]): void {
    for (const id of ids) this.#slices.delete(id)
  }
}
