import type { AlertKind } from '../../contract/alert-kinds.ts'
import { type Settings, type ThresholdKey, thresholdKinds } from '../../contract/settings.ts'
import type { EventKind } from '../../contract/values.ts'
import { valueInForce } from '../settings.ts'

export type Thresholds = Pick<Settings, ThresholdKey>
/** The values that one scope sets. */
export type ScopeThresholds = Partial<Thresholds>

const keys = Object.keys(thresholdKinds) as ThresholdKey[]

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

/** Returns the bound for alerts or events of this kind in percent, minutes or dBm, or null. */
export function boundOf(kind: AlertKind | EventKind, thresholds: Thresholds): number | null {
  switch (kind) {
    case 'battery_low':
      return thresholds.alert_battery_threshold
    case 'battery_critical':
    case 'battery_died':
      return thresholds.BATTERY_CRITICAL
    case 'rf_weak':
    case 'rf_dropout':
      return thresholds.RF_WEAK_DBM
    case 'interference':
      return thresholds.RF_NOISE_DBM
    case 'no_audio':
      return thresholds.NO_AUDIO_MINUTES
    default:
      return null
  }
}
