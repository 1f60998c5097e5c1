/**
 * The fast path for levels. Every sample is applied to the LevelStore immediately. All levels that have changed since
 * the last frame are published together. Levels bypass reconciliation and, except for an occasional save, the
 * database.
 */

import type { LevelSample } from '../domain/levels/level-sample.ts'
import type { CachedResponses } from '../platform/cache.ts'
import { now } from '../platform/clock.ts'
import { FrameClock } from '../platform/frame-clock.ts'
import { Topic } from '../platform/topic.ts'
import type { Backlog } from './backlog.ts'
import type { EncodedLevels, LevelRows, LevelStore, LostLevels } from './level-store.ts'

interface Received {
  readonly hasChanged: boolean
  /** When the levels were applied (`performance.now()`). */
  readonly at: number
  /** When they were received, in epoch ms. */
  readonly time: number
}

/** Where samples are from. */
interface Origin {
  /** When they were received, in epoch ms. */
  readonly time: number
  /** True if they are the readings of a report, of which the same array may follow. */
  readonly isReport: boolean
}

export class LevelLane {
  /** The levels of these receivers have changed since the last frame. */
  readonly changed = new Topic<readonly LevelRows[]>()
  /** This process has received levels of the receiver with this id. */
  readonly received = new Topic<number>()
  readonly #levels: LevelStore
  readonly #backlog: Backlog
  readonly #cache: CachedResponses
  readonly #clock = new FrameClock(() => this.publishFrame())
  /** Receivers whose changes since the last frame were all received by other processes, which store them. */
  readonly #remote = new Set<number>()

  constructor(levels: LevelStore, backlog: Backlog, cache: CachedResponses) {
    this.#levels = levels
    this.#backlog = backlog
    this.#cache = cache
  }

  /** Applies samples that have just arrived. Returns whether any level has changed. */
  apply(rows: LevelRows, samples: readonly LevelSample[]): boolean {
    return this.#apply(rows, samples, { time: now(), isReport: false })
  }

  /**
   * Applies readings that were reported at `time` (epoch ms), unless newer levels have arrived since. Returns whether
   * any level has changed.
   */
  applyReported(receiverId: number, readings: readonly LevelSample[], time: number): boolean {
    const rows = this.#levels.rowsOf(receiverId)
    return rows !== undefined && this.#apply(rows, rows.lastSeen <= time ? readings : none, { time, isReport: true })
  }

  /** Applies samples that another process received at `time` (epoch ms) and stores. */
  applyRemote(rows: LevelRows, samples: readonly LevelSample[], time: number): void {
    this.#markRemote(rows)
    this.#store(rows, samples, { time, isReport: false })
  }

  /** Makes levels unknown that were received too long ago. */
  forget(rows: LevelRows, lost: readonly LostLevels[]): void {
    if (!this.#levels.forget(rows, lost, performance.now())) return
    this.#remote.delete(rows.receiverId)
    this.received.publish(rows.receiverId)
    this.#clock.request()
  }

  /** Applies levels that another process has encoded. It received them at `time` (epoch ms), and stores them. */
  applyEncoded(rows: LevelRows, channels: readonly EncodedLevels[], time: number): void {
    const at = performance.now()
    this.#markRemote(rows)
    this.#recordReceived(rows, { hasChanged: this.#levels.applyEncoded(rows, channels, at), at, time })
  }

  /**
   * Publishes the levels that have changed since the last frame. Drops cached REST responses before it notifies
   * subscribers.
   */
  publishFrame(): void {
    const changed = this.#levels.takeChanged()
    for (const { receiverId } of changed) if (!this.#remote.has(receiverId)) this.#backlog.add(receiverId)
    this.#remote.clear()
    for (const manufacturer of new Set(changed.map((rows) => rows.manufacturer))) this.#cache.drop(manufacturer)
    this.changed.publish(changed)
  }

  stop(): void {
    this.#clock.stop()
  }

  /** Returns whether any level has changed. */
  #apply(rows: LevelRows, samples: readonly LevelSample[], origin: Origin): boolean {
    this.#remote.delete(rows.receiverId)
    const hasChanged = this.#store(rows, samples, origin)
    this.received.publish(rows.receiverId)
    return hasChanged
  }

  #store(rows: LevelRows, samples: readonly LevelSample[], { time, isReport }: Origin): boolean {
    const at = performance.now()
    const levels = this.#levels
    const hasChanged = isReport ? levels.applyReported(rows, samples, at) : levels.apply(rows, samples, at)
    this.#recordReceived(rows, { hasChanged, at, time })
    return hasChanged
  }

  #recordReceived(rows: LevelRows, { hasChanged, at, time }: Received): void {
    this.#levels.markReceived(rows, at, time)
    if (hasChanged) this.#clock.request()
  }

  #markRemote(rows: LevelRows): void {
    if (!rows.isInFrame) this.#remote.add(rows.receiverId)
  }
}

const none: readonly LevelSample[] = []
