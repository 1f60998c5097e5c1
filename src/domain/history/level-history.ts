/** The interface to recorded levels for the recorder, REST and the commands. */

import type { SiteReference } from '../../contract/schema.ts'
import { RequestError } from '../errors.ts'
import type { RecordedSeconds, Steps } from './columns.ts'
import type { IdleNoise } from './idle-noise.ts'
import type { LevelSummary } from './level-summary.ts'
import type { TierStep } from './tiers.ts'

export const levelSeries = ['rf', 'audio', 'quality', 'battery', 'minutes'] as const
export type LevelSeries = (typeof levelSeries)[number]

/** Times are epoch seconds; `to` is exclusive. */
export interface LevelQuery {
  readonly channelIds: readonly number[]
  readonly from: number
  readonly to: number
  readonly maxPoints: number
  readonly series: readonly LevelSeries[]
}

/** Times are epoch seconds; `to` is exclusive. */
export interface LevelExport {
  readonly channels: readonly { readonly id: number; readonly name: string }[]
  readonly from: number
  readonly to: number
  readonly step: TierStep
}

/** A range of steps of all channels in a file. Epoch seconds; `end` is exclusive. */
export interface CsvPart {
  readonly start: number
  readonly end: number
  readonly isFirst: boolean
}

/** Levels of channels of sites, for a response that may also contain levels of other channels. */
export interface FollowedSteps {
  readonly step: TierStep
  readonly steps: Steps<Int32Array>
  /** The sites that did not return missing levels. */
  readonly interrupted: readonly SiteReference[]
}

/** The levels of all channels at one time. */
export interface LevelsAtTime {
  /** False in a gap. The state of each channel is then the last one before the gap, and its levels are unknown. */
  readonly isRecorded: boolean
  /** The finest step that exists at this time, from which the levels were taken. */
  readonly stepSeconds: TierStep
  /** One step per channel. */
  readonly steps: Steps<Int32Array>
}

/** The start of the first and the end of the last recorded second, in epoch seconds. */
export interface RecordedRange {
  readonly first: number
  readonly last: number
}

export interface HistoryStats {
  /** Disk usage of the recorded levels. */
  readonly bytes: number
  readonly range: RecordedRange | null
  readonly tiers: readonly {
    readonly step: TierStep
    readonly bytes: number
    readonly range: RecordedRange | null
  }[]
  /** Null if unknown. */
  readonly freeBytes: number | null
}

/** A range of one channel whose seconds are kept as long as its minutes. Epoch seconds; `to` is exclusive. */
export interface PinnedRange {
  readonly channelId: number
  readonly from: number
  readonly to: number
}

export interface Retention {
  /** Retention of seconds, in days. */
  readonly secondsDays: number
  /** Retention of steps of ten seconds and one minute, in days. */
  readonly minutesDays: number
  readonly maxBytes: number
  readonly pinned: readonly PinnedRange[]
  /** Epoch seconds. */
  readonly now: number
  /** If true, nothing is deleted. */
  readonly isDryRun: boolean
}

/** The deleted part of a tier; in a dry run, the part that would be deleted. */
export interface PrunedTier {
  readonly step: TierStep
  readonly bytes: number
  /** Null if nothing was deleted. */
  readonly range: RecordedRange | null
}

export interface LevelReader {
  /**
   * Returns the JSON body of `GET /api/history/levels/`, including levels of other installations. Rejects with a
   * RequestError if the channels have more than 100,000 steps together.
   */
  query(query: LevelQuery, followed?: FollowedSteps | null): Promise<Uint8Array>
  /**
   * Returns the rows as CSV, with the heading and a BOM. `loadFollowed` returns levels of other installations for a
   * part.
   */
  exportCsv(
    request: LevelExport,
    loadFollowed?: (part: CsvPart) => Promise<FollowedSteps | null>,
  ): AsyncIterable<Uint8Array>
  /** Returns null for a time before the first record. `time` is in epoch seconds. */
  at(time: number): Promise<LevelsAtTime | null>
  /** Null if nothing is recorded. */
  range(): Promise<RecordedRange | null>
  /** The steps of one tier, for readers of the whole history such as remote write. Missing steps have state `-`. */
  read(channelIds: readonly number[], from: number, to: number, step: TierStep): Promise<Steps<Int32Array>>
  /** Summarizes a range of channels, in their order. `to` is exclusive. */
  summarize(channelIds: readonly number[], from: number, to: number): Promise<readonly LevelSummary[]>
  /**
   * Returns the noise on each channel since its own start time. Omits channels without a measurement. `to` is
   * exclusive.
   */
  findIdleNoise(since: ReadonlyMap<number, number>, from: number, to: number): Promise<readonly IdleNoise[]>
}

export interface LevelHistory extends LevelReader {
  /**
   * Returns a reader for a client. Clients take turns, and each may fill only a share of the queue. Beyond it, calls
   * reject with a RequestError.
   */
  ofClient(client: string): LevelReader
  /** Stores seconds. Rejects with a StoreDownError if they cannot be written; they are then lost. */
  append(seconds: RecordedSeconds): Promise<void>
  /** Stores closed blocks of an earlier time, which the simulators have generated. All channels have the same steps. */
  importSeconds(seconds: RecordedSeconds): Promise<void>
  stats(): Promise<HistoryStats>
  /** All bytes on the disk. Unlike `stats`, reads no recorded levels. */
  size(): Promise<number>
  prune(retention: Retention): Promise<readonly PrunedTier[]>
  close(): Promise<void>
}

/** The error for a client that has used its share of the queue. */
export function refuseHistoryRead(share: number): RequestError {
  return new RequestError('history_busy', { details: `at most ${share} of one client are made or wait at a time` })
}
