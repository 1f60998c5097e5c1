/** Applies reports and levels that other processes received, and which they may not have stored yet. */

import { type ChannelReading, mergeChannels, type Receiver } from '../domain/equipment/receiver.ts'
import { hasOnlyLevels } from '../domain/levels/level-sample.ts'
import { now } from '../platform/clock.ts'
import type { Backlog } from './backlog.ts'
import type { IngestSubsystems } from './ingest-subsystems.ts'
import type { FramedLevels } from './level-frame.ts'
import type { LevelLane } from './level-lane.ts'
import type { LevelRows } from './level-store.ts'
import type { ReceiverUpdates } from './receiver-updates.ts'

/** The state of one receiver, as of the last report. */
export interface RemoteReport {
  readonly id: number
  /** Epoch ms. */
  readonly last_seen: number
  readonly is_active: boolean
  /** Empty if only `last_seen` or `is_active` changed. */
  readonly channels: readonly ChannelReading[]
}

/**
 * If levels appear to be newer than other levels by more than this, the processes' clocks differ, and the levels are
 * not treated as newer.
 */
const maxLeadMs = 10_000

export class RemoteLevelLane {
  readonly #service: IngestSubsystems
  readonly #backlog: Backlog
  readonly #levelLane: LevelLane
  readonly #updates: ReceiverUpdates
  /** The `last_seen` value of the newest levels, by receiver. */
  readonly #newestAt = new Map<number, number>()
  /** The `last_seen` value of the newest report with facts, by receiver. */
  readonly #newestFactsAt = new Map<number, number>()

  constructor(service: IngestSubsystems, backlog: Backlog, levelLane: LevelLane, updates: ReceiverUpdates) {
    this.#service = service
    this.#backlog = backlog
    this.#levelLane = levelLane
    this.#updates = updates
  }

  apply(reports: readonly RemoteReport[]): void {
    for (const report of reports) this.#applyReport(report)
  }

  applyLevels(received: readonly FramedLevels[]): void {
    for (const { receiverId, lastSeen, channels } of received) {
      const rows = this.#findRows(receiverId, lastSeen)
      if (rows === undefined) continue
      this.#newestAt.set(receiverId, lastSeen)
      this.#release(receiverId)
      this.#levelLane.applyEncoded(rows, channels, Math.min(lastSeen, now()))
    }
  }

  /** True if the newest levels that were received are newer than the stored ones. */
  isNewerThan({ id, last_seen }: Receiver): boolean {
    return isNewer(this.#newestAt.get(id) ?? 0, last_seen)
  }

  /** True if the newest facts that were received are newer than the stored ones. */
  hasNewerFactsThan({ id, last_seen }: Receiver): boolean {
    return isNewer(this.#newestFactsAt.get(id) ?? 0, last_seen)
  }

  remove(receiverId: number): void {
    this.#newestAt.delete(receiverId)
    this.#newestFactsAt.delete(receiverId)
  }

  #applyReport(remote: RemoteReport): void {
    const { receiverStore } = this.#service
    const { id, channels } = remote
    const known = receiverStore.facts(id)
    const rows = this.#findRows(id, remote.last_seen)
    if (known === undefined || rows === undefined) return
    // A report without levels brings no newer levels, so its time is not recorded.
    if (channels.length > 0) {
      this.#newestAt.set(id, remote.last_seen)
      this.#newestFactsAt.set(id, remote.last_seen)
    }
    this.#release(id)
    const last_seen = Math.min(remote.last_seen, now())
    const report = { id: known.api_device_id ?? '', kind: 'receiver', online: remote.is_active, channels } as const
    if (hasOnlyLevels(known, report)) this.#levelLane.applyRemote(rows, channels, last_seen)
    else this.#applyFacts({ ...remote, last_seen })
  }

  /**
   * Returns the rows of a receiver; undefined if levels that are newer than these are known. The processes' times are
   * compared without correcting for clock differences.
   */
  #findRows(id: number, lastSeen: number): LevelRows | undefined {
    const rows = this.#service.receiverStore.levels.rowsOf(id)
    if (rows === undefined || this.#backlog.has(id)) return undefined
    return isNewer(Math.max(rows.lastSeen, this.#newestAt.get(id) ?? 0), lastSeen) ? undefined : rows
  }

  /** Another process receives the reports of this receiver, and evaluates it. */
  #release(id: number): void {
    this.#service.alerts.releaseReceiver(id)
    this.#service.conditions.release(id)
  }

  #applyFacts({ id, last_seen, is_active, channels }: RemoteReport): void {
    const known = this.#service.receiverStore.get(id)
    if (known === undefined) return
    this.#updates.put({ ...known, last_seen, is_active, channels: mergeChannels(known.channels, channels) })
  }
}

/** True if levels of the first time are newer than those of the second, but by no more than `maxLeadMs`. */
function isNewer(levelsAt: number, comparedAt: number): boolean {
  const leadMs = levelsAt - comparedAt
  return leadMs > 0 && leadMs <= maxLeadMs
}
