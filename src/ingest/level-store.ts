/** The newest levels of every channel, in typed arrays with one row per channel. */

import type { WatchedValues } from '../domain/conditions/level-watch.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import type { RecordedValues } from '../domain/history/second.ts'
import type { LevelKind } from '../domain/levels/level-sample.ts'
import { type LevelDetail, type LevelSample, levelDetails, levelFields } from '../domain/levels/level-sample.ts'
import { entryLevels, unlistedLevels } from '../domain/live/lists.ts'
import {
  absent,
  columnOf,
  columns,
  columnsOfKind,
  detailColumn,
  encode,
  toChannel,
  transmitterColumn,
  unknown,
} from './level-columns.ts'

/** The rows of one receiver. */
export interface LevelRows {
  readonly receiverId: number
  readonly manufacturer: string
  /** False once the receiver was removed or got other rows. */
  isCurrent: boolean
  /** The receiver's newest record. Its facts are current; its levels may not be. */
  facts: Receiver
  /** Increases whenever `facts` is replaced by a record that may differ in more than levels. */
  factsVersion: number
  readonly channelIds: readonly number[]
  /** The row of each channel, in the order of the receiver's channels. */
  readonly rows: readonly number[]
  /** The row of each channel, by channel number. */
  readonly rowByNumber: readonly (number | undefined)[]
  /** When a report of the receiver last arrived (`performance.now()`). */
  receivedAt: number
  /** The same time in epoch milliseconds. */
  lastSeen: number
  /** Increases whenever a level changes or a record is loaded, but not if only conditions change. */
  version: number
  /** True if the receiver's record lacks these levels or this time. */
  isNewerThanRecord: boolean
  /** True if levels have changed since the last frame. */
  isInFrame: boolean
  /** The samples of the last report, if nothing has changed the levels since; otherwise null. */
  lastSamples: readonly LevelSample[] | null
}

/**
 * Is called for every sample that arrives, even if it changes nothing, but not for those of a report that is the same as
 * the last one. `at` is a `performance.now()` time.
 */
export type SampleListener = (row: number, at: number) => void

export interface RecordListener {
  /** Called after a record with levels was loaded. */
  loaded(rows: LevelRows): void
  /** Called after a record was replaced by one with the same levels. */
  factsChanged(rows: LevelRows): void
  /** Called after a receiver was removed, and before it gets other rows. */
  removed(rows: LevelRows): void
}

/** The number of values in `EncodedLevels`. */
export const encodedCount = columns

/** All levels of one channel. */
export interface EncodedLevels {
  /** The channel's number in its receiver. */
  readonly channel: number
  /** One value for each column; `noLevel` if the level was never reported. */
  readonly values: Int16Array
}

/** Stands for both `absent` and `unknown` in announced levels, and for `absent` in encoded ones. */
export const noLevel = absent

const detailColumns: Readonly<Record<string, number>> = Object.fromEntries(
  levelDetails.map((name, index) => [name, detailColumn + index]),
)

/** Levels of one kind of a channel that are no longer valid. */
export interface LostLevels {
  readonly row: number
  readonly kind: LevelKind
}

const watchedColumns = {
  rf_a: columnOf('rf_a'),
  rf_b: columnOf('rf_b'),
  rf_c: columnOf('rf_c'),
  rf_d: columnOf('rf_d'),
  antennas: columnOf('antennas'),
  quality: columnOf('quality'),
  audio_peak: columnOf('audio_peak'),
  audio_rms: columnOf('audio_rms'),
} as const

/** The columns of the announced levels. `readAnnounced` prefers the transmitter's levels to the channel's own. */
const announcedColumns = [...entryLevels, ...unlistedLevels].map(
  (name) => detailColumns[name] ?? (levelFields as readonly string[]).indexOf(name),
)
export const announcedCount = announcedColumns.length

export class LevelStore {
  #values = new Int16Array(64 * columns)
  #rowCount = 0
  readonly #freeRows: number[] = []
  readonly #rowsOfReceiver = new Map<number, LevelRows>()
  readonly #changed = new Set<LevelRows>()
  readonly #sampleListeners: SampleListener[] = []
  readonly #recordListeners: RecordListener[] = []

  /** Passes every sample from now on to the listener. */
  listen(onSample: SampleListener): void {
    this.#sampleListeners.push(onSample)
  }

  /** Notifies the listener of every record from now on. */
  listenToRecords(listener: RecordListener): void {
    this.#recordListeners.push(listener)
  }

  rowsOf(receiverId: number): LevelRows | undefined {
    return this.#rowsOfReceiver.get(receiverId)
  }

