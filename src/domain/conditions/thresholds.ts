/** The settings that decide when a condition is true, as they apply to a channel. */

import { type Settings, type ThresholdKey, thresholdKinds } from '../../contract/settings.ts'
import { valueInForce } from '../settings.ts'

export type Thresholds = Pick<Settings, ThresholdKey>
/** The values that one scope sets. */
export type ScopeThresholds = Partial<Thresholds>

const keys = Object.keys(thresholdKinds) as ThresholdKey[]

/** Returns the thresholds in force for a channel of this manufacturer and these groups. */
export function resolveThresholds(
  global: ScopeThresholds,
  manufacturer: ScopeThresholds,
  groups: readonly ScopeThresholds[],
): Thresholds {
  const scopes = { global, manufacturer, groups }
  const values = Object.fromEntries(keys.map((key) => [key, valueInForce(key, scopes)])) as unknown as Thresholds
  return {
    ...values,
    // A critical bound above the low bound counts as equal to it.
    BATTERY_CRITICAL: Math.min(values.BATTERY_CRITICAL, values.alert_battery_threshold),
    MINUTES_CRITICAL: Math.min(values.MINUTES_CRITICAL, values.MINUTES_LOW),
  }
}
