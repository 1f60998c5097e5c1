/** The health of the service and of every manufacturer. */

import { type ManufacturerHealth, type ServiceHealth, serviceHealth, storeHealth } from '../domain/equipment/health.ts'
import type { RemoteWrite } from '../history/configured-remote-write.ts'
import type { RunningHistory } from '../history/history.ts'
import type { RuntimeOptions } from '../service.ts'
import type { Database } from '../storage/database.ts'
import type { Redis } from '../storage/redis.ts'
import type { Follower } from './follower.ts'
import type { Monitoring } from './monitoring.ts'
import type { State } from './state.ts'

interface HealthDeps {
  readonly db: Pick<Database, 'condition' | 'pending'>
  readonly redis: Pick<Redis, 'isUp'> | null
  readonly state: State
  readonly monitoring: Monitoring
  readonly history: Pick<RunningHistory, 'fault'>
  readonly remoteWrite: Pick<RemoteWrite, 'problem'> | null
  readonly follower: Pick<Follower, 'isStoreDown'>
}

export function healthOf(
  parts: HealthDeps,
  options: Pick<RuntimeOptions, 'listProblems'>,
  selected: string | undefined,
): ServiceHealth {
  const { db, redis, state, monitoring, history, remoteWrite, follower } = parts
  const { problem } = monitoring.notificationSender
  const store = storeHealth({
    isReachable: !follower.isStoreDown,
    condition: db.condition(),
    incident: state.lists.current.incident,
    longestWriteMs: db.pending.longestMs(),
  })
  const details = [
    ...(redis?.isUp === false ? [redisDownDetails] : []),
    ...(history.fault === null ? [] : [`Levels are not recorded: ${history.fault}`]),
    ...(remoteWrite?.problem == null ? [] : [remoteWrite.problem]),
    ...(problem === null ? [] : [problem]),
    ...(options.listProblems?.() ?? []),
  ]
  return serviceHealth(manufacturerHealths(parts), { selected, store, details })
}

/** Returns the health of every manufacturer; a configuration error takes precedence over the last records. */
export function manufacturerHealths({
  state: { sourceRegistry },
  monitoring,
}: Pick<HealthDeps, 'state' | 'monitoring'>): ManufacturerHealth[] {
  const errors = sourceRegistry.configurationErrors()
  const records = monitoring.sourceRecords.health(sourceRegistry.manufacturers())
  return records.map((manufacturer) => errors.get(manufacturer.code) ?? manufacturer)
}

const redisDownDetails =
  'Redis does not respond; request limits apply per process, and levels reach other processes through the database.'
