/** Takes the levels of one subscription. */

import type { DeviceReport } from '../domain/equipment/receiver.ts'
import type { OnLevels } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { Counters } from '../state/counters.ts'
import type { LevelRows } from '../state/level-store.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { Connections } from './connections.ts'
import type { LevelLane } from './level-lane.ts'

export interface LevelIngestDeps {
  readonly receiverStore: Pick<ReceiverStore, 'factsByApiId' | 'levels'>
  readonly connections: Pick<Connections, 'find' | 'recordMessage' | 'changes'>
  readonly ingest: { readonly levelLane: Pick<LevelLane, 'apply'> }
  readonly counters: Pick<Counters, 'countIgnored'>
}

export interface LevelIngestHooks {
  /** Called when levels of this device were received, at most once a second. */
  onLevelsReceived?(deviceId: string): void
  /** Whether different hardware reports under this id, so that its levels do not apply to the receiver. */
  isReplaced?(deviceId: string): boolean
  /** Passes levels of an inactive receiver to ingest, because a report marks the receiver as online. */
  ingestReport(deviceId: string, report: DeviceReport): void
}

/** A known device, and what was found out about it, because levels arrive ten times a second. */
interface Target {
  readonly device: string
  readonly rows: LevelRows
  readonly facts: LevelRows['facts']
  /** False if a user has stopped the connection, or different hardware reports. */
  readonly isAccepted: boolean
  /** `Connections.changes` when this was found out. */
  readonly connectionChanges: number
  /** When this was found out (`performance.now()`). */
  readonly foundAt: number
}

/** After this time, everything about a device is looked up again, and the time of its last message is recorded. */
const lookUpEveryMs = 1_000

/** Creates the function that takes the levels of a source's subscription. */
export function createLevelIngest(
  { receiverStore, connections, ingest, counters }: LevelIngestDeps,
  source: Pick<MonitoredSource, 'id' | 'manufacturer'>,
  hooks: LevelIngestHooks,
): OnLevels {
  // Only the last device is remembered, because sources that send levels continuously report only one.
  let target: Target | undefined

  function isCurrent({ rows, facts, connectionChanges, foundAt }: Target, now: number): boolean {
    const isUnchanged = rows.isCurrent && rows.facts === facts && connectionChanges === connections.changes
    return isUnchanged && now - foundAt < lookUpEveryMs
  }

  function findTarget(device: string, now: number): Target | undefined {
    const receiver = receiverStore.factsByApiId(source.manufacturer, device)
    const rows = receiver && receiverStore.levels.rowsOf(receiver.id)
    if (rows === undefined) return undefined
    const isReplaced = hooks.isReplaced?.(device) === true
    const isAccepted = !isReplaced && connections.find(rows.receiverId)?.status !== 'stopped'
    if (isReplaced) counters.countIgnored(source)
    if (isAccepted) {
      connections.recordMessage(rows.receiverId)
      hooks.onLevelsReceived?.(device)
    }
    return { device, rows, facts: rows.facts, isAccepted, connectionChanges: connections.changes, foundAt: now }
  }

  return (device, samples) => {
    const now = performance.now()
    if (target?.device !== device || !isCurrent(target, now)) target = findTarget(device, now)
    if (target === undefined) counters.countIgnored(source)
    else if (!target.isAccepted) return
    else if (target.facts.is_active) ingest.levelLane.apply(target.rows, samples)
    else hooks.ingestReport(device, { id: device, kind: 'receiver', channels: samples })
  }
}
