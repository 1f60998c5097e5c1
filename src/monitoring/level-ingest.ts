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

/** A known device, and whether a user has stopped its connection. */
interface Target {
  readonly device: string
  readonly rows: LevelRows
  readonly facts: LevelRows['facts']
  readonly isStopped: boolean
  /** `Connections.changes` when `isStopped` was read. */
  readonly connectionChanges: number
  /** When the message time was last recorded (`performance.now()`). */
  recordedAt: number
}

/** How often the time of the last message is recorded while levels arrive ten times a second. */
const recordEveryMs = 1_000

/** Creates the function that takes the levels of a source's subscription. */
export function createLevelIngest(
  { receiverStore, connections, ingest, counters }: LevelIngestDeps,
  source: Pick<MonitoredSource, 'id' | 'manufacturer'>,
  hooks: LevelIngestHooks,
): OnLevels {
  // Only the last device is remembered, because sources that send levels continuously report only one.
  let target: Target | undefined

  function isCurrent({ rows, facts, connectionChanges }: Target): boolean {
    return rows.isCurrent && rows.facts === facts && connectionChanges === connections.changes
  }

  function findTarget(device: string): Target | undefined {
    const receiver = receiverStore.factsByApiId(source.manufacturer, device)
    const rows = receiver && receiverStore.levels.rowsOf(receiver.id)
    if (rows === undefined) return undefined
    const isStopped = connections.find(rows.receiverId)?.status === 'stopped'
    const connectionChanges = connections.changes
    return { device, rows, facts: rows.facts, isStopped, connectionChanges, recordedAt: Number.NEGATIVE_INFINITY }
  }

  function record(current: Target): void {
    const now = performance.now()
    if (now - current.recordedAt < recordEveryMs) return
    current.recordedAt = now
    connections.recordMessage(current.rows.receiverId)
    hooks.onLevelsReceived?.(current.device)
  }

  return (device, samples) => {
    if (target?.device !== device || !isCurrent(target)) target = findTarget(device)
    if (target === undefined || hooks.isReplaced?.(device)) {
      counters.countIgnored(source)
      return
    }
    if (target.isStopped) return
    record(target)
    if (target.facts.is_active) ingest.levelLane.apply(target.rows, samples)
    else hooks.ingestReport(device, { id: device, kind: 'receiver', channels: samples })
  }
}
