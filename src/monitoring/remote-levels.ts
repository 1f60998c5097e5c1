/** Applies levels that other processes received, and which they may not have stored yet. */

import { type ChannelReading, mergeChannels, type Receiver } from '../domain/equipment/receiver.ts'
import { hasOnlyLevels } from '../domain/levels/level-sample.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { Alerts } from './alerts.ts'
import type { Backlog } from './backlog.ts'
import type { ConditionMonitor } from './conditions.ts'
import type { LevelLane } from './level-lane.ts'
import type { ReceiverUpdates } from './receiver-updates.ts'

/** The levels of one receiver. */
export interface RemoteLevels extends Pick<Receiver, 'id' | 'last_seen' | 'is_active'> {
  /** Empty if only `last_seen` or `is_active` changed. */
  readonly channels: readonly ChannelReading[]
}

export interface RemoteLevelDeps {
  readonly receiverStore: Pick<ReceiverStore, 'facts' | 'get' | 'levels'>
  readonly levelLane: Pick<LevelLane, 'applyRemote'>
  readonly updates: Pick<ReceiverUpdates, 'publish'>
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

  apply(received: readonly RemoteLevels[]): void {
    for (const remote of received) this.#applyReceiver(remote)
  }

  /** Whether the newest levels that were received are newer than the stored ones. */
  isNewerThan({ id, last_seen }: Pick<Receiver, 'id' | 'last_seen'>): boolean {
    return isNewer(this.#newestAt.get(id) ?? 0, last_seen)
  }

  remove(receiverId: number): void {
    this.#newestAt.delete(receiverId)
  }

  #applyReceiver(remote: RemoteLevels): void {
    const { receiverStore, levelLane, backlog, conditions, alerts, now } = this.#deps
    const { id, channels } = remote
    const known = receiverStore.facts(id)
    const rows = receiverStore.levels.rowsOf(id)
    if (known === undefined || rows === undefined || backlog.has(id)) return
    // Known levels that are newer than the remote ones are kept. The processes' times are compared without correcting
    // for clock differences.
    if (isNewer(Math.max(rows.lastSeen, this.#newestAt.get(id) ?? 0), remote.last_seen)) return
    // A message without levels brings no newer levels, so its time is not recorded.
    if (channels.length > 0) this.#newestAt.set(id, remote.last_seen)
    alerts.releaseReceiver(id)
    conditions.release(id)
    const last_seen = Math.min(remote.last_seen, now())
    const report = { id: known.api_device_id ?? '', kind: 'receiver', online: remote.is_active, channels } as const
    if (hasOnlyLevels(known, report)) levelLane.applyRemote(rows, channels, last_seen)
    else this.#applyFacts({ ...remote, last_seen })
  }

  #applyFacts({ id, last_seen, is_active, channels }: RemoteLevels): void {
    const known = this.#deps.receiverStore.get(id)
    if (known === undefined) return
    this.#deps.updates.publish({ ...known, last_seen, is_active, channels: mergeChannels(known.channels, channels) })
  }
}

/** Whether levels of the first time are newer than those of the second, but by no more than `maxLeadMs`. */
function isNewer(levelsAt: number, comparedAt: number): boolean {
  const leadMs = levelsAt - comparedAt
  return leadMs > 0 && leadMs <= maxLeadMs
}
