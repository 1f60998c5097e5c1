/** Polls the sources immediately, at a user's request. */

import type { RefreshBody } from '../../contract/health.ts'
import type { SourceError } from '../../domain/equipment/health.ts'
import { RequestError } from '../../domain/errors.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import type { PollResult } from '../../sources/monitor.ts'

/**
 * Polls the sources of one manufacturer or of all. Throws a RequestError when the manufacturer is unknown or disabled,
 * no upstream responded, or nothing could be stored.
 */
export async function refresh(service: Service, manufacturer?: string): Promise<RefreshBody> {
  const enabled = selectEnabled(service.sourceRegistry.manufacturers(), manufacturer)
  const polled = await service.monitor.pollNow(enabled, service.signal)
  const errors = polled.flatMap(toSourceError)
  if (polled.length > 0 && errors.length === polled.length) throw allFailedError(polled, errors)
  const updates = polled.map(({ report }) => report.created + report.moved + report.duplicates - report.repeated)
  return {
    status: errors.length === 0 ? 'success' : 'partial',
    receivers_updated: updates.reduce((sum, count) => sum + count, 0),
    timestamp: new Date(now()).toISOString(),
    ...(errors.length > 0 && { errors }),
  }
}

export function toSourceError({ manufacturer, source, report: { error } }: PollResult): SourceError[] {
  return error === null ? [] : [{ manufacturer, source, error }]
}

export function allFailedError(polled: readonly PollResult[], errors: readonly SourceError[]): RequestError {
  const isStoreUnreachable = polled.some(({ report }) => report.failed === 'store')
  const details = errors.map(({ manufacturer, error }) => `${manufacturer}: ${error}`).join('; ')
  return new RequestError(isStoreUnreachable ? 'store_busy' : 'upstream_failed', { details })
}

/**
 * Returns the codes of all enabled manufacturers, or only the requested one. Throws a RequestError when that is unknown
 * or disabled.
 */
export function selectEnabled(
  known: readonly { readonly code: string; readonly isEnabled: boolean }[],
  manufacturer: string | undefined,
): string[] {
  const selected = manufacturer === undefined ? known : known.filter(({ code }) => code === manufacturer)
  if (manufacturer !== undefined && selected.length === 0) {
    throw new RequestError('not_found', { subject: `manufacturer ${manufacturer}` })
  }
  const enabled = selected.filter(({ isEnabled }) => isEnabled).map(({ code }) => code)
  if (manufacturer !== undefined && enabled.length === 0) throw new RequestError('disabled', { subject: manufacturer })
  return enabled
}
