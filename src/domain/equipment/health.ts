/** Combines the status of all sources into the health of the service. */

import type { HealthBody, ManufacturerHealth, RefreshBody } from '../../contract/health.ts'
import type { SourceStatus, UpstreamStatus } from '../../contract/values.ts'
import { toTimestamp } from '../timestamp.ts'

export type { ManufacturerHealth } from '../../contract/health.ts'

export type ServiceHealth = Omit<
  HealthBody,
  'timestamp' | 'version' | 'commit' | 'project_url' | 'public_url' | 'update'
>
type VendorHealth = ServiceHealth['vendor_api']
export type StoreHealth = ServiceHealth['store']
export type SourceHealth = ManufacturerHealth['sources'][number]
type DeviceError = ManufacturerHealth['device_errors'][number]

/** A source that could not be queried completely. */
export type SourceError = NonNullable<RefreshBody['errors']>[number]

/** The stored status of a source (an upstream address) of a manufacturer. */
export interface SourceRecord {
  readonly manufacturer: string
  readonly source: string
  readonly consecutive_failures: number
  /** A message for the person who can fix the problem. */
  readonly error: string | null
  /** The end of the pause that the last response requested (Retry-After), or 0. */
  readonly hold_until: number
  readonly last_success_at: number | null
  /** Cycles that took longer than the interval. */
  readonly overruns: number
  /** A problem that is not a failure. */
  readonly warning: string | null
  readonly device_errors: DeviceErrors
  /** Time of the last data, if data is due and none came for 3 s; otherwise null. */
  readonly silent_since: number | null
}

/** An invalid part of an upstream response that was skipped. */
export interface DeviceProblem {
  /** Describes the device or list entry. */
  readonly subject: string
  readonly problem: string
  /**
   * The id of the device, or its position in the list if it has no id. Absent if the problem does not concern a device.
   */
  readonly device?: string
}

export function summarize(problems: readonly DeviceProblem[]): string | null {
  const [first] = problems
  if (first === undefined) return null
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  return `${first.subject}: ${first.problem}${more}`
}

export interface DeviceErrors {
  /** At most 100 devices. */
  readonly listed: readonly DeviceError[]
  /** The number of errors that are not listed. */
  readonly more: number
}

const maxDeviceErrors = 100

export const noDeviceErrors: DeviceErrors = { listed: [], more: 0 }

export function toDeviceErrors(problems: readonly DeviceProblem[]): DeviceErrors {
  const all = problems.flatMap(({ device, problem }) => (device === undefined ? [] : [{ device, error: problem }]))
  return mergeDeviceErrors([{ listed: all, more: 0 }])
}

function mergeDeviceErrors(parts: readonly DeviceErrors[]): DeviceErrors {
  const all = parts.flatMap(({ listed }) => listed)
  const listed = all.slice(0, maxDeviceErrors)
  const unlistedCount = parts.reduce((sum, { more }) => sum + more, 0)
  return { listed, more: unlistedCount + all.length - listed.length }
}

/** The sources have the order of the configuration. */
export interface MonitoredManufacturer {
  readonly code: string
  readonly name: string
  readonly isEnabled: boolean
  readonly base_url: string
  readonly sources: readonly string[]
  /** Hosts for which certificate verification is disabled. */
  readonly unverified: readonly string[]
}

/**
 * `damaged` and `replaced` (the file was deleted or replaced) last until the database is closed. `unwritable` ends with
 * the next successful write.
 */
export type StoreCondition = 'ok' | 'unwritable' | 'damaged' | 'replaced'

/** Messages for users. */
export const storeFaults = {
  damaged: 'The database is damaged. Changes are not stored until the service is restarted',
  replaced: 'The database file was deleted or replaced. Changes are not stored until the service is restarted',
  unwritable: 'The database cannot be written. Changes are not stored until it can',
} as const satisfies Record<Exclude<StoreCondition, 'ok'>, string>

export const incidentCauses = ['damaged', 'missing', 'log_damaged'] as const
export type IncidentCause = (typeof incidentCauses)[number]

/** Data loss before startup that nobody has acknowledged yet. */
export interface StoreIncident {
  readonly cause: IncidentCause
  readonly restored_at: number
  /** The time of the restored snapshot; null if the database started empty. */
  readonly snapshot_at: number | null
  readonly snapshot: string | null
}

