/** Stores and reads recorded levels, in tables of either database. Runs in a worker thread. */

import { RequestError } from '../../domain/errors.ts'
import { chooseTier } from '../../domain/history/choose-tier.ts'
import type { RecordedSeconds, Steps } from '../../domain/history/columns.ts'
import { csvHeading, formatCsv, formatLevels } from '../../domain/history/formats.ts'
import type {
  HistoryStats,
  LevelExport,
  LevelQuery,
  LevelsAtTime,
  PrunedTier,
  RecordedRange,
  Retention,
} from '../../domain/history/level-history.ts'
import { isComplete, type LevelSummary, summarizeLevels, type TierSteps } from '../../domain/history/level-summary.ts'
import { decodeStates, decodeSteps, encodeSteps } from '../../domain/history/step-format.ts'
import {
  ceilTo,
  createSteps,
  findRecorded,
  floorTo,
  foldSteps,
  type MutableSteps,
  mergeSteps,
  sliceSteps,
} from '../../domain/history/steps.ts'
import { type TierStep, tierSteps } from '../../domain/history/tiers.ts'
import { LruMap } from '../../platform/lru-map.ts'
import { pruneTables } from './prune.ts'
import {
  blockSeconds,
  type Chunk,
  type ChunkTable,
  chunkSpans,
  chunkTables,
  groupOf,
  groupsOf,
  type HistoryTables,
  partOf,
  partsOf,
  type Slice,
  type StoredSlice,
  tierOf,
} from './tables.ts'

/** How long after its end a block is closed, so that seconds that arrive late are appended before. */
const closeDelaySeconds = 20
/** The largest number of steps of all channels in one response. */
const maxResponseSteps = 100_000
/** Seconds of all channels that stay decoded. Each needs 40 bytes. */
const maxDecodedSeconds = 1_200_000
/** About as many lines are formatted at a time for a CSV file. */
const csvLines = 20_000

/** `to` is exclusive. */
interface TimeRange {
  readonly from: number
  readonly to: number
}

interface CsvPart {
  readonly bytes: Uint8Array
  /** Start of the next part; null after the last one. */
  readonly next: number | null
}

const encoder = new TextEncoder()

export class HistoryStore {
  readonly #tables: HistoryTables
  /** Decoded slices by id. */
  readonly #slices = new LruMap<number, Steps>(maxDecodedSeconds, ({ count, channelIds }) => count * channelIds.length)
  #closedUntil = 0
  #isShrinkNeeded = false
  #newest = 0

  constructor(tables: HistoryTables) {
    this.#tables = tables
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
  async closeBlocks(now: number = this.#newest): Promise<void> {
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
    return true
  }

  async #closePart(block: TimeRange, part: number): Promise<void> {
    const slices = (await this.#tables.listSlices()).filter(
      (slice) => slice.part === part && slice.from >= block.from && slice.from < block.to,
    )
    // Another process may have closed it.
    if (slices.length === 0) return
    const seconds = await this.#mergeSlices(slices, block)
    for (const { id } of slices) this.#slices.delete(id)
    await this.#tables.deleteSlices(slices.map(({ id }) => id))
    await this.#store(seconds)
  }

  async importSeconds(seconds: RecordedSeconds): Promise<void> {
    await this.#tables.transaction(() => this.#store(seconds))
  }

