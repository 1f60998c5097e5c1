/** Many source reports -> one service health. */

/** `unknown`: it has not answered yet, or not for a day. */
export type SourceStatus = 'healthy' | 'unknown' | 'degraded' | 'unhealthy'
export type UpstreamStatus = SourceStatus | 'disabled' | 'unconfigured'

/** How one source (one upstream address) of a manufacturer fares. */
export interface SourceRecord {
  readonly manufacturer: string
  readonly source: string
  readonly consecutive_failures: number
  /** A sentence for the person who can mend it; null when all is well. */
  readonly error: string | null
  /** The end of the pause that the source asked for in its last answer (Retry-After); 0 when it asked for none. */
  readonly hold_until: number
  readonly last_success_at: number | null
  /** Cycles that outlasted their interval. */
  readonly overruns: number
  /** What is not as it should be and no failure; null when nothing is. */
  readonly warning: string | null
  readonly device_errors: DeviceErrors
}

/** Something in an upstream's answer that is passed over. */
export interface DeviceProblem {
  /** The device, or the entry of the list. */
  readonly about: string
  readonly problem: string
  /** The failing device: its id, or its place in the list where it has none. Absent where the problem is not a device. */
  readonly device?: string
}

/** Complaints as one sentence; null when there are none. */
export function summarize(problems: readonly DeviceProblem[]): string | null {
  const [first] = problems
  if (first === undefined) return null
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  return `${first.about}: ${first.problem}${more}`
}

export interface DeviceError {
  readonly device: string
  readonly error: string
}

export interface DeviceErrors {
  /** At most 100. */
  readonly listed: readonly DeviceError[]
  /** How many are not listed. */
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
  const unlisted = parts.reduce((sum, { more }) => sum + more, 0)
  return { listed, more: unlisted + all.length - listed.length }
}

export interface SourceHealth {
  /** Its address. */
  readonly source: string
  readonly status: SourceStatus
  readonly consecutive_failures: number
  /** A sentence for the person who can mend it; null when healthy. */
  readonly error: string | null
}

/** Why one source could not be asked, or not as it should be. */
export interface SourceError {
  readonly manufacturer: string
  /** Its address. */
  readonly source: string
  readonly error: string
}

export interface ManufacturerHealth {
  readonly code: string
  readonly status: UpstreamStatus
  readonly base_url: string
  readonly consecutive_failures: number
  readonly error: string | null
  /** Cycles that outlasted their interval. */
  readonly overruns: number
  /** What is not as it should be without deciding the status, a sentence each. */
  readonly details: readonly string[]
  /** All of its sources, in the order of its configuration. */
  readonly sources: readonly SourceHealth[]
  /** Devices that its sources list and that cannot be read; at most 100. */
  readonly device_errors: readonly DeviceError[]
  /** How many failing devices are not among `device_errors`. */
  readonly more: number
}

/** A manufacturer as health sees it: its sources in the order of its configuration. */
export interface MonitoredManufacturer {
  readonly code: string
  readonly isEnabled: boolean
  readonly base_url: string
  readonly sources: readonly string[]
  /** Hosts whose certificate is not verified, because the configuration says so. */
  readonly unverified: readonly string[]
}

/** One manufacturer picked out; the optional fields are missing where none is configured. */
export type VendorHealth = Pick<ManufacturerHealth, 'status' | 'base_url' | 'consecutive_failures'> &
  Partial<Omit<ManufacturerHealth, 'code'>>

/**
 * `damaged` and `replaced` (its file was deleted, or another took its place) stay for as long as the database is open; an
 * unwritable one is well again with the next write.
 */
export type StoreCondition = 'ok' | 'unwritable' | 'damaged' | 'replaced'

export const incidentCauses = ['damaged', 'missing', 'log_damaged'] as const
export type IncidentCause = (typeof incidentCauses)[number]

/** Something of the database was lost before a start, and nobody has taken note of it yet. */
export interface StoreIncident {
  readonly cause: IncidentCause
  readonly restored_at: number
  /** When the snapshot was taken that took its place; null: there was none, and all began empty. */
  readonly snapshot_at: number | null
  /** The name of that snapshot's file. */
  readonly snapshot: string | null
}

export interface StoreHealth {
  readonly status: 'healthy' | 'restored' | 'not_writable' | 'damaged' | 'unreachable'
  /** A sentence for the person who can mend it; null when all is well. */
  readonly details: string | null
}

export interface ServiceHealth {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly vendor_api: VendorHealth
  readonly manufacturers: readonly ManufacturerHealth[]
  /** What is not well beside the upstreams, a sentence each. */
  readonly details: readonly string[]
  readonly store: StoreHealth
}

/** From how many failed cycles in a row an upstream counts as unhealthy. */
const unhealthyFailures = 3

/** A success counts for so long, across restarts too. */
const successValidMs = 24 * 3600_000

const orphanedError = 'no process polls it; start micwatch serve without --no-poll, or micwatch poll_devices'

/** A pause that the source asked for (`hold_until`) changes no status. */
function sourceStatus({ consecutive_failures, last_success_at }: SourceRecord, now: number): SourceStatus {
  if (consecutive_failures >= unhealthyFailures) return 'unhealthy'
  if (consecutive_failures > 0) return 'degraded'
  // A success in the future was noted before the clock was set back.
  const isKnown = last_success_at !== null && Math.abs(now - last_success_at) < successValidMs
  return isKnown ? 'healthy' : 'unknown'
}

