/**
 * The kinds of alerts: what an alert of each kind is called and about, and the defaults of its settings
 * (`alert_<kind>_severity`, `alert_<kind>_delay_seconds`, `alert_<kind>_enabled`).
 */

import type { Severity } from './values.ts'

interface AlertKindDefaults {
  /** What is wrong, in English and in a few words. */
  readonly title: string
  readonly subject: 'channel' | 'receiver' | 'source' | 'service'
  readonly severity: Severity
  readonly delaySeconds: number
  readonly isEnabled: boolean
}

const usual = { delaySeconds: 0, isEnabled: true } as const

export const alertKindDefaults = {
  receiver_offline: { ...usual, title: 'Receiver offline', subject: 'receiver', severity: 'critical' },
  stale: { ...usual, title: 'Stale', subject: 'channel', severity: 'warning' },
  levels_lost: { ...usual, title: 'Levels lost', subject: 'receiver', severity: 'warning', delaySeconds: 15 },
  encryption_error: { ...usual, title: 'Encryption error', subject: 'channel', severity: 'critical' },
  battery_critical: { ...usual, title: 'Battery critical', subject: 'channel', severity: 'critical' },
  battery_died: { ...usual, title: 'Battery died', subject: 'channel', severity: 'critical' },
  interference: { ...usual, title: 'Interference', subject: 'channel', severity: 'warning', delaySeconds: 5 },
  rf_weak: { ...usual, title: 'RF weak', subject: 'channel', severity: 'warning', delaySeconds: 5 },
  battery_low: { ...usual, title: 'Battery low', subject: 'channel', severity: 'warning' },
  no_audio: { ...usual, title: 'No audio', subject: 'channel', severity: 'warning' },
  will_not_last: { ...usual, title: 'Battery will not last', subject: 'channel', severity: 'warning' },
  frequency_conflict: {
    ...usual,
    title: 'Frequency conflict',
    subject: 'channel',
    severity: 'warning',
    isEnabled: false,
  },
  charger_fault: { ...usual, title: 'Charger fault', subject: 'receiver', severity: 'warning' },
  upstream_failing: { ...usual, title: 'Source failing', subject: 'source', severity: 'critical' },
  link_lost: { ...usual, title: 'Real-time connection lost', subject: 'source', severity: 'warning' },
  storage_failing: { ...usual, title: 'Changes cannot be saved', subject: 'service', severity: 'critical' },
  recording_stopped: { ...usual, title: 'Recording stopped', subject: 'service', severity: 'warning' },
} as const satisfies Record<string, AlertKindDefaults>

export type AlertKind = keyof typeof alertKindDefaults

export const alertKinds = Object.keys(alertKindDefaults) as AlertKind[]
