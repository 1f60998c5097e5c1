/** Many source reports -> one service health. */

export type UpstreamStatus = 'healthy' | 'degraded' | 'unhealthy' | 'disabled' | 'unconfigured'

/** How one source (one upstream address) of a manufacturer fares. */
export interface SourceReport {
  readonly manufacturer: string
  readonly source: string
  readonly consecutive_failures: number
  /** A sentence for the person who can mend it; null when all is well. */
  readonly error: string | null
  /** No request goes out before this time (Retry-After); 0 when none is due. */
  readonly hold_until: number
  readonly last_success_at: number | null
  /** Cycles that outlasted their interval. */
  readonly overruns: number
  /** What is not as it should be and no failure; null when nothing is. */
  readonly warning: string | null
}

/** Something in an upstream's answer that is passed over. */
export interface Complaint {
  /** The device, or the entry of the list. */
  readonly about: string
  readonly problem: string
}

/** Complaints as one sentence; null when there are none. */
export function summarize(complaints: readonly Complaint[]): string | null {
  const [first] = complaints
  if (first === undefined) return null
  const more = complaints.length === 1 ? '' : ` (and ${complaints.length - 1} more)`
  return `${first.about}: ${first.problem}${more}`
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
  Partial<Pick<ManufacturerHealth, 'error' | 'overruns' | 'details'>>
/**
 * `damaged` and `replaced` (its file was deleted, or another took its place) stay for as long as the database is open; an
 * unwritable one is well again with the next write.
 */
export type StoreCondition = 'well' | 'unwritable' | 'damaged' | 'replaced'

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
const unhealthyFrom = 3

function sourceStatus(report: SourceReport, now: number): 'healthy' | 'degraded' | 'unhealthy' {
  if (report.consecutive_failures >= unhealthyFrom) return 'unhealthy'
  return report.consecutive_failures > 0 || report.hold_until > now ? 'degraded' : 'healthy'
}

const nobodyPolls = 'no process polls it; start micwatch serve without --no-poll, or micwatch poll_devices'

/** A manufacturer is as well as its best source, but not healthy while any fails, or is polled by nobody. */
export function manufacturerHealth(
  manufacturer: MonitoredManufacturer,
  reports: readonly SourceReport[],
  now: number,
  isUnpolled: (source: string) => boolean = () => false,
): ManufacturerHealth {
  const { code, base_url, isEnabled, sources } = manufacturer
  if (!isEnabled) {
    return { code, status: 'disabled', base_url, consecutive_failures: 0, error: null, overruns: 0, details: [] }
  }
  const listed = new Set(sources)
  const own = reports.filter((one) => one.manufacturer === code && listed.has(one.source))
  const unpolled = sources.filter(isUnpolled)
  const polled = own.filter(({ source }) => !isUnpolled(source))
  const statuses = [...polled.map((report) => sourceStatus(report, now)), ...unpolled.map(() => 'unhealthy' as const)]
  const failures = own.map((report) => report.consecutive_failures)
  // A source that has not reported yet counts as neither well nor ill.
  const best = failures.length === 0 ? 0 : Math.min(...failures)
  const status = statuses.every((one) => one === 'healthy')
    ? 'healthy'
    : statuses.every((one) => one === 'unhealthy')
      ? 'unhealthy'
      : 'degraded'
  const failure = own.find((report) => report.error !== null)?.error ?? null
  const error = unpolled.length > 0 ? nobodyPolls : failure
  return {
    code,
    status,
    base_url,
    consecutive_failures: best,
    error: status === 'healthy' ? null : error,
    overruns: own.reduce((sum, { overruns }) => sum + overruns, 0),
    details: [
      ...manufacturer.unverified.map((host) => `the certificate of ${host} is not verified`),
      ...own.flatMap(({ hold_until, error }) => (hold_until > now ? (error ?? []) : [])),
      ...own.flatMap(({ warning }) => warning ?? []),
    ],
  }
}

const unconfigured: VendorHealth = { status: 'unconfigured', base_url: '', consecutive_failures: 0 }

const severity: Record<UpstreamStatus, number> = { unhealthy: 3, degraded: 2, healthy: 1, disabled: 0, unconfigured: 0 }

export function storeHealth(about: {
  readonly isReachable: boolean
  readonly condition: StoreCondition
  readonly incident: StoreIncident | null
}): StoreHealth {
  const { isReachable, condition, incident } = about
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
  return incident === null ? wellStore : { status: 'restored', details: describeIncident(incident) }
}

const wellStore: StoreHealth = { status: 'healthy', details: null }

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
  const { store = wellStore } = options
  const details = [...(store.details === null ? [] : [store.details]), ...(options.details ?? [])]
  const enabled = manufacturers.filter((one) => one.status !== 'disabled')
  const isWell = enabled.every((one) => one.status === 'healthy') && details.length === 0
  const shown =
    options.selected === undefined
      ? [...enabled].sort((a, b) => severity[b.status] - severity[a.status])[0]
      : manufacturers.find((one) => one.code === options.selected)
  const status = store.status === 'unreachable' ? 'unhealthy' : isWell ? 'healthy' : 'degraded'
  return {
    status,
    vendor_api: shown === undefined ? unconfigured : toVendorHealth(shown),
    manufacturers,
    details,
    store,
  }
}

function toVendorHealth({ code: _, ...health }: ManufacturerHealth): VendorHealth {
  return health
}