/** `<manufacturer>:<address>` without the manufacturer. */
export function addressOf(source: string, manufacturer: string): string {
  return source.startsWith(`${manufacturer}:`) ? source.slice(manufacturer.length + 1) : source
}

/** What a manufacturer has to say without any source. */
export const noSources = {
  consecutive_failures: 0,
  error: null,
  overruns: 0,
  details: [],
  sources: [],
  device_errors: [],
  more: 0,
} as const satisfies Partial<ManufacturerHealth>

/** A manufacturer is as well as its best source, but not healthy while any fails, or is polled by nobody. */
export function manufacturerHealth(
  manufacturer: MonitoredManufacturer,
  reports: readonly SourceRecord[],
  now: number,
  isOrphaned: (source: string) => boolean = () => false,
): ManufacturerHealth {
  const { code, base_url, isEnabled } = manufacturer
  if (!isEnabled) return { ...noSources, code, status: 'disabled', base_url }
  const bySource = new Map(reports.map((report) => [report.source, report]))
  const manufacturerRecords = manufacturer.sources.flatMap((source) => bySource.get(source) ?? [])
  const sources = manufacturer.sources.map((source): SourceHealth => {
    const report = bySource.get(source)
    const address = addressOf(source, code)
    const consecutive_failures = report?.consecutive_failures ?? 0
    if (isOrphaned(source)) return { source: address, status: 'unhealthy', consecutive_failures, error: orphanedError }
    const status = report === undefined ? 'unknown' : sourceStatus(report, now)
    const error = status === 'healthy' ? null : (report?.error ?? null)
    return { source: address, status, consecutive_failures, error }
  })
  const { listed, more } = mergeDeviceErrors(manufacturerRecords.map(({ device_errors }) => device_errors))
  return {
    code,
    status: combineStatuses(sources.map(({ status }) => status)),
    base_url,
    consecutive_failures:
      manufacturerRecords.length === 0
        ? 0
        : Math.min(...manufacturerRecords.map((report) => report.consecutive_failures)),
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
  if (statuses.every((one) => one === first)) return first
  return statuses.some((one) => one === 'unhealthy' || one === 'degraded') ? 'degraded' : 'unknown'
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

/** A write that has waited longer than this is stuck. */
const stuckWriteMs = 5000

export function storeHealth(about: {
  readonly isReachable: boolean
  readonly condition: StoreCondition
  readonly incident: StoreIncident | null
  /** How long the oldest unfinished write has been waiting. */
  readonly longestWriteMs: number
}): StoreHealth {
  const { isReachable, condition, incident, longestWriteMs } = about
  if (condition === 'damaged') {
    const details =
      'The database is damaged. What is shown comes from memory, and nothing is stored; restart the service to go on with its newest snapshot.'
    return { status: 'damaged', details }
  }
  if (condition === 'replaced') {
    const details =
      'The file of the database was deleted or replaced while the service runs. What is shown comes from memory, and nothing is stored; restart the service to go on with the snapshot that was taken when this was noticed.'
    return { status: 'damaged', details }
  }
  if (!isReachable) return { status: 'unreachable', details: 'The database is out of reach.' }
  if (condition === 'unwritable') {
    return { status: 'not_writable', details: 'The database cannot be written: look at the disk and its free space.' }
  }
  if (longestWriteMs > stuckWriteMs) {
    const details = `A write to the database has been waiting for more than ${stuckWriteMs / 1000} s.`
    return { status: 'not_writable', details }
  }
  return incident === null ? healthyStore : { status: 'restored', details: describeIncident(incident) }
}

const healthyStore: StoreHealth = { status: 'healthy', details: null }

export function describeIncident(incident: StoreIncident): string {
  const { cause, restored_at, snapshot_at, snapshot } = incident
  const at = new Date(restored_at).toISOString()
  if (cause === 'log_damaged') {
    return `The log of the database was found damaged at ${at}. What it held up to the damage is kept; changes after that are lost. The damaged files were put aside.`
  }
  const found = cause === 'missing' ? `missing at ${at}` : `damaged at ${at} and put aside`
  const now =
    snapshot_at === null
      ? 'There was no snapshot, so it began empty.'
      : `The snapshot of ${new Date(snapshot_at).toISOString()} took its place (${snapshot}); what was changed after that is lost.`
  const emptied = 'To begin empty instead, stop the service and run: micwatch restore --none'
  const sentences = [`The database was found ${found}.`, now]
  return (cause === 'missing' && snapshot_at !== null ? [...sentences, emptied] : sentences).join(' ')
}

/**
 * The whole service's health. `selected` names the manufacturer that `vendor_api` is about; without it, the worst.
 * `details`: what is not well in a part that is neither an upstream nor the store.
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
  const enabled = manufacturers.filter((one) => one.status !== 'disabled')
  const areWell = enabled.every(({ status }) => status === 'healthy' || status === 'unconfigured')
  const isWell = areWell && details.length === 0
  const shown =
    options.selected === undefined
      ? [...enabled].sort((a, b) => severity[b.status] - severity[a.status])[0]
      : manufacturers.find((one) => one.code === options.selected)
  const status = store.status === 'unreachable' ? 'unhealthy' : isWell ? 'healthy' : 'degraded'
  return {
    status,
    vendor_api: shown === undefined ? unconfigured : toVendorHealth(shown),
    manufacturers: shown === undefined && options.selected !== undefined ? [] : manufacturers,
    details,
    store,
  }
}

function toVendorHealth({ code: _, ...health }: ManufacturerHealth): VendorHealth {
  return health
}
