/** Applies reports and levels that other processes received, and which they may not have stored yet. */

import type { Alerts } from '../alerts/alerts.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import { type ChannelReading, mergeChannels, type Receiver } from '../domain/equipment/receiver.ts'
import { hasOnlyLevels } from '../domain/levels/level-sample.ts'
import type { Backlog } from './backlog.ts'
import type { FramedLevels } from './level-frame.ts'
import type { LevelLane } from './level-lane.ts'
import type { LevelRows } from './level-store.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { ReceiverUpdates } from './receiver-updates.ts'

/** The state of one receiver, as of the last report. */
export interface RemoteReport extends Pick<Receiver, 'id' | 'last_seen' | 'is_active'> {
  /** Empty if only `last_seen` or `is_active` changed. */
  readonly channels: readonly ChannelReading[]
}

export interface RemoteLevelDeps {
  readonly receiverStore: Pick<ReceiverStore, 'facts' | 'get' | 'levels'>
  readonly levelLane: Pick<LevelLane, 'applyRemote' | 'applyEncoded'>
  readonly updates: ReceiverUpdates
  readonly backlog: Pick<Backlog, 'has'>
  readonly conditions: Pick<ConditionMonitor, 'release'>
  readonly alerts: Pick<Alerts, 'releaseReceiver'>
  /** The wall-clock time in epoch ms. */
  now(): number
}

/**
 * If levels appear to be newer than other levels by more than this, the processes' clocks differ, and the levels are
 * not treated as newer.
 */
const maxLeadMs = 10_000

export class RemoteLevelLane {
  readonly #deps: RemoteLevelDeps
  /** The `last_seen` value of the newest levels, by receiver. */
  readonly #newestAt = new Map<number, number>()

  constructor(deps: RemoteLevelDeps) {
    this.#deps = deps
  }

  apply(reports: readonly RemoteReport[]): void {
    for (const report of reports) this.#applyReport(report)
  }

  applyLevels(received: readonly FramedLevels[]): void {
    const { levelLane, now } = this.#deps
    for (const { receiverId, lastSeen, channels } of received) {
      const rows = this.#findRows(receiverId, lastSeen)
      if (rows === undefined) continue
      this.#newestAt.set(receiverId, lastSeen)
      this.#release(receiverId)
      levelLane.applyEncoded(rows, channels, Math.min(lastSeen, now()))
    }
  }

  /** Whether the newest levels that were received are newer than the stored ones. */
  isNewerThan({ id, last_seen }: Pick<Receiver, 'id' | 'last_seen'>): boolean {
    return isNewer(this.#newestAt.get(id) ?? 0, last_seen)
  }

  remove(receiverId: number): void {
    this.#newestAt.delete(receiverId)
  }

  #applyReport(remote: RemoteReport): void {
    const { receiverStore, levelLane, now } = this.#deps
    const { id, channels } = remote
    const known = receiverStore.facts(id)
    const rows = this.#findRows(id, remote.last_seen)
    if (known === undefined || rows === undefined) return
    // A report without levels brings no newer levels, so its time is not recorded.
    if (channels.length > 0) this.#newestAt.set(id, remote.last_seen)
    this.#release(id)
    const last_seen = Math.min(remote.last_seen, now())
    const report = { id: known.api_device_id ?? '', kind: 'receiver', online: remote.is_active, channels } as const
    if (hasOnlyLevels(known, report)) levelLane.applyRemote(rows, channels, last_seen)
    else this.#applyFacts({ ...remote, last_seen })
  }

  /**
   * Returns the rows of a receiver; undefined if levels that are newer than these are known. The processes' times are
   * compared without correcting for clock differences.
   */
  #findRows(id: number, lastSeen: number): LevelRows | undefined {
    const { receiverStore, backlog } = this.#deps
    const rows = receiverStore.levels.rowsOf(id)
    if (rows === undefined || backlog.has(id)) return undefined
    return isNewer(Math.max(rows.lastSeen, this.#newestAt.get(id) ?? 0), lastSeen) ? undefined : rows
  }

  /** Another process receives the reports of this receiver, and evaluates it. */
  #release(id: number): void {
    this.#deps.alerts.releaseReceiver(id)
    this.#deps.conditions.release(id)
  }

  #applyFacts({ id, last_seen, is_active, channels }: RemoteReport): void {
    const known = this.#deps.receiverStore.get(id)
    if (known === undefined) return
    this.#deps.updates.put({ ...known, last_seen, is_active, channels: mergeChannels(known.channels, channels) })
  }
}

/** Whether levels of the first time are newer than those of the second, but by no more than `maxLeadMs`. */
function isNewer(levelsAt: number, comparedAt: number): boolean {
  const leadMs = levelsAt - comparedAt
  return leadMs > 0 && leadMs <= maxLeadMs
}