/** An upstream is unhealthy after this many consecutive failed cycles. */
const unhealthyFailures = 3

/** A source without failures is `healthy` this long after its last successful poll, also across restarts. */
const successValidMs = 24 * 3600_000

const orphanedError = 'no process polls it; start micwatch serve without --no-poll, or micwatch poll_devices'

/** A pause that the source requested (`hold_until`) does not affect its status. */
function sourceStatus({ consecutive_failures, last_success_at }: SourceRecord, now: number): SourceStatus {
  if (consecutive_failures >= unhealthyFailures) return 'unhealthy'
  if (consecutive_failures > 0) return 'degraded'
  // A success in the future was recorded before the clock was set back.
  const isKnown = last_success_at !== null && Math.abs(now - last_success_at) < successValidMs
  return isKnown ? 'healthy' : 'unknown'
}

/** Removes the manufacturer from `<manufacturer>:<address>`. */
export function addressOf(source: string, manufacturer: string): string {
  return source.startsWith(`${manufacturer}:`) ? source.slice(manufacturer.length + 1) : source
}

export const noSources = {
  consecutive_failures: 0,
  error: null,
  overruns: 0,
  details: [],
  sources: [],
  device_errors: [],
  more: 0,
} as const satisfies Partial<ManufacturerHealth>

/**
 * Healthy if all sources are, degraded if only some fail. An orphaned source, which no process polls, counts as
 * unhealthy.
 */
export function manufacturerHealth(
  manufacturer: MonitoredManufacturer,
  records: readonly SourceRecord[],
  now: number,
  isOrphaned: (source: string) => boolean = () => false,
): ManufacturerHealth {
  const { code, name, base_url, isEnabled } = manufacturer
  if (!isEnabled) return { ...noSources, code, name, status: 'disabled', base_url }
  const bySource = new Map(records.map((record) => [record.source, record]))
  const manufacturerRecords = manufacturer.sources.flatMap((source) => bySource.get(source) ?? [])
  const sources = manufacturer.sources.map((source): SourceHealth => {
    const record = bySource.get(source)
    const address = addressOf(source, code)
    const consecutive_failures = record?.consecutive_failures ?? 0
    const at = isOrphaned(source) ? null : (record?.silent_since ?? null)
    const silent_since = at === null ? null : toTimestamp(at)
    const shown = { source: address, consecutive_failures, silent_since }
    if (isOrphaned(source)) return { ...shown, status: 'unhealthy', error: orphanedError }
    const status = record === undefined ? 'unknown' : sourceStatus(record, now)
    const error = status === 'healthy' ? null : (record?.error ?? null)
    return { ...shown, status, error }
  })
  const { listed, more } = mergeDeviceErrors(manufacturerRecords.map(({ device_errors }) => device_errors))
  return {
    code,
    name,
    status: combineStatuses(sources.map(({ status }) => status)),
    base_url,
    consecutive_failures:
      manufacturerRecords.length === 0
        ? 0
        : Math.min(...manufacturerRecords.map(({ consecutive_failures }) => consecutive_failures)),
    error: sources.find(({ error }) => error !== null)?.error ?? null,
    overruns: manufacturerRecords.reduce((sum, { overruns }) => sum + overruns, 0),
    details: [
      ...manufacturer.unverified.map((host) => `the certificate of ${host} is not verified`),
      ...manufacturerRecords.flatMap(({ source, hold_until, error }) =>
        hold_until > 0 && !isOrphaned(source) ? (error ?? []) : [],
      ),
      ...manufacturerRecords.flatMap(({ warning }) => warning ?? []),
    ],
    sources,
    device_errors: listed,
    more,
  }
}

function combineStatuses(statuses: readonly SourceStatus[]): UpstreamStatus {
  const [first] = statuses
  if (first === undefined) return 'unconfigured'
  if (statuses.every((status) => status === first)) return first
  return statuses.some((status) => status === 'unhealthy' || status === 'degraded') ? 'degraded' : 'unknown'
}

const unconfigured: VendorHealth = { status: 'unconfigured', base_url: '', consecutive_failures: 0 }

