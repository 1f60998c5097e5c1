import { addressOf } from '../equipment/health.ts'
import { noData } from './alert.ts'
import type { Cause } from './compare-causes.ts'

/** Failed polling cycles in a row. */
const failureThreshold = 3
/** A subscription that is down for this long raises an alert. */
const subscriptionLostAfterMs = 60_000

export function upstreamSubject(source: string): string {
  return `upstream:${source}`
}

export function subscriptionSubject(source: string): string {
  return `link:${source}`
}

export interface SourceFailures {
  readonly manufacturer: string
  readonly source: string
  /** Consecutive cycles without a success: failed ones, and those that ended with a Retry-After response. */
  readonly unsuccessful_cycles: number
  readonly error: string | null
}

/** An open alert is cleared after a success, not when its cause is missing. */
export function listSourceCauses(status: SourceFailures): readonly Cause[] {
  return status.unsuccessful_cycles < failureThreshold ? [] : [sourceFailing(status)]
}

export function sourceFailing({ manufacturer, source, unsuccessful_cycles: failures, error }: SourceFailures): Cause {
  const data = { ...noData, name: manufacturer, address: addressOf(source, manufacturer), failures, error }
  return toSourceCause('upstream_failing', upstreamSubject(source), manufacturer, data)
}

export interface SubscriptionStatus {
  readonly manufacturer: string
  readonly source: string
  /** False while a user has stopped the subscription; this raises no alert. */
  readonly isEnabled: boolean
  /** True if it was lost so often that it counts as lost. */
  readonly isFlapping: boolean
  /** On the same monotonic clock as `now` of `listSubscriptionCauses`; null while it is up. */
  readonly downSince: number | null
}

export function listSubscriptionCauses(status: SubscriptionStatus, now: number): readonly Cause[] {
  const { manufacturer, source, isEnabled, isFlapping, downSince } = status
  if (!isEnabled || downSince === null) return []
  if (!isFlapping && now - downSince < subscriptionLostAfterMs) return []
  return [subscriptionLost(manufacturer, source)]
}

export function subscriptionLost(manufacturer: string, source: string): Cause {
  const data = { ...noData, name: manufacturer, address: addressOf(source, manufacturer) }
  return toSourceCause('link_lost', subscriptionSubject(source), manufacturer, data)
}

function toSourceCause(
  kind: 'upstream_failing' | 'link_lost',
  subject: string,
  manufacturer: string,
  data: Cause['data'],
): Cause {
  const identity = { manufacturer, receiver_id: null, channel_id: null }
  return { subject, kind, since: null, isInhibited: false, ...identity, data }
}
