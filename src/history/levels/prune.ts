/** Deletes recorded levels that are older than they have to be kept, or that need too much space. */

import type { PinnedRange, PrunedTier, Retention } from '../../domain/history/level-history.ts'
import { decodeSteps, encodeSteps } from '../../domain/history/step-format.ts'
import { createSteps, floorTo, mergeSteps } from '../../domain/history/steps.ts'
import { type TierStep, tierSteps } from '../../domain/history/tiers.ts'
import { type Chunk, type ChunkTable, chunkTables, groupOf, type HistoryTables, spanOf, tierOf } from './tables.ts'

/** Thrown to undo the deletions of a dry run. */
class DryRunEnd extends Error {}

/** All blocks that have ended must be closed, so that the coarser tiers contain the levels that the finer ones lose. */
export async function pruneTables(tables: HistoryTables, retention: Retention): Promise<readonly PrunedTier[]> {
  const deleted = new Map<TierStep, { bytes: number; first: number; last: number }>()
  try {
    await tables.transaction(async () => {
      await pruneByAge(tables, retention, deleted)
      await pruneBySize(tables, retention, deleted)
      if (retention.isDryRun) throw new DryRunEnd()
    })
  } catch (error) {
    if (!(error instanceof DryRunEnd)) throw error
  }
  if (!retention.isDryRun) await tables.shrink()
  return tierSteps.map((step) => {
    const found = deleted.get(step)
    return {
      step,
      bytes: found?.bytes ?? 0,
      range: found === undefined ? null : { first: found.first, last: found.last },
    }
  })
}

type Deleted = Map<TierStep, { bytes: number; first: number; last: number }>

async function pruneByAge(tables: HistoryTables, retention: Retention, deleted: Deleted): Promise<void> {
  const { now, secondsDays, minutesDays, pinned } = retention
  const [secondsUntil, minutesUntil] = [now - secondsDays * 86_400, now - minutesDays * 86_400]
  await deleteUntil(tables, 1, secondsUntil, { pinned, deleted })
  for (const table of ['pinned', 10, 60] as const) await deleteUntil(tables, table, minutesUntil, { pinned, deleted })
}

/** Deletes the oldest chunks of the finest tier, then those of the next tier. Pinned seconds follow the minutes. */
async function pruneBySize(tables: HistoryTables, retention: Retention, deleted: Deleted): Promise<void> {
  for (const table of chunkTables) {
    while ((await tables.usedBytes()) > retention.maxBytes) {
      const starts = await tables.findStarts(table, { from: 0, to: Number.MAX_SAFE_INTEGER })
      if (starts === null) break
      const unit = tables.pruneUnit(table)
      await deleteUntil(tables, table, floorTo(starts.first, unit) + unit, { pinned: retention.pinned, deleted })
    }
  }
}

/** Deletes the chunks of a table that end before a time. Seconds of pinned ranges are moved to the table for them first. */
async function deleteUntil(
  tables: HistoryTables,
  table: ChunkTable,
  time: number,
  { pinned, deleted }: { readonly pinned: readonly PinnedRange[]; readonly deleted: Deleted },
): Promise<void> {
  const end = floorTo(time, tables.pruneUnit(table))
  const movedBytes = table === 1 ? await movePinned(tables, end, pinned) : 0
  const { bytes, range } = await tables.sumChunks(table, end)
  if (range !== null) {
    const tier = tierOf(table)
    const before = deleted.get(tier)
    deleted.set(tier, {
      bytes: bytes - movedBytes + (before?.bytes ?? 0),
      first: Math.min(range.first, before?.first ?? range.first),
      last: Math.max(range.last + spanOf(table), before?.last ?? 0),
    })
    await tables.deleteChunks(table, end)
  }
  if (end > (await tables.prunedUntil(table))) await tables.setPrunedUntil(table, end)
}

/** Returns how many bytes were moved. */
async function movePinned(tables: HistoryTables, end: number, pinned: readonly PinnedRange[]): Promise<number> {
  const starts = await tables.findStarts(1, { from: 0, to: end })
  if (starts === null) return 0
  const span = spanOf(1)
  /** The pinned channels of each chunk. */
  const channelsOf = new Map<number, Set<number>>()
  for (const { channelId, from, to } of pinned) {
    const last = Math.min(to, end, starts.last + span)
    for (let start = Math.max(floorTo(from, span), starts.first); start < last; start += span) {
      const channels = channelsOf.get(start) ?? new Set()
      channelsOf.set(start, channels.add(channelId))
    }
  }
  let bytes = 0
  for (const [start, channels] of channelsOf) {
    const groups = [...new Set([...channels].map(groupOf))]
    const range = { from: start, to: start + 1 }
    const kept: Chunk[] = []
    const stored = await tables.readChunks('pinned', range, groups)
    for (const { group, data } of await tables.readChunks(1, range, groups)) {
      const seconds = decodeSteps(data, start)
      const before = stored.find((chunk) => chunk.group === group)
      const moved = before === undefined ? null : decodeSteps(before.data, start)
      const ids = new Set([...(moved?.channelIds ?? []), ...seconds.channelIds.filter((id) => channels.has(id))])
      if (ids.size === 0) continue
      const steps = createSteps(
        start,
        span,
        [...ids].toSorted((a, b) => a - b),
      )
      if (moved !== null) mergeSteps(steps, moved, 1)
      mergeSteps(steps, seconds, 1)
      kept.push({ start, group, data: encodeSteps(steps) })
    }
    await tables.writeChunks('pinned', kept)
    for (const { data } of kept) bytes += data.length
  }
  return bytes
}