const severity: Record<UpstreamStatus, number> = {
  unhealthy: 4,
  degraded: 3,
  unknown: 2,
  healthy: 1,
  disabled: 0,
  unconfigured: 0,
}

/** A write that waits longer than this is stuck. */
const stuckWriteMs = 5000

export function storeHealth(state: {
  readonly isReachable: boolean
  readonly condition: StoreCondition
  readonly incident: StoreIncident | null
  readonly longestWriteMs: number
}): StoreHealth {
  const { isReachable, condition, incident, longestWriteMs } = state
  if (condition === 'damaged') {
    const details =
      'The database is damaged. Data is read from memory, and changes are not stored. Restart the service to restore the newest snapshot.'
    return { status: 'damaged', details }
  }
  if (condition === 'replaced') {
    const details =
      'The database file was deleted or replaced while the service was running. Data is read from memory, and changes are not stored. Restart the service to restore the snapshot that was taken when this was detected.'
    return { status: 'damaged', details }
  }
  if (!isReachable) return { status: 'unreachable', details: 'The database is unreachable.' }
  if (condition === 'unwritable') {
    return { status: 'not_writable', details: 'The database cannot be written. Check the disk and its free space.' }
  }
  if (longestWriteMs > stuckWriteMs) {
    const details = `A write to the database has been waiting for more than ${stuckWriteMs / 1000} s.`
    return { status: 'not_writable', details }
  }
  return incident === null ? healthyStore : { status: 'restored', details: describeIncident(incident) }
}

const healthyStore: StoreHealth = { status: 'healthy', details: null }

/** For the audit log. */
export const repairDescriptions: Readonly<Record<IncidentCause, string>> = {
  damaged: 'damaged database replaced',
  missing: 'missing database replaced',
  log_damaged: 'damaged write-ahead log: the data before the damage was kept',
}

export function describeIncident(incident: StoreIncident): string {
  const { cause, restored_at, snapshot_at, snapshot } = incident
  const at = new Date(restored_at).toISOString()
  if (cause === 'log_damaged') {
    return `The write-ahead log of the database was found damaged at ${at}. The data before the damage was kept; later changes are lost. A copy of the damaged files was kept.`
  }
  const found =
    cause === 'missing'
      ? `The database was found missing at ${at}.`
      : `The database was found damaged at ${at}. The damaged file was kept under another name.`
  const result =
    snapshot_at === null
      ? 'There was no snapshot, so the new database is empty.'
      : `The database was replaced by the snapshot of ${new Date(snapshot_at).toISOString()} (${snapshot}); later changes are lost.`
  const advice = 'To start with an empty database instead, stop the service and run: micwatch restore --none'
  const sentences = [found, result]
  return (cause === 'missing' && snapshot_at !== null ? [...sentences, advice] : sentences).join(' ')
}

/**
 * Combines the health of all parts. `vendor_api` reports the manufacturer with the code `selected`, by default the one
 * with the worst status. `details` are problems of parts other than upstreams and the database.
 */
export function serviceHealth(
  manufacturers: readonly ManufacturerHealth[],
  options: {
    readonly selected?: string | undefined
    readonly details?: readonly string[]
    readonly store?: StoreHealth
  },
): ServiceHealth {
  const { store = healthyStore } = options
  const details = [...(store.details === null ? [] : [store.details]), ...(options.details ?? [])]
  const enabled = manufacturers.filter(({ status }) => status !== 'disabled')
  const areUpstreamsHealthy = enabled.every(({ status }) => status === 'healthy' || status === 'unconfigured')
  const isHealthy = areUpstreamsHealthy && details.length === 0
  const selected =
    options.selected === undefined
      ? [...enabled].sort((a, b) => severity[b.status] - severity[a.status])[0]
      : manufacturers.find(({ code }) => code === options.selected)
  const status = store.status === 'unreachable' ? 'unhealthy' : isHealthy ? 'healthy' : 'degraded'
  return {
    status,
    vendor_api: selected === undefined ? unconfigured : toVendorHealth(selected),
    manufacturers: selected === undefined && options.selected !== undefined ? [] : manufacturers,
    details,
    store,
  }
}

function toVendorHealth({ code: _, name: __, ...health }: ManufacturerHealth): VendorHealth {
  return health
}
