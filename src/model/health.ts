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
}

export interface ManufacturerHealth {
  readonly code: string
  readonly status: UpstreamStatus
  readonly base_url: string
  readonly consecutive_failures: number
  readonly error: string | null
}

/** A manufacturer as health sees it: its sources in the order of its configuration. */
export interface MonitoredManufacturer {
  readonly code: string
  readonly isEnabled: boolean
  readonly base_url: string
  readonly sources: readonly string[]
}

export interface ServiceHealth {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly vendor_api: Pick<ManufacturerHealth, 'status' | 'base_url' | 'consecutive_failures'>
  readonly manufacturers: readonly ManufacturerHealth[]
}

/** From how many failed cycles in a row an upstream counts as unhealthy. */
const unhealthyFrom = 3

function sourceStatus(report: SourceReport, now: number): 'healthy' | 'degraded' | 'unhealthy' {
  if (report.consecutive_failures >= unhealthyFrom) return 'unhealthy'
  return report.consecutive_failures > 0 || report.hold_until > now ? 'degraded' : 'healthy'
}

/** A manufacturer is as well as its best source, but not healthy while any fails. */
export function manufacturerHealth(
  manufacturer: MonitoredManufacturer,
  reports: readonly SourceReport[],
  now: number,
): ManufacturerHealth {
  const { code, base_url, isEnabled, sources } = manufacturer
  if (!isEnabled) return { code, status: 'disabled', base_url, consecutive_failures: 0, error: null }
  const own = reports.filter((one) => one.manufacturer === code && sources.includes(one.source))
  const statuses = own.map((report) => sourceStatus(report, now))
  const failures = own.map((report) => report.consecutive_failures)
  // A source that has not reported yet counts as neither well nor ill.
  const best = failures.length === 0 ? 0 : Math.min(...failures)
  const status = statuses.every((one) => one === 'healthy')
    ? 'healthy'
    : statuses.every((one) => one === 'unhealthy')
      ? 'unhealthy'
      : 'degraded'
  const error = own.find((report) => report.error !== null)?.error ?? null
  return { code, status, base_url, consecutive_failures: best, error: status === 'healthy' ? null : error }
}

const severity: Record<UpstreamStatus, number> = { unhealthy: 3, degraded: 2, healthy: 1, disabled: 0, unconfigured: 0 }

/**
 * The whole service's health. `selected` names the manufacturer that `vendor_api` is about; without it, the worst.
 * `partsDegraded`: a part other than an upstream is not well.
 */
export function serviceHealth(
  manufacturers: readonly ManufacturerHealth[],
  options: { readonly selected?: string | undefined; readonly partsDegraded?: boolean; readonly storeDown?: boolean },
): ServiceHealth {
  const enabled = manufacturers.filter((one) => one.status !== 'disabled')
  const isWell = enabled.every((one) => one.status === 'healthy') && options.partsDegraded !== true
  const shown =
    options.selected === undefined
      ? [...enabled].sort((a, b) => severity[b.status] - severity[a.status])[0]
      : manufacturers.find((one) => one.code === options.selected)
  const { status, base_url, consecutive_failures } = shown ?? {
    status: 'unconfigured' as const,
    base_url: '',
    consecutive_failures: 0,
  }
  return {
    status: options.storeDown ? 'unhealthy' : isWell ? 'healthy' : 'degraded',
    vendor_api: { status, base_url, consecutive_failures },
    manufacturers,
  }
}
