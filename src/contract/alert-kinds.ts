/**
 * The kinds of alerts: what an alert of each kind is about, and the defaults of its settings
 * (`alert_<kind>_severity`, `alert_<kind>_delay_seconds`, `alert_<kind>_enabled`).
 */

import type { Severity } from './values.ts'

interface AlertKindDefaults {
  readonly subject: 'channel' | 'receiver' | 'source' | 'service'
  readonly severity: Severity
  readonly delaySeconds: number
  readonly isEnabled: boolean
}

const usual = { delaySeconds: 0, isEnabled: true } as const

export const alertKindDefaults = {
  receiver_offline: { ...usual, subject: 'receiver', severity: 'critical' },
  stale: { ...usual, subject: 'channel', severity: 'warning' },
  encryption_error: { ...usual, subject: 'channel', severity: 'critical' },
  battery_critical: { ...usual, subject: 'channel', severity: 'critical' },
  battery_died: { ...usual, subject: 'channel', severity: 'critical' },
  interference: { ...usual, subject: 'channel', severity: 'warning', delaySeconds: 5 },
  rf_weak: { ...usual, subject: 'channel', severity: 'warning', delaySeconds: 5 },
  battery_low: { ...usual, subject: 'channel', severity: 'warning' },
  no_audio: { ...usual, subject: 'channel', severity: 'warning' },
  will_not_last: { ...usual, subject: 'channel', severity: 'warning' },
  frequency_conflict: { ...usual, subject: 'channel', severity: 'warning', isEnabled: false },
  charger_fault: { ...usual, subject: 'receiver', severity: 'warning' },
  upstream_failing: { ...usual, subject: 'source', severity: 'critical' },
  link_lost: { ...usual, subject: 'source', severity: 'warning' },
  storage_failing: { ...usual, subject: 'service', severity: 'critical' },
  recording_stopped: { ...usual, subject: 'service', severity: 'warning' },
} as const satisfies Record<string, AlertKindDefaults>

export type AlertKind = keyof typeof alertKindDefaults

export const alertKinds = Object.keys(alertKindDefaults) as AlertKind[]
