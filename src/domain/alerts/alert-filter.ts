import { includesSite } from '../equipment/sites.ts'
import type { Alert, AlertKind, AlertState } from './alert.ts'

export interface AlertFilter {
  /** `open`: raised or snoozed. */
  readonly state?: AlertState | 'open' | undefined
  readonly manufacturer?: string | undefined
  /** Code of a site, or `local`. */
  readonly site?: string | undefined
  readonly kind?: AlertKind | undefined
  readonly channel?: number | undefined
  /** Includes the alerts of the receiver's channels. */
  readonly receiver?: number | undefined
  /** Both are inclusive and apply to `raised_at`; epoch milliseconds. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Queries of the database apply the same filter. */
export function isSelected(
  { state, manufacturer, site, kind, channel, receiver, from, to }: AlertFilter,
  alert: Alert,
): boolean {
  const states = state === 'open' ? ['raised', 'snoozed'] : [state ?? alert.state]
  const isEqual = <Value>(wanted: Value | undefined, value: Value) => wanted === undefined || wanted === value
  return (
    states.includes(alert.state) &&
    isEqual<string | null>(manufacturer, alert.manufacturer) &&
    includesSite({ site }, alert.site?.code ?? null) &&
    isEqual(kind, alert.kind) &&
    isEqual<number | null>(channel, alert.channel_id) &&
    isEqual<number | null>(receiver, alert.receiver_id) &&
    alert.raised_at >= (from ?? alert.raised_at) &&
    alert.raised_at <= (to ?? alert.raised_at)
  )
}

/** The newest first. */
export function compareNewestFirst(a: Alert, b: Alert): number {
  return b.raised_at - a.raised_at || b.id - a.id
}
