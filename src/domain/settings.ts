/** The settings: limits, defaults and parsing. */

import type { Settings, SettingsBody } from '../contract/resources/settings.ts'
import { resolveThresholds, type ScopeThresholds, type Thresholds } from './conditions/thresholds.ts'

export type { Settings } from '../contract/resources/settings.ts'

export type ExplainedSettings = SettingsBody['settings']
type SettingSource = ExplainedSettings[SettingKey]['source']

export type SettingKey = keyof Settings

interface WholeNumber {
  readonly type: 'integer'
  readonly min: number
  readonly max: number
}
type SettingKind = WholeNumber | { readonly type: 'boolean' }

export const settingKinds = {
  polling_interval: { type: 'integer', min: 1, max: 3600 },
  alert_battery_threshold: { type: 'integer', min: 0, max: 100 },
  enable_websocket: { type: 'boolean' },
} as const satisfies Record<SettingKey, SettingKind>

/** The service-wide settings in the configuration file. */
export interface ServiceDefaults {
  readonly DEFAULT_POLLING_INTERVAL: number
  readonly WEBSOCKET_BROADCASTING: boolean
  /** Seconds. */
  readonly CACHE_TIMEOUT: number
}

export const serviceDefaults: ServiceDefaults = {
  DEFAULT_POLLING_INTERVAL: 10,
  WEBSOCKET_BROADCASTING: true,
  CACHE_TIMEOUT: 30,
}

/** A stored setting; `manufacturer: null` is global. */
export interface SettingRecord {
  readonly manufacturer: string | null
  readonly key: string
  readonly value: string
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingKinds, key)
}

/** Parses a stored value; if it is invalid, `expected` describes valid values. */
export function parseSetting(
  key: SettingKey,
  text: string,
): { ok: true; value: number | boolean } | { ok: false; expected: string } {
  const kind: SettingKind = settingKinds[key]
  if (kind.type === 'boolean') {
    if (text === 'true' || text === 'false') return { ok: true, value: text === 'true' }
    return { ok: false, expected: 'true or false' }
  }
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= kind.min && value <= kind.max) return { ok: true, value }
  return { ok: false, expected: `a whole number from ${kind.min} to ${kind.max}` }
}

export interface SettingsOptions {
  readonly records: readonly SettingRecord[]
  readonly manufacturer: string | null
  readonly configuredInterval?: number | undefined
  readonly defaultInterval: number
  /** `WEBSOCKET_BROADCASTING` in the configuration. If false, no setting can enable real-time updates. */
  readonly isBroadcasting: boolean
}

/**
 * Returns the effective values for a manufacturer (null: the global ones), with their origin. The first of these that
 * exists applies: the manufacturer's record, `poll_interval` in its plugin configuration (for the polling interval),
 * the global record, the default (for the polling interval: `defaultInterval`). `enable_websocket` is an exception, see
 * `mergeEnableWebsocket`.
 */
export function explainSettings({
  records,
  manufacturer,
  configuredInterval,
  defaultInterval,
  isBroadcasting,
}: SettingsOptions): ExplainedSettings {
  const stored = <Value>(key: SettingKey, scope: string | null, source: SettingSource) => {
    const record = records.find((record) => record.key === key && record.manufacturer === scope)
    const parsed = record === undefined ? undefined : parseSetting(key, record.value)
    // The parsed value has the type of the key.
    return parsed?.ok ? { value: parsed.value as Value, source } : undefined
  }
  const local = <Value>(key: SettingKey) => stored<Value>(key, manufacturer, 'stored')
  const global = <Value>(key: SettingKey) => stored<Value>(key, null, 'global')
  const configured =
    configuredInterval === undefined ? undefined : { value: configuredInterval, source: 'configured' as const }
  const isBuiltIn = defaultInterval === serviceDefaults.DEFAULT_POLLING_INTERVAL
  return {
    polling_interval: local<number>('polling_interval') ??
      configured ??
      global<number>('polling_interval') ?? { value: defaultInterval, source: isBuiltIn ? 'default' : 'configured' },
    alert_battery_threshold: local<number>('alert_battery_threshold') ??
      global<number>('alert_battery_threshold') ?? { value: 20, source: 'default' },
    enable_websocket: isBroadcasting
      ? mergeEnableWebsocket([local<boolean>('enable_websocket'), global<boolean>('enable_websocket')])
      : { value: false, source: 'configured' },
  }
}

/** Combines the scopes: real-time updates are disabled if either scope disables them. */
function mergeEnableWebsocket(
  scopes: readonly (ExplainedSettings['enable_websocket'] | undefined)[],
): ExplainedSettings['enable_websocket'] {
  const chosen = scopes.find((scope) => scope?.value === false) ?? scopes.find((scope) => scope !== undefined)
  return chosen ?? { value: true, source: 'default' }
}

export function getEffectiveSettings(options: SettingsOptions): Settings {
  const { polling_interval, alert_battery_threshold, enable_websocket } = explainSettings(options)
  return {
    polling_interval: polling_interval.value,
    alert_battery_threshold: alert_battery_threshold.value,
    enable_websocket: enable_websocket.value,
  }
}

/** Returns the thresholds in force for a channel of this manufacturer. */
export function resolveChannelThresholds(records: readonly SettingRecord[], manufacturer: string): Thresholds {
  return resolveThresholds(thresholdsOf(records, null), thresholdsOf(records, manufacturer), [])
}

/** Returns the thresholds that a scope sets. */
function thresholdsOf(records: readonly SettingRecord[], scope: string | null): ScopeThresholds {
  const record = records.find(({ key, manufacturer }) => key === 'alert_battery_threshold' && manufacturer === scope)
  const parsed = record && parseSetting('alert_battery_threshold', record.value)
  return parsed?.ok ? { alert_battery_threshold: Number(parsed.value) } : {}
}