  async prune(retention: Retention): Promise<readonly PrunedTier[]> {
    await this.closeBlocks(Math.max(retention.now, this.#newest))
    return pruneTables(this.#tables, retention)
  }

  // --- Chunks --------------------------------------------------------------------------------------------------------

  /** Merges seconds into the chunks of all tiers. */
  async #store(seconds: Steps): Promise<void> {
    const range = { from: seconds.from, to: seconds.from + seconds.count }
    for (const group of groupsOf(seconds.channelIds)) {
      const ids = seconds.channelIds.filter((id) => groupOf(id) === group).toSorted((a, b) => a - b)
      const blocks = await this.#mergeIntoTier(1, group, sliceSteps(seconds, 1, range, ids))
      for (const tier of [10, 60, 600] as const) {
        const folded = blocks.map((block) => foldSteps(block, 1, tier))
        await this.#mergeIntoTier(tier, group, joinSteps(folded, tier))
      }
      const hours = { from: floorTo(range.from, 3600), to: ceilTo(range.to, 3600) }
      await this.#mergeIntoTier(3600, group, await this.#foldHours(hours, ids))
    }
  }

  /** Merges steps of one group into the chunks of a tier. Returns the contents of these chunks. */
  async #mergeIntoTier(tier: TierStep, group: number, steps: Steps): Promise<readonly MutableSteps[]> {
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
    const chunks = contents.map((content): Chunk => ({ start: content.from, group, data: encodeSteps(content) }))
    await this.#tables.writeChunks(tier, chunks)
    return contents
  }

  /**
   * Computes steps of an hour from those of ten minutes. The state of an hour is not determined by theirs, but by the
   * seconds.
   */
  async #foldHours(hours: TimeRange, channelIds: readonly number[]): Promise<MutableSteps> {
    const folded = foldSteps(await this.#readSteps(600, hours, channelIds), 600, 3600)
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
  async #readSteps(tier: TierStep, range: TimeRange, channelIds: readonly number[]): Promise<MutableSteps> {
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
        mergeSteps(steps, await this.#foldHours({ from: hour, to: hour + 3600 }, channelIds), 3600)
    return steps
  }

  // --- Slices --------------------------------------------------------------------------------------------------------

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
        await this.#mergeSlices(
          slices,
          range,
          channelIds?.filter((id) => partOf(id) === part),
        ),
      )
    }
    return merged
  }

  /** Merges the seconds of slices in a range. Without `channelIds`, of all channels. */
  async #mergeSlices(
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

  // --- Queries -------------------------------------------------------------------------------------------------------

  /** Returns the JSON of `HistoryLevels`. Throws a RequestError if the response would be too long. */
  query(query: LevelQuery): Promise<Uint8Array> {
    return this.#tables.snapshot(() => this.#query(query))
  }

  async #query(query: LevelQuery): Promise<Uint8Array> {
    const { channelIds, from, to, maxPoints, series } = query
    const choice = chooseTier({ from, to, maxPoints }, await this.#existingTiers(query))
    if (choice.points * channelIds.length > maxResponseSteps) {
      const details = `max_points: expected fewer; ${channelIds.length} channels with ${choice.points} steps each are more than ${maxResponseSteps} steps`
      throw new RequestError('bad_request', { details })
    }
    const end = choice.from + choice.points * choice.step
    const steps = createSteps(choice.from, choice.points, channelIds)
    const recorded = await this.#clampToRecorded(choice.tier, { from: choice.from, to: end }, choice.step)
    if (recorded !== null) {
      const read = await this.#readSteps(choice.tier, recorded, channelIds)
      mergeSteps(steps, choice.step === choice.tier ? read : foldSteps(read, choice.tier, choice.step), choice.step)
    }
    return encoder.encode(formatLevels(steps, choice.step, to, series))
  }

  /** Limits a range, which consists of whole steps, to those in which something may be recorded. */
  async #clampToRecorded(tier: TierStep, range: TimeRange, step: number): Promise<TimeRange | null> {
    const bounds = await this.#boundsOf(tier, range)
    if (bounds === null) return null
    const [from, to] = [Math.max(range.from, floorTo(bounds.from, step)), Math.min(range.to, ceilTo(bounds.to, step))]
    return from < to ? { from, to } : null
  }

  /**
   * Returns a range that contains everything that is recorded at this tier in a range; null if nothing is. With
   * `channelIds`, pinned seconds of other channels do not count.
   */
  async #boundsOf(tier: TierStep, range: TimeRange, channelIds?: readonly number[]): Promise<TimeRange | null> {
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

  /** Of the seconds, which no response of more than `maxPoints` contains, only those that fit are looked for. */
  async #existingTiers({ from, to, maxPoints, channelIds }: LevelQuery): Promise<TierStep[]> {
    const existing: TierStep[] = []
    for (const tier of tierSteps) {
      if (tier === 1 && to - from > maxPoints) continue
      if ((await this.#boundsOf(tier, { from, to }, channelIds)) !== null) existing.push(tier)
    }
    return existing
  }

  read(channelIds: readonly number[], from: number, to: number, step: TierStep): Promise<MutableSteps> {
    return this.#tables.snapshot(() => this.#read(channelIds, { from, to }, step))
  }

  async #read(channelIds: readonly number[], { from, to }: TimeRange, step: TierStep): Promise<MutableSteps> {
    const range = { from: floorTo(from, step), to: ceilTo(to, step) }
    const steps = createSteps(range.from, (range.to - range.from) / step, channelIds)
    const recorded = await this.#clampToRecorded(step, range, step)
    if (recorded !== null) mergeSteps(steps, await this.#readSteps(step, recorded, channelIds), step)
    return steps
  }

  /** Sums up a range of channels, each block from the finest tier that still has it, beginning with `finest`. */
  summarize(channelIds: readonly number[], from: number, to: number, finest: TierStep): Promise<LevelSummary[]> {
    return this.#tables.snapshot(async () => {
      const tiers: TierSteps[] = []
      for (const tier of tierSteps) {
        if (tier < finest) continue
        const read = { tier, steps: await this.#read(channelIds, { from, to }, tier) }
        tiers.push(read)
        if (isComplete(read, { from, to })) break
      }
      return summarizeLevels(tiers, { from, to })
    })
  }

  /** Returns the lines of a CSV file from `from` on. The first part contains the heading. */
  async readCsv(request: LevelExport, from: number | null): Promise<CsvPart> {
    const { channels, step, to } = request
    const start = from ?? floorTo(request.from, step)
    const count = Math.max(1, Math.floor(csvLines / Math.max(1, channels.length)))
    const end = Math.min(ceilTo(to, step), start + count * step)
    const ids = channels.map(({ id }) => id)
    const lines = formatCsv(
      await this.read(ids, start, end, step),
      step,
      channels.map(({ name }) => name),
    )
    const text = from === null ? csvHeading + lines : lines
    return { bytes: encoder.encode(text), next: end < to ? end : null }
  }

  /** See `LevelHistory.at`. */
  at(time: number): Promise<LevelsAtTime | null> {
    return this.#tables.snapshot(() => this.#findAt(time))
  }

  async #findAt(time: number): Promise<LevelsAtTime | null> {
    let pinned: LevelsAtTime | null = null
    for (const step of tierSteps) {
      const from = floorTo(time, step)
      const steps = await this.#readAll(step, { from, to: from + step })
      const recorded = listRecorded(steps)
      // Of seconds that were pruned, only those of the pinned channels are left.
      if (pinned !== null && recorded.length > 0 && includesAll(pinned.steps.channelIds, recorded)) return pinned
      const isPruned = time < (await this.#tables.prunedUntil(step))
      const found = recorded.length === 0 ? null : ({ isRecorded: true, stepSeconds: step, steps } as const)
      if (found !== null && !isPruned) return found
      pinned ??= found
      if (isPruned) continue
      if (pinned !== null) return pinned
      const before = await this.#readLastBefore(step, from)
      return before === null ? null : { isRecorded: false, stepSeconds: step, steps: before }
    }
    return pinned
  }

  /** Reads a range of one tier for all channels. */
  async #readAll(tier: TierStep, range: TimeRange): Promise<MutableSteps> {
    const starts = { from: floorTo(range.from, chunkSpans[tier]), to: range.to }
    const ids = new Set<number>()
    const tables: readonly ChunkTable[] = tier === 1 ? ['pinned', 1] : [tier]
    for (const table of tables) {
      for (const { start, data } of await this.#tables.readChunks(table, starts, null))
        for (const id of decodeStates(data, start).channelIds) ids.add(id)
    }
    for (const { channelIds } of await this.#readSlices(range, null)) for (const id of channelIds) ids.add(id)
    return this.#readSteps(
      tier,
      range,
      [...ids].toSorted((a, b) => a - b),
    )
  }

  /** Returns the last states before a time in one step, without levels; null if nothing is recorded before. */
  async #readLastBefore(tier: TierStep, time: number): Promise<MutableSteps | null> {
    for (const step of tierSteps.filter((candidate) => candidate >= tier)) {
      for (let limit = time; ; ) {
        // Of seconds that were pruned, only those of the pinned channels are left.
        const bounds = await this.#boundsOf(step, { from: await this.#tables.prunedUntil(step), to: limit })
        if (bounds === null) break
        const to = floorTo(Math.min(limit, bounds.to), step)
        limit = floorTo(Math.max(0, to - 1), chunkSpans[step])
        const steps = await this.#readAll(step, { from: limit, to })
        if (findRecorded(steps, step) !== null) return toLastStates(steps, time)
      }
    }
    return null
  }

  // --- Extent --------------------------------------------------------------------------------------------------------

  range(): Promise<RecordedRange | null> {
    return this.#tables.snapshot(() => this.#range())
  }

  async #range(): Promise<RecordedRange | null> {
    let range: RecordedRange | null = null
    for (const tier of tierSteps) {
      const found = await this.#recordedRange(tier)
      if (found !== null) range = range === null ? found : extendRange(range, found, tier)
    }
    return range
  }

  async #recordedRange(tier: TierStep): Promise<RecordedRange | null> {
    const tables: readonly ChunkTable[] = tier === 1 ? ['pinned', 1] : [tier]
    const ranges: RecordedRange[] = []
    for (const table of tables) {
      const starts = await this.#tables.findStarts(table, { from: 0, to: Number.MAX_SAFE_INTEGER })
      if (starts === null) continue
      for (const start of new Set([starts.first, starts.last])) {
        for (const { data } of await this.#tables.readChunks(table, { from: start, to: start + 1 }, null)) {
          const found = findRecorded(decodeStates(data, start), tier)
          if (found !== null) ranges.push({ first: found.first, last: found.last + tier })
        }
      }
    }
    for (const { from, count } of await this.#tables.listSlices()) ranges.push({ first: from, last: from + count })
    return joinRanges(ranges)
  }

  size(): Promise<number> {
    return this.#tables.totalBytes()
  }

  stats(): Promise<HistoryStats> {
    return this.#tables.snapshot(() => this.#stats())
  }

  async #stats(): Promise<HistoryStats> {
    const tiers: HistoryStats['tiers'][number][] = []
    for (const step of tierSteps) {
      const sums = await Promise.all(
        chunkTables
          .filter((table) => tierOf(table) === step)
          .map((table) => this.#tables.sumChunks(table, Number.MAX_SAFE_INTEGER)),
      )
      const bytes = sums.reduce((sum, totals) => sum + totals.bytes, 0)
      tiers.push({ step, bytes, range: await this.#recordedRange(step) })
    }
    return {
      bytes: await this.#tables.totalBytes(),
      range: await this.#range(),
      tiers,
      freeBytes: await this.#tables.freeBytes(),
    }
  }
}

/** Returns the channels that are recorded in any of the steps. */
function listRecorded({ channelIds, count, columns }: Steps): number[] {
  return channelIds.filter((_, channel) =>
    columns.state.subarray(channel * count, (channel + 1) * count).some((state) => state !== 0),
  )
}

function includesAll(ids: readonly number[], wanted: readonly number[]): boolean {
  const known = new Set(ids)
  return wanted.every((id) => known.has(id))
}

/** Returns one step at `time` that contains the last state of each channel. */
function toLastStates(steps: MutableSteps, time: number): MutableSteps {
  const last = createSteps(time, 1, steps.channelIds)
  for (const channel of steps.channelIds.keys()) {
    const states = steps.columns.state.subarray(channel * steps.count, (channel + 1) * steps.count)
    last.columns.state[channel] = states.findLast((state) => state !== 0) ?? 0
  }
  return last
}

/** Extends a range by whole steps of a coarser tier. A part of a step is ignored, because the finer tier is more exact. */
function extendRange({ first, last }: RecordedRange, coarse: RecordedRange, step: TierStep): RecordedRange {
  return {
    first: coarse.first + step <= first ? coarse.first : first,
    last: coarse.last - step >= last ? coarse.last : last,
  }
}

function joinRanges(ranges: readonly RecordedRange[]): RecordedRange | null {
  if (ranges.length === 0) return null
  return { first: Math.min(...ranges.map(({ first }) => first)), last: Math.max(...ranges.map(({ last }) => last)) }
}

/** Joins consecutive steps, whose channels may differ. */
function joinSteps(parts: readonly Steps[], step: number): MutableSteps {
  const ids = [...new Set(parts.flatMap(({ channelIds }) => channelIds))].toSorted((a, b) => a - b)
  const from = Math.min(...parts.map((part) => part.from))
  const to = Math.max(...parts.map((part) => part.from + part.count * step))
  const joined = createSteps(from, (to - from) / step, ids)
  for (const part of parts) mergeSteps(joined, part, step)
  return joined
}
