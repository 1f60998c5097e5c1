import type { AlertKind } from '../../contract/alert-kinds.ts'
import type { Severity } from '../../contract/values.ts'
import { type SettingScopes, storedValue, valueInForce } from '../settings.ts'

export interface AlertScope {
  /** Null for the service itself. */
  readonly manufacturer: string | null
  /** The slot of the channel, or those of all channels of the receiver; empty for a source. */
  readonly slots: readonly number[]
}

export interface AlertSettings {
  readonly isEnabled: boolean
  readonly delaySeconds: number
  /** Null if no value is stored: the severity follows the cause. */
  readonly severity: Severity | null
}

export function resolveAlertSettings(kind: AlertKind, scopes: SettingScopes): AlertSettings {
  return {
    isEnabled: valueInForce(`alert_${kind}_enabled`, scopes),
    delaySeconds: valueInForce(`alert_${kind}_delay_seconds`, scopes),
    severity: storedValue(`alert_${kind}_severity`, scopes) ?? null,
  }
}
