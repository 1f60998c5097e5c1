/**
 * The tables that hold recorded levels, in SQLite or PostgreSQL. Finished seconds are appended as *slices*, one for each
 * batch and each part of the channels. Blocks of ten minutes are then closed part by part: their slices are replaced by
 * *chunks*, one for each tier and each group of channels. All calls of a worker use one connection, one after the other.
 */

import type { TierStep } from '../../domain/history/tiers.ts'

/** Seconds of the channels of one part, in the format of `encodeSteps`. They do not cross the boundary of a block. */
export interface Slice {
  readonly part: number
  readonly from: number
  readonly count: number
  readonly data: Uint8Array
}

export interface StoredSlice extends Omit<Slice, 'data'> {
  readonly id: number
}

/** Steps of the channels of one group, in the format of `encodeSteps`. */
export interface Chunk {
  /** Epoch seconds, a multiple of the tier's span. */
  readonly start: number
  readonly group: number
  readonly data: Uint8Array
}

/** `pinned` contains chunks of seconds that are kept longer than the others. */
export type ChunkTable = TierStep | 'pinned'
/** In the order in which they are deleted if they need too much space: pinned seconds are kept as long as minutes. */
export const chunkTables: readonly ChunkTable[] = [1, 10, 60, 'pinned', 600, 3600]

/** Starts of chunks. `to` is exclusive. */
export interface StartRange {
  readonly from: number
  readonly to: number
}

export interface ChunkTotals {
  readonly bytes: number
  /** Starts of the first and the last chunk; null if there is none. */
  readonly range: { readonly first: number; readonly last: number } | null
}

export interface HistoryTables {
  /** Commits all of `work` or nothing. Only one process at a time runs such work. */
  transaction<T>(work: () => Promise<T>): Promise<T>
  /** Reads everything from one snapshot of the database, even if another process closes a block meanwhile. */
  snapshot<T>(work: () => Promise<T>): Promise<T>
  addSlices(slices: readonly Slice[]): Promise<void>
  listSlices(): Promise<readonly StoredSlice[]>
  /** Throws if the slice does not exist. */
  readSlice(id: number): Promise<Uint8Array>
  deleteSlices(ids: readonly number[]): Promise<void>
  /** Returns the chunks in the order of their starts. Null stands for all groups. */
  readChunks(table: ChunkTable, range: StartRange, groups: readonly number[] | null): Promise<readonly Chunk[]>
  writeChunks(table: ChunkTable, chunks: readonly Chunk[]): Promise<void>
  /** Returns the start of the first and the last chunk in the range; null if there is none. */
  findStarts(table: ChunkTable, range: StartRange): Promise<{ readonly first: number; readonly last: number } | null>
  /** Returns the totals of the chunks that start before `end`. */
  sumChunks(table: ChunkTable, end: number): Promise<ChunkTotals>
  /** Deletes the chunks that start before `end`, which is a multiple of `pruneUnit(table)`. */
  deleteChunks(table: ChunkTable, end: number): Promise<void>
  /** The shortest range of a table that can be deleted, in seconds. */
  pruneUnit(table: ChunkTable): number
  /** Up to which time the chunks of a table were deleted; 0 if none were. */
  prunedUntil(table: ChunkTable): Promise<number>
  setPrunedUntil(table: ChunkTable, time: number): Promise<void>
  /** Bytes of the stored data, including indexes. A transaction does not count the rows that it has deleted. */
  usedBytes(): Promise<number>
  /** Bytes on the disk. */
  totalBytes(): Promise<number>
  /** Null if it cannot be determined. */
  freeBytes(): Promise<number | null>
  /** Makes the space of replaced and deleted rows available to new ones. */
  freeReplaced(): Promise<void>
  /** Returns the space of deleted data to the file system, and empties the write-ahead log. */
  shrink(): Promise<void>
  close(): Promise<void>
}

/**
 * Seconds per chunk of a tier. Chunks of seconds and ten seconds are written once; those of the coarser tiers are
 * rewritten whenever a block is closed, because small chunks would compress badly.
 */
export const chunkSpans: Readonly<Record<TierStep, number>> = { 1: 600, 10: 600, 60: 3600, 600: 86_400, 3600: 86_400 }

/** Seconds per block. */
export const blockSeconds = chunkSpans[1]

export const tierOf = (table: ChunkTable): TierStep => (table === 'pinned' ? 1 : table)

export const spanOf = (table: ChunkTable): number => chunkSpans[tierOf(table)]

/** Channels of a group are compressed together. More of them need less space, but each takes longer to read. */
const groupSize = 16

export const groupOf = (channelId: number): number => Math.floor(channelId / groupSize)

export function groupsOf(channelIds: readonly number[]): readonly number[] {
  return [...new Set(channelIds.map(groupOf))].toSorted((a, b) => a - b)
}

/**
 * Channels of a part are appended together, and their blocks are closed at once. More of them need less space until then,
 * but queries wait longer while a block is closed.
 */
export const groupsInPart = 16

export const partOfGroup = (group: number): number => Math.floor(group / groupsInPart)

export const partOf = (channelId: number): number => partOfGroup(groupOf(channelId))

export function partsOf(channelIds: readonly number[]): readonly number[] {
  return [...new Set(channelIds.map(partOf))].toSorted((a, b) => a - b)
}
