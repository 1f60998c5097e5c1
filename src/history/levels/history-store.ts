/** Stores recorded levels and responds to queries, in tables of either database. Runs in a worker thread. */

import type { RecordedSeconds, Steps } from '../../domain/history/columns.ts'
import { csvHeading, formatCsv, formatLevels } from '../../domain/history/formats.ts'
import { findIdleNoise, type IdleNoise, noiseStep } from '../../domain/history/idle-noise.ts'
import type {
  CsvPart,
  FollowedSteps,
  HistoryStats,
  LevelExport,
  LevelQuery,
  LevelsAtTime,
  PrunedTier,
  RecordedRange,
  Retention,
} from '../../domain/history/level-history.ts'
import { isComplete, type LevelSummary, summarizeLevels, type TierSteps } from '../../domain/history/level-summary.ts'
import { decodeStates } from '../../domain/history/step-format.ts'
import {
  ceilTo,
  createSteps,
  findRecorded,
  floorTo,
  foldSteps,
  type MutableSteps,
  mergeSteps,
} from '../../domain/history/steps.ts'
import { checkResponseSize, chooseTier, type TierStep, tierSteps } from '../../domain/history/tiers.ts'
import { LevelWriter } from './level-writer.ts'
import { StepReader, type TimeRange } from './step-reader.ts'
import { type ChunkTable, chunkSpans, chunkTables, type HistoryTables, tierOf } from './tables.ts'

const encoder = new TextEncoder()

export class HistoryStore {
  readonly #tables: HistoryTables
  readonly #reader: StepReader
  readonly #writer: LevelWriter

  constructor(tables: HistoryTables) {
    this.#tables = tables
    this.#reader = new StepReader(tables)
    this.#writer = new LevelWriter(tables, this.#reader)
  }

  append(seconds: RecordedSeconds): Promise<void> {
    return this.#writer.append(seconds)
  }

  importSeconds(seconds: RecordedSeconds): Promise<void> {
    return this.#writer.importSeconds(seconds)
  }

  /** Closes one part of a block that has ended. Returns whether there may be more to close. */
  closeNextPart(): Promise<boolean> {
    return this.#writer.closeNextPart()
  }

  prune(retention: Retention): Promise<readonly PrunedTier[]> {
    return this.#writer.prune(retention)
  }

  /** Returns the JSON of `HistoryLevels`. Throws a RequestError if the response would be too long. */
  query(query: LevelQuery, followed: FollowedSteps | null): Promise<Uint8Array> {
    return this.#tables.snapshot(() => this.#query(query, followed))
  }

  async #query(query: LevelQuery, followed: FollowedSteps | null): Promise<Uint8Array> {
    const { channelIds, from, to, maxPoints } = query
    const local = channelIds.filter((id) => followed === null || !followed.steps.channelIds.includes(id))
    const existing = local.length === 0 ? [] : await this.#existingTiers({ ...query, channelIds: local })
    const choice = chooseTier({ from, to, maxPoints }, followed === null ? existing : joinTiers(existing, followed))
    checkResponseSize(channelIds.length, choice.points)
    const end = choice.from + choice.points * choice.step
    const steps = createSteps(choice.from, choice.points, channelIds)
    const recorded = await this.#reader.clampToRecorded(choice.tier, { from: choice.from, to: end }, choice.step)
    if (recorded !== null) {
      const read = await this.#reader.readSteps(choice.tier, recorded, channelIds)
      mergeSteps(steps, choice.step === choice.tier ? read : foldSteps(read, choice.tier, choice.step), choice.step)
    }
    if (followed !== null) mergeSteps(steps, foldSteps(followed.steps, followed.step, choice.step), choice.step)
    return encoder.encode(formatLevels(steps, choice.step, query, followed?.interrupted))
  }

  /** Skips the tier of seconds if the range exceeds `maxPoints`, because no response contains them. */
  async #existingTiers({ from, to, maxPoints, channelIds }: LevelQuery): Promise<TierStep[]> {
    const existing: TierStep[] = []
    for (const tier of tierSteps) {
      if (tier === 1 && to - from > maxPoints) continue
      if ((await this.#reader.boundsOf(tier, { from, to }, channelIds)) !== null) existing.push(tier)
    }
    return existing
  }

  read(channelIds: readonly number[], from: number, to: number, step: TierStep): Promise<MutableSteps> {
    return this.#tables.snapshot(() => this.#read(channelIds, { from, to }, step))
  }

  async #read(channelIds: readonly number[], { from, to }: TimeRange, step: TierStep): Promise<MutableSteps> {
    const range = { from: floorTo(from, step), to: ceilTo(to, step) }
    const steps = createSteps(range.from, (range.to - range.from) / step, channelIds)
    const recorded = await this.#reader.clampToRecorded(step, range, step)
    if (recorded !== null) mergeSteps(steps, await this.#reader.readSteps(step, recorded, channelIds), step)
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

  /** See `LevelHistory.findIdleNoise`. */
  async findIdleNoise(since: ReadonlyMap<number, number>, from: number, to: number): Promise<IdleNoise[]> {
    const step = noiseStep(to - from)
    return findIdleNoise(await this.read([...since.keys()], from, to, step), step, since)
  }

  /** Returns the lines of a part of a CSV file. The first part contains the heading. */
  async readCsv(
    { channels, step }: LevelExport,
    { start, end, isFirst }: CsvPart,
    followed: FollowedSteps | null,
  ): Promise<Uint8Array> {
    const ids = channels.map(({ id }) => id)
    const steps = await this.read(ids, start, end, step)
    if (followed !== null) mergeSteps(steps, followed.steps, step)
    const lines = formatCsv(
      steps,
      step,
      channels.map(({ name }) => name),
    )
    return encoder.encode(isFirst ? csvHeading + lines : lines)
  }

  /** See `LevelHistory.at`. */
  at(time: number): Promise<LevelsAtTime | null> {
    return this.#tables.snapshot(() => this.#findAt(time))
  }

  async #findAt(time: number): Promise<LevelsAtTime | null> {
    let pinned: LevelsAtTime | null = null
    for (const step of tierSteps) {
      const from = floorTo(time, step)
      const steps = await this.#reader.readAll(step, { from, to: from + step })
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

  /** Returns the last states before a time in one step, without levels; null if nothing is recorded before. */
  async #readLastBefore(tier: TierStep, time: number): Promise<MutableSteps | null> {
    for (const step of tierSteps.filter((candidate) => candidate >= tier)) {
      for (let limit = time; ; ) {
        // Of seconds that were pruned, only those of the pinned channels are left.
        const bounds = await this.#reader.boundsOf(step, { from: await this.#tables.prunedUntil(step), to: limit })
        if (bounds === null) break
        const to = floorTo(Math.min(limit, bounds.to), step)
        limit = floorTo(Math.max(0, to - 1), chunkSpans[step])
        const steps = await this.#reader.readAll(step, { from: limit, to })
        if (findRecorded(steps, step) !== null) return toLastStates(steps, time)
      }
    }
    return null
  }

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

/** Returns the tiers that exist here and are not finer than the levels of other installations, or that of these levels. */
function joinTiers(existing: readonly TierStep[], { step }: FollowedSteps): readonly TierStep[] {
  const coarser = existing.filter((tier) => tier >= step)
  return coarser.length === 0 ? [step] : coarser
}

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
