/**
 * When the levels of every channel were last received. A level that is not received again while it is valid becomes
 * unknown, whatever else the device reports. Only levels that this process receives have an age.
 */

import type { LevelsStatus } from '../domain/conditions/evaluate.ts'
import type { ChannelReading, Receiver } from '../domain/equipment/receiver.ts'
import {
  type DeviceLevels,
  isExpected,
  isOptional,
  kindsOfSample,
  type LevelKind,
  type LevelSample,
  levelKinds,
  levelLifetimeMs,
  queryLevelsEveryMs,
  withoutLevels,
} from '../domain/levels/level-sample.ts'

import { Topic } from '../platform/topic.ts'
import type { LevelArrival } from './level-arrivals.ts'
import type { LevelRows, LevelStore, LostLevels } from './level-store.ts'

/** Levels of a receiver that are no longer valid. */
export interface LevelsLost {
  readonly rows: LevelRows
  readonly lost: readonly LostLevels[]
}

/**
 * Of the levels of one kind of a channel. `awaited`: none has arrived yet. `first`: optional samples have arrived at one
 * time only, as a device that does not send them may report at the beginning. `idle`: none is due.
 */
const statuses = ['none', 'awaited', 'first', 'current', 'lost', 'idle'] as const
type Status = (typeof statuses)[number]
const codes = Object.fromEntries(statuses.map((status, code) => [status, code])) as Record<Status, number>

const checkEveryMs = 500
/** Samples that arrive within this time count as one. */
const sameTimeMs = 1000

export class LevelAges {
  /** Levels were lost. The subscriber makes them unknown. */
  readonly lost = new Topic<LevelsLost>()
  /** Levels of the receiver with this id are received again. */
  readonly found = new Topic<number>()
  readonly #levels: LevelStore
  readonly #arrivals = new Map<LevelRows, LevelArrival>()
  /** Two values for each row of the LevelStore, in the order of `levelKinds`. */
  #status = new Uint8Array(64)
  /** When the levels last arrived, or began to be awaited (`performance.now()`). */
  #since = new Float64Array(64)
  readonly #timer: NodeJS.Timeout

