/** The known configuration keys: default, bounds, text -> typed value. */

export interface Settings {
  readonly polling_interval: number
  readonly alert_battery_threshold: number
  readonly enable_websocket: boolean
}

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

/** The service-wide settings of the configuration file, under the specification's names. */
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

/** One stored record; `manufacturer: null` is global. */
export interface SettingRecord {
  readonly manufacturer: string | null
  readonly key: string
  readonly value: string
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingKinds, key)
}

/** Text -> value; a sentence saying what was expected when it cannot be read. */
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

/** Where a value comes from: stored here, of this scope or the global one; the configuration; or nobody chose it. */
export type SettingSource = 'stored' | 'global' | 'configured' | 'default'

export type ExplainedSettings = {
  readonly [Key in SettingKey]: { readonly value: Settings[Key]; readonly source: SettingSource }
}

/** `GET /api/admin/settings/`: one a scope. */
export interface SettingsBody {
  /** Null: global. */
  readonly manufacturer: string | null
  readonly settings: ExplainedSettings
}

export interface SettingsOptions {
  readonly records: readonly SettingRecord[]
  readonly manufacturer: string | null
  readonly configuredInterval?: number | undefined
  readonly defaultInterval: number
  /** The configuration's WEBSOCKET_BROADCASTING: while it is false, no setting switches updates on. */
  readonly isBroadcasting: boolean
}

/**
 * The values in force for a manufacturer (null: the global ones). Its own record, then its plugin configuration's
 * `poll_interval`, then the global record, then the default.
 */
export function explainSettings({
  records,
  manufacturer,
  configuredInterval,
  defaultInterval,
  isBroadcasting,
}: SettingsOptions): ExplainedSettings {
  const stored = <Value>(key: SettingKey, of: string | null, source: SettingSource) => {
    const record = records.find((one) => one.key === key && one.manufacturer === of)
    const parsed = record === undefined ? undefined : parseSetting(key, record.value)
    // What a key parses to is of its type.
    return parsed?.ok ? { value: parsed.value as Value, source } : undefined
  }
  const own = <Value>(key: SettingKey) => stored<Value>(key, manufacturer, 'stored')
  const general = <Value>(key: SettingKey) => stored<Value>(key, null, 'global')
  const configured =
    configuredInterval === undefined ? undefined : { value: configuredInterval, source: 'configured' as const }
  const isBuiltIn = defaultInterval === serviceDefaults.DEFAULT_POLLING_INTERVAL
  return {
    polling_interval: own<number>('polling_interval') ??
      configured ??
      general<number>('polling_interval') ?? { value: defaultInterval, source: isBuiltIn ? 'default' : 'configured' },
    alert_battery_threshold: own<number>('alert_battery_threshold') ??
      general<number>('alert_battery_threshold') ?? { value: 20, source: 'default' },
    enable_websocket: isBroadcasting
      ? mergeEnableWebsocket([own<boolean>('enable_websocket'), general<boolean>('enable_websocket')])
      : { value: false, source: 'configured' },
  }
}

/** Real-time updates that one scope switches off are off, whatever the other one says. */
function mergeEnableWebsocket(
  scopes: readonly (ExplainedSettings['enable_websocket'] | undefined)[],
): ExplainedSettings['enable_websocket'] {
  const chosen = scopes.find((one) => one?.value === false) ?? scopes.find((one) => one !== undefined)
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
