/**
 * The fast path for levels: every sample is applied to the LevelStore immediately, and all levels that have changed
 * since the last frame are published together. Levels bypass reconciliation and, except for an occasional save, the
 * database.
 */

import type { LevelSample } from '../domain/levels/level-sample.ts'
import type { Cache } from '../platform/cache.ts'
import { FrameClock } from '../platform/frame-clock.ts'
import { Topic } from '../platform/topic.ts'
import type { Backlog } from './backlog.ts'
import type { EncodedLevels, LevelRows, LevelStore, LostLevels } from './level-store.ts'

export interface LevelLaneDeps {
  readonly levels: LevelStore
  readonly backlog: Pick<Backlog, 'add'>
  readonly cache: Pick<Cache<unknown>, 'drop'>
  /** Called with the id of every receiver of which this process has received levels. */
  onReceived(receiverId: number): void
  /** The wall-clock time in epoch ms. */
  now(): number
}

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
  /** Whether they are the readings of a report, of which the same array may follow. */
  readonly isReport: boolean
}

export class LevelLane {
  /** The levels of these receivers have changed since the last frame. */
  readonly changed = new Topic<readonly LevelRows[]>()
  readonly #deps: LevelLaneDeps
  readonly #clock = new FrameClock(() => this.publishFrame())
  /** Receivers whose changes since the last frame were all received by other processes, which store them. */
  readonly #remote = new Set<number>()

  constructor(deps: LevelLaneDeps) {
    this.#deps = deps
  }

  /** Applies samples that have just arrived. Returns whether any level has changed. */
  apply(rows: LevelRows, samples: readonly LevelSample[]): boolean {
    return this.#apply(rows, samples, { time: this.#deps.now(), isReport: false })
  }

  /**
   * Applies readings that were reported at `time` (epoch ms), unless newer levels have arrived since. Returns whether
   * any level has changed.
   */
  applyReported(receiverId: number, readings: readonly LevelSample[], time: number): boolean {
    const rows = this.#deps.levels.rowsOf(receiverId)
    return rows !== undefined && this.#apply(rows, rows.lastSeen <= time ? readings : none, { time, isReport: true })
  }

  /** Applies samples that another process received at `time` (epoch ms) and stores. */
  applyRemote(rows: LevelRows, samples: readonly LevelSample[], time: number): void {
    this.#markRemote(rows)
    this.#store(rows, samples, { time, isReport: false })
  }

  /** Makes levels unknown that were received too long ago. */
  forget(rows: LevelRows, lost: readonly LostLevels[]): void {
    if (!this.#deps.levels.forget(rows, lost, performance.now())) return
    this.#remote.delete(rows.receiverId)
    this.#deps.onReceived(rows.receiverId)
    this.#clock.request()
  }

  /** Applies levels that another process has encoded. It received them at `time` (epoch ms), and stores them. */
  applyEncoded(rows: LevelRows, channels: readonly EncodedLevels[], time: number): void {
    const at = performance.now()
    this.#markRemote(rows)
    this.#recordReceived(rows, { hasChanged: this.#deps.levels.applyEncoded(rows, channels, at), at, time })
  }

  /**
   * Publishes the levels that have changed since the last frame. Drops cached REST responses before it notifies
   * subscribers.
   */
  publishFrame(): void {
    const { levels, backlog, cache } = this.#deps
    const changed = levels.takeChanged()
    for (const { receiverId } of changed) if (!this.#remote.has(receiverId)) backlog.add(receiverId)
    this.#remote.clear()
    for (const manufacturer of new Set(changed.map((rows) => rows.manufacturer))) cache.drop(manufacturer)
    this.changed.publish(changed)
  }

  stop(): void {
    this.#clock.stop()
  }

  /** Returns whether any level has changed. */
  #apply(rows: LevelRows, samples: readonly LevelSample[], origin: Origin): boolean {
    this.#remote.delete(rows.receiverId)
    const hasChanged = this.#store(rows, samples, origin)
    this.#deps.onReceived(rows.receiverId)
    return hasChanged
  }

  #store(rows: LevelRows, samples: readonly LevelSample[], { time, isReport }: Origin): boolean {
    const { levels } = this.#deps
    const at = performance.now()
    const hasChanged = isReport ? levels.applyReported(rows, samples, at) : levels.apply(rows, samples, at)
    this.#recordReceived(rows, { hasChanged, at, time })
    return hasChanged
  }

  #recordReceived(rows: LevelRows, { hasChanged, at, time }: Received): void {
    this.#deps.levels.markReceived(rows, at, time)
    if (hasChanged) this.#clock.request()
  }

  #markRemote(rows: LevelRows): void {
    if (!rows.isInFrame) this.#remote.add(rows.receiverId)
  }
}

const none: readonly LevelSample[] = []
