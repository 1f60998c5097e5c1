/**
 * Reads the parts of devices that the upstream's device list omits (identity and levels), within the upstream's
 * rate limit.
 */

import type { LevelArrivals } from '../ingest/level-arrivals.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { RememberedDevice } from './device-memory.ts'
import type { CycleStart, SourceDevices } from './source-devices.ts'

export interface LevelsRead {
  readonly start: CycleStart
  /** True if they were already read since the subscription connected. */
  readonly isRepeated: boolean
}

export interface ReadPartsOptions {
  readonly signal: AbortSignal
  readonly intervalMs: number
  readonly start: CycleStart
  /** If true, the identity of every device is read, regardless of the budget. May become true during the cycle. */
  isComplete(): boolean
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  /**
   * Called with a subscribed device whose levels were read, because the subscription may deliver newer levels before
   * the cycle ends. Omit to store nothing.
   */
  readonly onLevelsRead?: ((entry: RememberedDevice, read: LevelsRead) => Promise<void>) | undefined
}

/** The share of the upstream's rate limit that polling may use. */
const budgetShare = 0.8

export class PartReader {
  readonly #source: MonitoredSource
  readonly #devices: SourceDevices
  readonly #levelArrivals: LevelArrivals
  #hasRead = false
  /** The number of requests that remain in this cycle. */
  #budget = 0
  /** The number of requests that earlier cycles sent beyond their budget, and that later cycles save. */
  #owed = 0

  constructor(source: MonitoredSource, devices: SourceDevices, levelArrivals: LevelArrivals) {
    this.#levelArrivals = levelArrivals
    this.#source = source
    this.#devices = devices
  }

  /** Reads identities first, then levels, least recently read first. */
  async read(entries: readonly RememberedDevice[], options: ReadPartsOptions): Promise<void> {
    const { rateLimit } = this.#source.settings
    const allowed = Math.floor(budgetShare * (options.intervalMs / 1000) * rateLimit.perSecond)
    // Reading the list was one request. The first cycle may use the whole burst.
    const perCycle = Math.max(1, Math.max(allowed, this.#hasRead ? 0 : rateLimit.burst) - 1)
    this.#budget = Math.max(0, perCycle - this.#owed)
    this.#owed = Math.max(0, this.#owed - perCycle)
    this.#hasRead = true
    await this.#readIdentities(entries, options, performance.now())
    const { due, parts } = await this.#findDueLevels(entries, options)
    const cyclesPerRound = Math.max(1, Math.ceil(parts / Math.max(1, allowed - 1)))
    this.#levelArrivals.setCyclesPerRound(this.#source, cyclesPerRound)
    await this.#readLevels(due, options)
  }

  async #readIdentities(entries: readonly RememberedDevice[], options: ReadPartsOptions, time: number): Promise<void> {
    const due = entries.filter((entry) => this.#devices.isIdentityDue(entry, time))
    const unidentified = due.filter(({ translation }) => !translation.hasIdentity)
    const identified = due.filter(({ translation }) => translation.hasIdentity)
    const affordable = Math.max(0, this.#budget)
    for (const [done, entry] of unidentified.entries()) {
      const isComplete = options.isComplete()
      if (done >= affordable && !isComplete) break
      await this.#readIdentity(entry, options, time)
      options.onProgress?.(done + 1, isComplete ? unidentified.length : Math.min(unidentified.length, affordable))
    }
    // Devices with a known identity can wait: half of the remaining budget is reserved for levels.
    const share = Math.max(0, Math.ceil(this.#budget / 2))
    for (const entry of identified.slice(0, share)) await this.#readIdentity(entry, options, time)
  }

  async #readIdentity(entry: RememberedDevice, { signal }: ReadPartsOptions, time: number): Promise<void> {
    entry.device = await this.#devices.adapter.readPart(this.#source.client, entry.device, 'identity', signal)
    entry.identityAt = time
    this.#budget -= 1
  }

  /**
   * Returns the devices whose levels must be read separately, and the number of requests for the levels of all devices.
   * Levels in the list count as read when the cycle began. A subscription that was connected while the list was
   * in transit has not reported earlier changes.
   */
  async #findDueLevels(
    entries: readonly RememberedDevice[],
    options: ReadPartsOptions,
  ): Promise<{ readonly due: RememberedDevice[]; readonly parts: number }> {
    let parts = 0
    const { start } = options
    const due: RememberedDevice[] = []
    for (const entry of entries) {
      const { hasIdentity, levelParts } = this.#devices.translationOf(entry)
      parts += levelParts.length
      if (hasIdentity && this.#devices.areLevelsDue(entry)) {
        if (levelParts.length > 0) due.push(entry)
        else await this.#recordRead(entry, options, start.monotonicAt, start)
      }
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    return { due, parts }
  }

  /**
   * Reads devices until the budget is used up. The last one may exceed it, because a device may need more requests than
   * a whole cycle has. The following cycles save what it exceeded.
   */
  async #readLevels(entries: RememberedDevice[], options: ReadPartsOptions): Promise<void> {
    const { signal, start } = options
    for (const entry of entries.sort((a, b) => a.levelsAt - b.levelsAt)) {
      if (this.#budget <= 0) break
      const { levelParts } = this.#devices.translationOf(entry)
      const at = now()
      // Differs from device to device, so that the order stays the same in the next cycle.
      const time = performance.now()
      for (const part of levelParts) {
        entry.device = await this.#devices.adapter.readPart(this.#source.client, entry.device, part, signal)
      }
      this.#budget -= levelParts.length
      this.#owed += Math.max(0, -this.#budget)
      await this.#recordRead(entry, options, time, { ...start, at })
    }
  }

  async #recordRead(
    entry: RememberedDevice,
    { onLevelsRead }: ReadPartsOptions,
    time: number,
    start: CycleStart,
  ): Promise<void> {
    const subscribedSince = this.#devices.subscribedSince(entry)
    const isRepeated = subscribedSince !== null && entry.levelsAt >= subscribedSince
    entry.levelsAt = time
    if (onLevelsRead !== undefined && subscribedSince !== null) await onLevelsRead(entry, { start, isRepeated })
  }
}
