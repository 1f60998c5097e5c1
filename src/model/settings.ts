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

/**
 * The values in force for a manufacturer (null: the global ones). Its own record, then its plugin configuration's
 * `poll_interval`, then the global record, then the default.
 */
export function settingsInForce(options: {
  readonly records: readonly SettingRecord[]
  readonly manufacturer: string | null
  readonly configuredInterval?: number | undefined
  readonly defaultInterval: number
}): Settings {
  const { records, manufacturer, configuredInterval, defaultInterval } = options
  const stored = (key: SettingKey, of: string | null): number | boolean | undefined => {
    const record = records.find((one) => one.key === key && one.manufacturer === of)
    const parsed = record === undefined ? undefined : parseSetting(key, record.value)
    return parsed?.ok ? parsed.value : undefined
  }
  const own = (key: SettingKey) => (manufacturer === null ? undefined : stored(key, manufacturer))
  return {
    polling_interval: Number(
      own('polling_interval') ?? configuredInterval ?? stored('polling_interval', null) ?? defaultInterval,
    ),
    alert_battery_threshold: Number(own('alert_battery_threshold') ?? stored('alert_battery_threshold', null) ?? 20),
    enable_websocket: Boolean(own('enable_websocket') ?? stored('enable_websocket', null) ?? true),
  }
}