  /** Loads the levels of a record, which replace the known ones. */
  load(receiver: Receiver, receivedAt: number): void {
    const before = this.#rowsOfReceiver.get(receiver.id)
    const rows = before !== undefined && this.#hasSameRows(before, receiver) ? before : this.#allocate(receiver, before)
    rows.facts = receiver
    rows.factsVersion += 1
    rows.version += 1
    rows.receivedAt = receivedAt
    rows.lastSeen = receiver.last_seen
    rows.isNewerThanRecord = false
    rows.lastSamples = null
    for (const [index, channel] of receiver.channels.entries()) this.#loadChannel(rows.rows[index] ?? 0, channel)
    for (const listener of this.#recordListeners) listener.loaded(rows)
  }

  /** Replaces the record of a receiver with one that has the same channels and levels. */
  setFacts(receiver: Receiver): void {
    const rows = this.#rowsOfReceiver.get(receiver.id)
    if (rows === undefined) return
    rows.facts = receiver
    rows.factsVersion += 1
    for (const listener of this.#recordListeners) listener.factsChanged(rows)
  }

  /** Lists the receivers whose last report arrived after `time` (epoch ms). */
  listSeenAfter(time: number): readonly number[] {
    return [...this.#rowsOfReceiver.values()]
      .filter(({ lastSeen }) => lastSeen > time)
      .map(({ receiverId }) => receiverId)
  }

  remove(receiverId: number): void {
    const rows = this.#rowsOfReceiver.get(receiverId)
    if (rows === undefined) return
    rows.isCurrent = false
    this.#rowsOfReceiver.delete(receiverId)
    this.#changed.delete(rows)
    this.#freeRows.push(...rows.rows)
    for (const listener of this.#recordListeners) listener.removed(rows)
  }

  differs(rows: LevelRows, sample: LevelSample): boolean {
    const row = rows.rowByNumber[sample.channel]
    return row !== undefined && this.#merge(row * columns, sample, false)
  }

  /** Records that a report of the receiver arrived. `at` is a `performance.now()` time, `time` the same in epoch ms. */
  markReceived(rows: LevelRows, at: number, time: number): void {
    rows.receivedAt = at
    if (time <= rows.lastSeen) return
    rows.lastSeen = time
    rows.isNewerThanRecord = true
  }

  /**
   * Merges the samples of a report, and returns whether any level has changed. If it is the array of the last report, and
   * no other samples have arrived since, nothing is done.
   */
  applyReported(rows: LevelRows, samples: readonly LevelSample[], at: number): boolean {
    if (samples === rows.lastSamples) return false
    const hasChanged = this.apply(rows, samples, at)
    if (samples.length > 0) rows.lastSamples = samples
    return hasChanged
  }

  /**
   * Merges the samples into the rows of their channels, and returns whether any level has changed. A sample of an
   * unknown channel is ignored.
   */
  apply(rows: LevelRows, samples: readonly LevelSample[], at: number): boolean {
    let hasChanged = false
    if (samples.length > 0) rows.lastSamples = null
    for (const sample of samples) {
      const row = rows.rowByNumber[sample.channel]
      if (row === undefined) continue
      if (this.#merge(row * columns, sample, true)) hasChanged = true
      for (const onSample of this.#sampleListeners) onSample(row, at)
    }
    if (hasChanged) this.#recordChange(rows)
    return hasChanged
  }

  /** Returns the levels of all channels of a receiver, for `applyEncoded`. They are valid until a level changes. */
  encode({ rows, facts }: LevelRows): readonly EncodedLevels[] {
    return facts.channels.map(({ channel }, index) => {
      const start = (rows[index] ?? 0) * columns
      return { channel, values: this.#values.subarray(start, start + columns) }
    })
  }

  /**
   * Replaces the levels of the channels, and returns whether any has changed. An unknown channel is ignored, and a level
   * that was never reported keeps its value.
   */
  applyEncoded(rows: LevelRows, channels: readonly EncodedLevels[], at: number): boolean {
    let hasChanged = false
    rows.lastSamples = null
    for (const { channel, values } of channels) {
      const row = rows.rowByNumber[channel]
      if (row === undefined) continue
      for (const [column, value] of values.entries()) {
        if (value !== absent && this.#set(row * columns + column, value, true)) hasChanged = true
      }
      for (const onSample of this.#sampleListeners) onSample(row, at)
    }
    if (hasChanged) this.#recordChange(rows)
    return hasChanged
  }

  hasKnown(row: number, kind: LevelKind): boolean {
    return columnsOfKind[kind].some((column) => (this.#values[row * columns + column] ?? absent) > unknown)
  }

  /** Makes levels unknown that were received too long ago. Returns whether any was known. */
  forget(rows: LevelRows, lost: readonly LostLevels[], at: number): boolean {
    const changed = lost.filter(({ row, kind }) => this.hasKnown(row, kind))
    if (changed.length === 0) return false
    rows.lastSamples = null
    for (const { row, kind } of changed) {
      for (const column of columnsOfKind[kind]) {
        if ((this.#values[row * columns + column] ?? absent) > unknown) this.#values[row * columns + column] = unknown
      }
      for (const onSample of this.#sampleListeners) onSample(row, at)
    }
    this.#recordChange(rows)
    return true
  }

  /** Returns the receivers whose levels have changed since the last call. */
  takeChanged(): readonly LevelRows[] {
    const changed = [...this.#changed]
    for (const rows of changed) rows.isInFrame = false
    this.#changed.clear()
    return changed
  }

  /**
   * Returns the record with the newest levels and the time of the last report. Unchanged channels stay the same
   * objects.
   */
  toRecord(receiver: Receiver): Receiver {
    const rows = this.#rowsOfReceiver.get(receiver.id)
    if (rows === undefined || !rows.isNewerThanRecord) return receiver
    rows.isNewerThanRecord = false
    let channels: Channel[] | undefined
    for (const [index, channel] of receiver.channels.entries()) {
      const current = toChannel(this.#values, (rows.rows[index] ?? 0) * columns, channel)
      if (current === channel) continue
      channels ??= [...receiver.channels]
      channels[index] = current
    }
    rows.facts = { ...receiver, last_seen: rows.lastSeen, channels: channels ?? receiver.channels }
    return rows.facts
  }

  /**
   * Remembers these receivers with their levels, without building records. The returned function returns a receiver as
   * it was; undefined if nothing but its conditions has changed since, or if it was not known.
   */
  remember(receiverIds: Iterable<number>): (receiverId: number) => Receiver | undefined {
    const remembered = new Map<number, { rows: LevelRows; version: number; facts: Receiver; start: number }>()
    let length = 0
    for (const id of receiverIds) {
      const rows = this.#rowsOfReceiver.get(id)
      if (rows === undefined || remembered.has(id)) continue
      remembered.set(id, { rows, version: rows.version, facts: rows.facts, start: length })
      length += rows.rows.length * columns
    }
    const current = this.#values
    const values = new Int16Array(length)
    let end = 0
    for (const { rows } of remembered.values()) {
      for (const row of rows.rows) {
        const start = row * columns
        for (let index = start; index < start + columns; index += 1) values[end++] = current[index] ?? absent
      }
    }
    return (id) => {
      const known = remembered.get(id)
      if (known === undefined) return undefined
      const { rows, version, facts, start } = known
      if (rows.isCurrent && rows.version === version) return undefined
      const channels = facts.channels.map((channel, index) => toChannel(values, start + index * columns, channel))
      return { ...facts, channels }
    }
  }

  /**
   * Writes the announced levels of a channel to `target`: first `entryLevels`, then `unlistedLevels`. The RF
   * and audio levels are the transmitter's if it reports them. `index` is the position of the channel in its receiver.
   */
  readAnnounced({ rows, facts }: LevelRows, index: number, target: Int16Array): void {
    const start = (rows[index] ?? 0) * columns
    const hasTransmitter = facts.channels[index]?.transmitter != null
    for (let position = 0; position < announcedColumns.length; position += 1) {
      const column = announcedColumns[position] ?? 0
      let value = this.#values[start + column] ?? absent
      if (hasTransmitter && column < transmitterColumn) {
        const transmitted = this.#values[start + transmitterColumn + column] ?? absent
        if (transmitted > unknown) value = transmitted
      }
      target[position] = value > unknown ? value : noLevel
    }
  }

  /** Writes the levels of a row to `values`; the transmitter's replace the channel's own, if there is a transmitter. */
  readWatched(row: number, values: WatchedValues): void {
    const start = row * columns
    const transmitterStart = values.hasTransmitter ? start + transmitterColumn : start
    values.rf = this.#firstKnown(transmitterStart, start)
    values.rfA = this.#firstKnown(start + watchedColumns.rf_a, start + watchedColumns.rf_a)
    values.rfB = this.#firstKnown(start + watchedColumns.rf_b, start + watchedColumns.rf_b)
    values.rfC = this.#firstKnown(start + watchedColumns.rf_c, start + watchedColumns.rf_c)
    values.rfD = this.#firstKnown(start + watchedColumns.rf_d, start + watchedColumns.rf_d)
    const antennas = this.#values[start + watchedColumns.antennas] ?? absent
    values.antennas = antennas > unknown ? antennas : -1
    values.quality = this.#firstKnown(start + watchedColumns.quality, start + watchedColumns.quality)
    const peak = this.#values[start + watchedColumns.audio_peak] ?? absent
    values.peak = peak > unknown ? peak : this.#firstKnown(transmitterStart + 1, start + 1)
  }

  /**
   * Writes the levels of a row to `values`, as `readWatched` does. Also writes the RMS audio level; falls back to
   * the only audio level if the equipment reports no RMS.
   */
  readRecorded(row: number, values: RecordedValues): void {
    this.readWatched(row, values)
    const start = row * columns
    const rms = this.#values[start + watchedColumns.audio_rms] ?? absent
    const transmitterStart = values.hasTransmitter ? start + transmitterColumn : start
    values.rms = rms > unknown ? rms : this.#firstKnown(transmitterStart + 1, start + 1)
  }

  #recordChange(rows: LevelRows): void {
    rows.version += 1
    rows.isNewerThanRecord = true
    if (rows.isInFrame) return
    rows.isInFrame = true
    this.#changed.add(rows)
  }

  /** Returns the first value, else the second; NaN if neither is known. */
  #firstKnown(first: number, second: number): number {
    const value = this.#values[first] ?? absent
    if (value > unknown) return value
    const other = this.#values[second] ?? absent
    return other > unknown ? other : Number.NaN
  }

  #hasSameRows(rows: LevelRows, { channels, manufacturer }: Receiver): boolean {
    if (rows.manufacturer !== manufacturer || rows.rows.length !== channels.length) return false
    return channels.every(
      ({ id, channel }, index) => rows.channelIds[index] === id && rows.rowByNumber[channel] === rows.rows[index],
    )
  }

  #allocate(receiver: Receiver, before: LevelRows | undefined): LevelRows {
    if (before !== undefined) this.remove(receiver.id)
    const rowByNumber: number[] = []
    const rows = receiver.channels.map(({ channel }) => {
      const row = this.#freeRows.pop() ?? this.#rowCount++
      rowByNumber[channel] = row
      return row
    })
    while (this.#rowCount * columns > this.#values.length) {
      const larger = new Int16Array(2 * this.#values.length)
      larger.set(this.#values)
      this.#values = larger
    }
    const { id: receiverId, manufacturer, last_seen: lastSeen } = receiver
    const allocated: LevelRows = {
      receiverId,
      manufacturer,
      facts: receiver,
      channelIds: receiver.channels.map(({ id }) => id),
      rows,
      rowByNumber,
      lastSeen,
      factsVersion: before?.factsVersion ?? 0,
      version: before?.version ?? 0,
      isCurrent: true,
      receivedAt: Number.NEGATIVE_INFINITY,
      isNewerThanRecord: false,
      isInFrame: false,
      lastSamples: null,
    }
    this.#rowsOfReceiver.set(receiverId, allocated)
    return allocated
  }

  #loadChannel(row: number, { rf_level, audio_level, transmitter, details }: Channel): void {
    const values = this.#values
    const start = row * columns
    values[start] = rf_level ?? unknown
    values[start + 1] = audio_level ?? unknown
    values[start + transmitterColumn] = transmitter?.rf_level ?? unknown
    values[start + transmitterColumn + 1] = transmitter?.audio_level ?? unknown
    for (const [index, name] of levelDetails.entries()) values[start + detailColumn + index] = encode(details?.[name])
  }

  /** Compares the sample with the row and, if `isStored`, stores it. Returns whether anything differs. */
  #merge(start: number, sample: LevelSample, isStored: boolean): boolean {
    const { rf_level, audio_level, transmitter, details } = sample
    let differs = false
    if (rf_level !== undefined && this.#set(start, rf_level ?? unknown, isStored)) differs = true
    if (audio_level !== undefined && this.#set(start + 1, audio_level ?? unknown, isStored)) differs = true
    if (transmitter !== undefined && transmitter !== null) {
      const { rf_level: rf, audio_level: audio } = transmitter
      if (rf !== undefined && this.#set(start + transmitterColumn, rf ?? unknown, isStored)) differs = true
      if (audio !== undefined && this.#set(start + transmitterColumn + 1, audio ?? unknown, isStored)) differs = true
    }
    for (const name in details) {
      const column = detailColumns[name as LevelDetail]
      const value = details[name as LevelDetail]
      if (column === undefined || value === undefined) continue
      if (this.#set(start + column, encode(value), isStored)) differs = true
    }
    return differs
  }

  #set(index: number, value: number, isStored: boolean): boolean {
    if (this.#values[index] === value) return false
    if (isStored) this.#values[index] = value
    return true
  }
}
