/** Applies the levels that one subscription delivers. */

import type { DeviceReport } from '../domain/equipment/receiver.ts'
import type { OnLevels } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { SourceSubsystems } from '../sources/source-subsystems.ts'
import type { LevelArrival } from './level-arrivals.ts'
import type { LevelRows } from './level-store.ts'

export interface LevelIngestHooks {
  /** Called when levels of this device were received, at most every two seconds. */
  onLevelsReceived?(deviceId: string): void
  /** True if different hardware reports under this id. Its levels then do not apply to the receiver. */
  isReplaced?(deviceId: string): boolean
  /** Passes levels of an inactive receiver to ingest, because a report marks the receiver as online. */
  ingestReport(deviceId: string, report: DeviceReport): void
}

/** Looked up once for each device, because levels arrive ten times a second. */
interface Target {
  readonly device: string
  readonly rows: LevelRows
  /** `rows.factsVersion` at the time of the look-up. */
  readonly factsVersion: number
  readonly isReplaced: boolean
  /** True if a user has stopped the connection. */
  readonly isStopped: boolean
  /** By channel number; undefined if the channel is not known. */
  readonly hasTransmitter: readonly (boolean | undefined)[]
  readonly arrival: LevelArrival
  /** `Connections.changes` at the time of the look-up. */
  readonly connectionChanges: number
  /** When it was looked up (`performance.now()`). */
  readonly foundAt: number
  /**
   * True once levels of this device have been passed on as a report. The first levels on a connection are, because a
   * report evaluates the alerts.
   */
  isReported: boolean
}

/** After this time, everything about a device is looked up again, and the time of its last message is recorded. */
const lookUpEveryMs = 2_000

/** Creates the function that applies the levels of a source's subscription. */
export function createLevelIngest(
  service: SourceSubsystems,
  source: MonitoredSource,
  hooks: LevelIngestHooks,
): OnLevels {
  const { receiverStore, unitStore, connections, ingest, levelAges, levelArrivals, counters } = service
  const targets = new Map<string, Target>()
  /** The last target, because most sources report only one device. */
  let last: Target | undefined

  function isCurrent({ rows, factsVersion, connectionChanges, foundAt }: Target, now: number): boolean {
    const isUnchanged =
      rows.isCurrent && rows.factsVersion === factsVersion && connectionChanges === connections.changes
    return isUnchanged && now - foundAt < lookUpEveryMs
  }

  function findTarget(device: string): Target | undefined {
    const now = performance.now()
    const known = last?.device === device ? last : targets.get(device)
    last = known
    if (known !== undefined && isCurrent(known, now)) return known
    const receiver = receiverStore.factsByApiId(source.manufacturer, device)
    const rows = receiver && receiverStore.levels.rowsOf(receiver.id)
    if (rows === undefined) {
      targets.delete(device)
      last = undefined
      return undefined
    }
    const { facts, factsVersion, receiverId } = rows
    const hasTransmitter: boolean[] = []
    for (const { channel, transmitter } of facts.channels) hasTransmitter[channel] = transmitter !== null
    const target: Target = {
      device,
      rows,
      factsVersion,
      isReplaced: hooks.isReplaced?.(device) === true,
      isStopped: connections.find(receiverId)?.status === 'stopped',
      hasTransmitter,
      arrival: levelArrivals.of(source.id, facts),
      connectionChanges: connections.changes,
      foundAt: now,
      isReported: known?.isReported === true,
    }
    targets.set(device, target)
    last = target
    if (target.isReplaced || target.isStopped) return target
    connections.recordMessage(receiverId)
    hooks.onLevelsReceived?.(device)
    return target
  }

  return (device, samples) => {
    const target = findTarget(device)
    if (target === undefined && unitStore.ofDevice(source.manufacturer, device) !== undefined) return false
    if (target === undefined || target.isReplaced) {
      counters.countIgnored(source)
      return true
    }
    if (target.isStopped) return true
    const { rows, hasTransmitter, arrival } = target
    if (rows.facts.is_active) {
      ingest.levelLane.apply(rows, samples)
      levelAges.received(rows, samples, arrival)
    } else hooks.ingestReport(device, { id: device, kind: 'receiver', channels: samples })
    if (!target.isReported) {
      target.isReported = true
      return false
    }
    return samples.every(({ channel, transmitter }) => {
      const isKnown = hasTransmitter[channel]
      return isKnown !== undefined && (isKnown || !transmitter)
    })
  }
}
