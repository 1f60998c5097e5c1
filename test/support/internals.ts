/**
 * State and faults of a service in this process that no interface shows or causes. All other tests in test/ use the
 * interfaces, or open the database as another process does (`withDatabase`).
 */

import { createDayTarget } from '../../src/cli/demo-history.ts'
import type { Alert } from '../../src/domain/alerts/alert.ts'
import { type Cause, toAlertCause } from '../../src/domain/alerts/compare-causes.ts'
import type { Channel } from '../../src/domain/equipment/receiver.ts'
import type { LevelHistory } from '../../src/domain/history/level-history.ts'
import type { TestApp } from './app.ts'
import { withDatabase } from './store/databases.ts'

/** Returns the recorded levels, after everything recorded so far is stored. */
export async function storedLevels({ service }: TestApp): Promise<LevelHistory> {
  await service.history.flush()
  return service.history.levels
}

/** Makes recording fail for this reason, until it is called with null. */
export const failRecording = ({ service }: TestApp, reason: string | null) => service.alerts.recordingChanged(reason)

/** Raises alerts, whatever the channels report. */
export const raiseAlerts = ({ service }: TestApp, causes: readonly Cause[]): Promise<readonly Alert[]> =>
  service.alerts.raise(causes)

/** Raises an alert about recording, as if the database could not be written. */
export const raiseUnstored = ({ service }: TestApp, cause: Cause) =>
  service.alerts.unstored.recording.raise(toAlertCause(cause, null))

/** Returns what polls a source of this manufacturer. */
export function pollerOf({ service }: TestApp, manufacturer: string) {
  const poller = service.monitor.pollers.find(({ source }) => source.manufacturer === manufacturer)
  if (poller === undefined) throw new Error(`no source of ${manufacturer} is polled`)
  return poller
}

/** Returns for how long the source of a manufacturer is not called. */
export const holdMs = (app: TestApp, manufacturer: string) =>
  app.service.sourceRecords.holdMs(pollerOf(app, manufacturer).source.id)

/** Polls a manufacturer, and returns what the cycle did. */
export async function pollNow({ service }: TestApp, manufacturer: string) {
  const [result] = await service.monitor.pollNow([manufacturer], new AbortController().signal)
  return result?.report
}

/** Blocks a port of this machine as if the service listened on it. */
export const blockPort = ({ service }: TestApp, port: number) =>
  service.outbound.destinations.blockListener('0.0.0.0', port)

/** The receivers in memory. Reading them does not subscribe to levels. */
export const receiversInMemory = ({ service }: TestApp) => service.receiverStore

/** Returns the sources whose leases this process holds. */
export async function heldSources(app: TestApp): Promise<readonly string[]> {
  const owner = app.service.nodeId
  const rows = await withDatabase(app, ({ read }) => read.selectFrom('leases').selectAll().execute())
  return rows.filter((row) => row.owner === owner && row.source.startsWith('shure:')).map(({ source }) => source)
}

/** Returns the record of a receiver's subscription, with its source. */
export const connectionRecord = ({ service }: TestApp, receiverId: number) => service.connections.find(receiverId)

/** Keeps a transaction of the service open until the promise settles, as when the disk hangs. */
export const holdTransaction = ({ service }: TestApp, until: Promise<void>) => service.db.transaction(() => until)

/** Returns the open alerts that the service has announced. */
export const openAlerts = ({ service }: TestApp) => service.alerts.list()

/** Lets the demo write a day of the past. */
export const dayTargetOf = ({ service }: TestApp) => createDayTarget(service)

/** Returns how many minutes the battery of a channel lasts at least, to the fraction of a minute. */
export const minutesLeft = ({ service }: TestApp, channel: Channel) =>
  service.forecasts.currentForecast(channel)?.low ?? 0

/** True if all services are connected to Redis. */
export const isUp = (...apps: readonly TestApp[]) => apps.every(({ service }) => service.redis?.isUp === true)
export const isDown = (...apps: readonly TestApp[]) => apps.every(({ service }) => service.redis?.isUp === false)

/** Returns how many subscriptions are open. */
export const openSubscriptions = ({ service }: TestApp) =>
  service.connections.subscriptions().filter(({ isEnabled, downSince }) => isEnabled && downSince === null).length