  constructor(levels: LevelStore) {
    this.#levels = levels
    this.#timer = setInterval(() => this.check(), checkEveryMs).unref()
    levels.listenToRecords({
      loaded() {},
      factsChanged() {},
      removed: (rows) => this.forget(rows),
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Records samples that have just arrived, even if they changed nothing. */
  received(rows: LevelRows, samples: readonly LevelSample[], arrival: LevelArrival): void {
    if (this.#arrivals.get(rows) !== arrival) this.#arrivals.set(rows, arrival)
    const now = performance.now()
    let isFound = false
    for (const sample of samples) {
      const row = rows.rowByNumber[sample.channel]
      if (row === undefined) continue
      for (const kind of kindsOfSample(sample)) {
        const delivery = arrival.levels[kind]
        if (delivery === null) continue
        const index = this.#indexOf(row, kind)
        const status = this.#status[index]
        if (status === codes.lost) isFound = true
        if (status === codes.first && now - (this.#since[index] ?? 0) < sameTimeMs) continue
        const isFirst = isOptional(delivery) && (status === codes.none || status === codes.idle)
        this.#status[index] = isFirst ? codes.first : codes.current
        this.#since[index] = now
      }
    }
    if (isFound) this.found.publish(rows.receiverId)
  }

  /** Records a report of a receiver, and awaits the levels that it should send. */
  reported(receiver: Receiver, samples: readonly LevelSample[], arrival: LevelArrival): void {
    const rows = this.#levels.rowsOf(receiver.id)
    if (rows === undefined) return
    this.received(rows, samples, arrival)
    for (const [index, { transmitter }] of rows.facts.channels.entries()) {
      const row = rows.rows[index]
      const isDue = arrival.levels.needsTransmitter !== true || transmitter !== null
      if (row !== undefined) for (const kind of levelKinds) this.#await(row, kind, { arrival, isDue })
    }
  }

  /** Returns whether the levels of a channel are current. */
  statusOf(receiverId: number, channel: number): LevelsStatus {
    const row = this.#levels.rowsOf(receiverId)?.rowByNumber[channel]
    if (row === undefined) return 'unknown'
    const current = levelKinds.map((kind) => statuses[this.#status[this.#indexOf(row, kind)] ?? 0])
    if (current.includes('lost')) return 'lost'
    if (current.includes('awaited')) return 'unknown'
    return current.some((status) => status === 'current' || status === 'first' || status === 'idle')
      ? 'current'
      : 'unknown'
  }

  /** True if levels of the receiver are due at a fixed rate. */
  awaitsSamples(receiverId: number): boolean {
    const rows = this.#levels.rowsOf(receiverId)
    const levels = rows && this.#arrivals.get(rows)?.levels
    if (levels === undefined) return false
    const sampled = levelKinds.filter((kind) => isExpected(levels[kind]))
    return sampled.some((kind) =>
      rows?.rows.some((row, index) => {
        const status = statuses[this.#status[this.#indexOf(row, kind)] ?? 0]
        return status !== 'none' && status !== 'idle' && isDue(rows, index, levels)
      }),
    )
  }

  /**
   * True if polled levels of the receiver are older than `queryLevelsEveryMs`. They may be unchanged, so a poll must
   * confirm them.
   */
  needsPoll(receiverId: number): boolean {
    const rows = this.#levels.rowsOf(receiverId)
    const levels = rows && this.#arrivals.get(rows)?.levels
    if (levels === undefined) return false
    return levelKinds.some(
      (kind) => levels[kind]?.kind === 'polled' && rows?.rows.some((row) => this.#isOld(row, kind)),
    )
  }

  /** Returns the readings without the levels that were received after that time (`performance.now()`). */
  withoutNewer({ rowByNumber }: LevelRows, readings: readonly ChannelReading[], time: number): ChannelReading[] {
    return readings.map((reading) => {
      const row = rowByNumber[reading.channel]
      if (row === undefined) return reading
      const isNewer = (kind: LevelKind) => {
        const index = this.#indexOf(row, kind)
        return this.#isKnown(index) && (this.#since[index] ?? 0) > time
      }
      return withoutLevels(reading, levelKinds.filter(isNewer))
    })
  }

  /** Publishes the levels that are no longer valid. */
  check(): void {
    const now = performance.now()
    for (const [rows, arrival] of this.#arrivals) {
      const lost = this.#takeLost(rows, arrival, now)
      if (lost.length > 0) this.lost.publish({ rows, lost })
    }
  }

  /** Forgets the ages of all levels of a receiver. */
  forget(rows: LevelRows): void {
    this.#arrivals.delete(rows)
    for (const row of rows.rows) for (const kind of levelKinds) this.#status[this.#indexOf(row, kind)] = codes.none
  }

  #takeLost(rows: LevelRows, { levels, intervalMs }: LevelArrival, now: number): readonly LostLevels[] {
    const lost: LostLevels[] = []
    for (const [index, row] of rows.rows.entries()) {
      const isExpectedNow = isDue(rows, index, levels)
      for (const kind of levelKinds) {
        const at = this.#indexOf(row, kind)
        const status = this.#status[at]
        const delivery = levels[kind]
        if (delivery === null || (status !== codes.awaited && !this.#isKnown(at))) continue
        if (now - (this.#since[at] ?? 0) < levelLifetimeMs(delivery, intervalMs)) continue
        if (status === codes.first) this.#status[at] = codes.none
        else this.#status[at] = isExpectedNow ? codes.lost : codes.idle
        lost.push({ row, kind })
      }
    }
    return lost
  }

  #await(row: number, kind: LevelKind, { arrival, isDue }: { arrival: LevelArrival; isDue: boolean }): void {
    const delivery = arrival.levels[kind]
    const index = this.#indexOf(row, kind)
    const status = this.#status[index]
    if (delivery === null || status === codes.awaited || this.#isKnown(index)) return
    if (!isDue) this.#status[index] = codes.idle
    else if (status === codes.idle || (status === codes.none && this.#shouldArrive(row, kind, arrival))) {
      this.#status[index] = codes.awaited
      this.#since[index] = performance.now()
    }
  }

  #isKnown(index: number): boolean {
    return this.#status[index] === codes.first || this.#status[index] === codes.current
  }

  #shouldArrive(row: number, kind: LevelKind, { levels }: LevelArrival): boolean {
    return isExpected(levels[kind]) || this.#levels.hasKnown(row, kind)
  }

  /** False for levels that have never arrived. */
  #isOld(row: number, kind: LevelKind): boolean {
    const at = this.#indexOf(row, kind)
    const status = this.#status[at]
    if (status !== codes.current && status !== codes.lost) return false
    return performance.now() - (this.#since[at] ?? 0) >= queryLevelsEveryMs
  }

  #indexOf(row: number, kind: LevelKind): number {
    const index = 2 * row + (kind === 'rf' ? 0 : 1)
    while (index >= this.#status.length) {
      const [status, since] = [new Uint8Array(2 * index), new Float64Array(2 * index)]
      status.set(this.#status)
      since.set(this.#since)
      this.#status = status
      this.#since = since
    }
    return index
  }
}

/** `index` is that of the channel in its receiver. */
function isDue({ facts }: LevelRows, index: number, { needsTransmitter }: DeviceLevels): boolean {
  return needsTransmitter !== true || facts.channels[index]?.transmitter != null
}
