/**
 * Records the levels of the receivers whose conditions this process evaluates. Every sample is folded into the current
 * second of its channel. Closed seconds are stored every few seconds, and dropped while the history cannot be written.
 */

import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import type { GapReason } from '../contract/values.ts'
import type { LevelHistory } from '../domain/history/level-history.ts'
import {
  type ClosedSecond,
  CurrentSecond,
  columnCount,
  createRecordedValues,
  listGaps,
  type RecordedFacts,
  type RecordingGap,
  removedFacts,
  toParts,
  toRecordedFacts,
} from '../domain/history/second.ts'
import type { LevelRows, LevelStore } from '../ingest/level-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'
import { pause, withTimeout } from '../platform/wait.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import { sqlitePath } from '../storage/sqlite-file.ts'

export interface DiskSpace {
  /** Bytes. */
  readonly free: number
  /** Bytes. */
  readonly size: number
}

/** The disk with the history. */
export class HistoryDisk {
  readonly #path: string | null

  constructor(databaseUrl: string) {
    this.#path = sqlitePath(databaseUrl)
  }

  /** Returns null if the history is in a database server. */
  async space(): Promise<DiskSpace | null> {
    if (this.#path === null) return null
    const { bavail, blocks, bsize } = await statfs(dirname(this.#path))
    return { free: bavail * bsize, size: blocks * bsize }
  }
}

interface Subsystems {
  readonly levels: LevelStore
  readonly history: LevelHistory
  readonly disk: HistoryDisk
  readonly conditions: ConditionMonitor
  readonly settings: EffectiveSettings
  readonly leaseManager: LeaseManager
  readonly log: Log
}

interface RecordedChannel {
  readonly id: number
  /** Its index in the current second. */
  readonly index: number
  hasTransmitter: boolean
  weakDbm: number
  /** False while its levels are unknown. */
  hasLevels: boolean
}

/** A receiver of which this process records the channels. */
interface RecordedReceiver {
  readonly rows: LevelRows
  readonly channels: readonly RecordedChannel[]
  /** True once this process has received a report of it. */
  isReceived: boolean
}

/** How often closed seconds are stored, in seconds. */
const storeEvery = 5
/** The same while other processes use the database, so that their responses contain them within 3 s. */
const storeEveryShared = 1
/** How often storing is tried after it failed, in seconds. */
const retryEvery = 5
const maxChannelsPerPart = 1000
/** How many seconds are kept while the history is slow. Older ones are dropped. */
const maxWaiting = 60
/** If the process was suspended for longer, the levels before do not hold for this time, in seconds. */
const maxCaughtUp = 30
/** The shortest stretch without a record that is reported as a gap, in seconds. */
const minGap = 2
/** Every other recording process has stored its seconds within this time. */
const confirmGapAfterMs = 10_000
/** Time limit for storing the last seconds. */
const stopWithinMs = 5_000
const minFreeBytes = 500_000_000
const minFreeShare = 0.02

export class Recorder {
  /** Published with every stretch of at least 2 s in which no process recorded, once it has ended. */
  readonly gapEnded = new Topic<RecordingGap>()
  /** Published with the reason when recording begins to fail, and with null when it succeeds first, or again. */
  readonly faultChanged = new Topic<string | null>()
  readonly #subsystems: Subsystems
  readonly #now: () => number
  readonly #current = new CurrentSecond()
  readonly #values = createRecordedValues()
  readonly #channels = new Map<number, RecordedChannel>()
  readonly #receivers = new Map<number, RecordedReceiver>()
  /** The channels of receivers that were removed. */
  #removed: readonly RecordedChannel[] = []
  readonly #channelOfRow: (RecordedChannel | undefined)[] = []
  /** The channels of the next closed second; null after channels have changed. */
  #listed: { readonly channels: readonly RecordedChannel[]; readonly ids: readonly number[] } | null = null
  /** The current second, in epoch seconds; null while nothing is recorded. */
  #time: number | null = null
  /** When it began and when it ends (`performance.now()`). */
  #beganAt = 0
  #endsAt = Number.POSITIVE_INFINITY
  /** Closed seconds that are not stored yet. */
  #closed: ClosedSecond[] = []
  /** When closed seconds are stored next, in epoch seconds. */
  #storeAt = 0
  #timer: NodeJS.Timeout | undefined
  /** Why this process did not record the seconds before the next one that is closed; null if it did. */
  #pauseReason: GapReason | null = 'stopped'
  /** Undefined until the first seconds were stored. */
  #fault: string | null | undefined
  /** When this process began to receive reports (`performance.now()`). */
  readonly #openedAt = performance.now()
  #isStarted = false
  readonly #stopped = new AbortController()
  #storing: Promise<void> | null = null

  constructor(subsystems: Subsystems, wallClock = now) {
    const { levels } = subsystems
    this.#subsystems = subsystems
    this.#now = wallClock
    levels.listen((row, at) => this.#sampled(row, at))
    levels.listenToRecords({
      loaded: (rows) => this.#received(rows, true),
      factsChanged: (rows) => this.#received(rows, false),
      removed: (rows) => this.#remove(rows),
    })
  }

  /** Why the history cannot be written; null if it can. */
  get fault(): string | null {
    return this.#fault ?? null
  }

  /** False while `HISTORY` is false, and while the history cannot be written. */
  get isRecording(): boolean {
    return this.#time !== null && this.fault === null
  }

  /** `before` says why nothing was recorded until now. */
  start(before: GapReason = 'stopped'): void {
    this.#isStarted = true
    this.#pauseReason = before
    this.#record()
  }

  /** Stores all recorded seconds, including the current one. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#end()
  }

  /** Settings or thresholds have changed. Recording starts or stops at once. */
  settingsChanged(): void {
    for (const receiver of this.#receivers.values()) this.#setThresholds(receiver)
    if (this.#isOn()) this.#record()
    else if (this.#time !== null) {
      void this.#end()
      this.#pauseReason = 'off'
      this.#setFault(null)
    }
  }

  /** Stores all seconds that have ended. Resolves when they can be queried, or have failed to be stored. */
  async flush(): Promise<void> {
    if (this.#time === null) return
    this.#advance()
    if (this.fault === null) await this.#storeClosed()
  }

  #isOn(): boolean {
    return this.#subsystems.settings.get(null).HISTORY
  }

  /** Starts recording, if enabled. */
  #record(): void {
    if (this.#time !== null || !this.#isStarted || this.#stopped.signal.aborted) return
    if (!this.#isOn()) {
      this.#pauseReason = 'off'
      return
    }
    this.#discardCurrent()
    this.#begin(Math.floor(this.#now() / 1000))
    this.#storeAt = (this.#time ?? 0) + this.#interval()
    this.#setTimer()
  }

  /** Discards the samples of the time without recording. */
  #discardCurrent(): void {
    const discarded = new Int16Array(columnCount)
    for (const { index } of this.#channels.values()) this.#current.close(index, performance.now(), discarded, 0)
  }

  #begin(time: number): void {
    this.#time = time
    this.#beganAt = performance.now()
    this.#setEnd()
  }

  /** Closes the current second before its end, stores it, and records nothing from then on. */
  async #end(): Promise<void> {
    if (this.#time === null) return
    this.#advance()
    clearTimeout(this.#timer)
    this.#close(performance.now())
    this.#time = null
    this.#endsAt = Number.POSITIVE_INFINITY
    await withTimeout(this.#storeClosed(), stopWithinMs)
  }

  #sampled(row: number, at: number): void {
    const channel = this.#channelOfRow[row]
    if (channel === undefined || !channel.hasLevels) return
    // A sample can arrive before the timer that ends the second.
    if (at >= this.#endsAt) this.#advance()
    this.#fold(channel, row, at)
  }

  #fold(channel: RecordedChannel, row: number, at: number): void {
    this.#values.hasTransmitter = channel.hasTransmitter
    this.#subsystems.levels.readRecorded(row, this.#values)
    this.#current.fold(channel.index, this.#values, channel.weakDbm, at)
  }

  #received(rows: LevelRows, isReport: boolean): void {
    if (!this.#subsystems.conditions.isOwn(rows.receiverId)) return
    if (performance.now() >= this.#endsAt) this.#advance()
    this.#apply(this.#track(rows), isReport)
  }

  /** Applies the current facts of a receiver, and its levels if they are from a report or were unknown before. */
  #apply(receiver: RecordedReceiver, isReport: boolean): void {
    const { rows, channels } = receiver
    receiver.isReceived ||= rows.receivedAt >= this.#openedAt
    this.#setThresholds(receiver)
    for (const [index, channel] of rows.facts.channels.entries()) {
      const recorded = channels[index]
      if (recorded === undefined) continue
      const facts = toRecordedFacts(rows.facts, channel, receiver.isReceived)
      const isNew = isReport || !recorded.hasLevels
      recorded.hasTransmitter = channel.transmitter !== null
      recorded.hasLevels = hasLevels(facts)
      this.#current.setFacts(recorded.index, facts)
      if (isNew && recorded.hasLevels) this.#fold(recorded, rows.rows[index] ?? 0, performance.now())
    }
  }

  /** Returns the receiver with these rows, which is recorded from now on. */
  #track(rows: LevelRows): RecordedReceiver {
    const known = this.#receivers.get(rows.receiverId)
    if (known?.rows === rows) return known
    const channels = rows.channelIds.map((id) => this.#channelOf(id))
    for (const [index, row] of rows.rows.entries()) this.#channelOfRow[row] = channels[index]
    const receiver = { rows, channels, isReceived: false }
    this.#receivers.set(rows.receiverId, receiver)
    this.#removed = this.#removed.filter((removed) => !channels.includes(removed))
    this.#listed = null
    return receiver
  }

  #channelOf(id: number): RecordedChannel {
    const known = this.#channels.get(id)
    if (known !== undefined) return known
    const index = this.#current.add()
    const channel = { id, index, hasTransmitter: false, weakDbm: Number.NEGATIVE_INFINITY, hasLevels: false }
    this.#channels.set(id, channel)
    return channel
  }

  #setThresholds({ rows: { facts }, channels }: RecordedReceiver): void {
    for (const [index, channel] of facts.channels.entries()) {
      const recorded = channels[index]
      if (recorded !== undefined)
        recorded.weakDbm = this.#subsystems.conditions.thresholdsOf(facts, channel).RF_WEAK_DBM
    }
  }

  /** The channels of a removed receiver are recorded as offline from now on. */
  #remove(rows: LevelRows): void {
    const known = this.#receivers.get(rows.receiverId)
    if (known?.rows !== rows) return
    this.#release(known)
    this.#removed = [...this.#removed, ...known.channels]
    for (const channel of known.channels) {
      channel.hasLevels = false
      this.#current.setFacts(channel.index, removedFacts)
    }
  }

  #release({ rows }: RecordedReceiver): void {
    for (const row of rows.rows) this.#channelOfRow[row] = undefined
    this.#receivers.delete(rows.receiverId)
    this.#listed = null
  }

  /** Records the receivers that this process evaluates now, and no others. */
  #updateReceivers(): void {
    for (const receiver of this.#receivers.values()) {
      if (!this.#subsystems.conditions.isOwn(receiver.rows.receiverId)) this.#release(receiver)
      else if (!receiver.isReceived && receiver.rows.receivedAt >= this.#openedAt) this.#apply(receiver, true)
    }
    for (const id of this.#subsystems.conditions.ownReceivers()) {
      const rows = this.#receivers.has(id) ? undefined : this.#subsystems.levels.rowsOf(id)
      if (rows !== undefined) this.#apply(this.#track(rows), true)
    }
  }

  /** Closes the seconds that have ended since the last call. */
  #advance(): void {
    if (this.#time === null) return
    const at = performance.now()
    const time = this.#now()
    const second = Math.floor(time / 1000)
    const behind = second - this.#time
    // A small correction of the clock lengthens the current second.
    if (behind === 0 || behind === -1) this.#setEnd()
    else if (this.#isInterrupted(behind, at)) {
      this.#close(Math.min(at, this.#endsAt))
      if (behind > 0) this.#pauseReason = 'stopped'
      this.#begin(second)
    } else this.#closeUntil(second, at - time)
  }

  /** True if the clock was set, or if the last levels are outdated because the process was suspended. */
  #isInterrupted(behind: number, at: number): boolean {
    const elapsed = Math.round((at - this.#beganAt) / 1000)
    return behind < 0 || behind > elapsed + 1 || behind > maxCaughtUp
  }

  /** Closes all seconds before `second`. `offset` is the monotonic clock minus the wall clock. */
  #closeUntil(second: number, offset: number): void {
    for (let time = this.#time ?? second; time < second; time += 1) {
      this.#close((time + 1) * 1000 + offset)
      this.#time = time + 1
    }
    this.#beganAt = second * 1000 + offset
    this.#setEnd()
  }

  #setEnd(): void {
    this.#endsAt = performance.now() + ((this.#time ?? 0) + 1) * 1000 - this.#now()
  }

  /** Closes the current second, which ends at the time `at` (`performance.now()`). */
  #close(at: number): void {
    this.#updateReceivers()
    this.#listed ??= this.#list()
    const { channels, ids } = this.#listed
    if (this.#time === null || channels.length === 0) return
    const values = new Int16Array(channels.length * columnCount)
    for (const [position, { index }] of channels.entries()) {
      this.#current.close(index, at, values, position * columnCount)
    }
    this.#closed.push({ after: this.#pauseReason, time: this.#time, channelIds: ids, values })
    this.#pauseReason = null
    if (this.#closed.length <= maxWaiting) return
    this.#closed.shift()
    this.#markDropped()
    this.#setFault('The disk or the database is too slow.')
  }

  #list() {
    const channels = [...[...this.#receivers.values()].flatMap((receiver) => receiver.channels), ...this.#removed]
    return { channels, ids: channels.map(({ id }) => id) }
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    if (this.#stopped.signal.aborted) return
    this.#timer = setTimeout(() => this.#tick(), Math.max(1, Math.ceil(this.#endsAt - performance.now())))
  }

  #tick(): void {
    this.#advance()
    this.#setTimer()
    const time = this.#time ?? 0
    const interval = this.#interval()
    if (time < this.#storeAt && this.#storeAt - time <= interval) return
    this.#storeAt = time + interval
    // The slot of a channel, and so its thresholds, may have changed since its facts were applied.
    for (const receiver of this.#receivers.values()) this.#setThresholds(receiver)
    if (this.#storing === null) void this.#storeClosed()
  }

  #interval(): number {
    if (this.fault !== null) return retryEvery
    return this.#subsystems.leaseManager.hasOtherNodes ? storeEveryShared : storeEvery
  }

  /** Stores the seconds that are closed when it is called, if that is possible. */
  async #storeClosed(): Promise<void> {
    await this.#storing
    this.#storing ??= this.#store().finally(() => {
      this.#storing = null
    })
    await this.#storing
  }

  /** Stores the closed seconds. If that fails, they are dropped. */
  async #store(): Promise<void> {
    const closed = this.#closed
    const [first] = closed
    if (first === undefined) return
    this.#closed = []
    const { history, disk } = this.#subsystems
    try {
      requireSpace(await disk.space())
      const last = first.after === null ? null : ((await history.range())?.last ?? null)
      for (const part of toParts(closed, maxChannelsPerPart)) await history.append(part)
      this.#setFault(null)
      for (const gap of listGaps(closed, last)) this.#reportGap(gap)
      if (this.#closed.length > storeEvery) await this.#store()
    } catch (error) {
      this.#markDropped()
      this.#setFault(error instanceof Error ? error.message : String(error))
    }
  }

  /** Notes that the seconds before the next one that is stored were dropped. */
  #markDropped(): void {
    const [next] = this.#closed
    if (next === undefined) this.#pauseReason = 'storage'
    else this.#closed[0] = { ...next, after: 'storage' }
  }

  /** Reports a gap that has ended, unless another process recorded. */
  #reportGap(gap: RecordingGap): void {
    const { leaseManager, log } = this.#subsystems
    if (gap.until - gap.from < minGap) return
    if (!leaseManager.hasOtherNodes) this.gapEnded.publish(gap)
    else
      this.#confirmGap(gap).catch((error) => {
        log.warn({ error: String(error) }, 'a gap in the history could not be confirmed')
      })
  }

  async #confirmGap(gap: RecordingGap): Promise<void> {
    const { history } = this.#subsystems
    if (!(await pause(confirmGapAfterMs, this.#stopped.signal))) return
    if ((await history.at(gap.from))?.isRecorded !== true) this.gapEnded.publish(gap)
  }

  #setFault(fault: string | null): void {
    // While nothing is recorded, nothing has to be stored.
    if (fault !== null && this.#time === null) return
    const before = this.#fault
    this.#fault = fault
    if (fault === before) return
    const { log } = this.#subsystems
    if (fault === null && before != null) log.info({}, 'levels are recorded again')
    if (fault !== null && before == null) log.error({ error: fault }, 'levels cannot be recorded')
    this.faultChanged.publish(fault)
  }
}

function hasLevels({ letter }: RecordedFacts): boolean {
  return letter !== '-' && letter !== 'x'
}

/** Returns how much of a disk of this size has to be free for levels to be recorded. */
export function requiredFreeBytes(size: number): number {
  return Math.max(minFreeBytes, size * minFreeShare)
}

function requireSpace(space: DiskSpace | null): void {
  if (space === null) return
  const required = requiredFreeBytes(space.size)
  if (space.free >= required) return
  throw new Error(`${toMegabytes(space.free)} MB of disk space are free; ${toMegabytes(required)} MB are required.`)
}

function toMegabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000)
}
