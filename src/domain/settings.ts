/** Parses settings, and resolves which of several stored values applies. */

import {
  defaultSettings,
  isSettingKey,
  type ListSetting,
  type SettingKey,
  type SettingKind,
  type Settings,
  settingKeys,
  settingKinds,
} from '../contract/settings.ts'

/** A manufacturer or a group; everything if both are null. */
export interface SettingScope {
  readonly manufacturer: string | null
  readonly group: number | null
}

export const globalScope: SettingScope = { manufacturer: null, group: null }

export interface SettingRecord extends SettingScope {
  readonly key: string
  readonly value: string
}

/** Service-wide settings in the configuration file. */
export interface ServiceDefaults {
  readonly DEFAULT_POLLING_INTERVAL: number
  readonly WEBSOCKET_BROADCASTING: boolean
  /** Seconds. */
  readonly CACHE_TIMEOUT: number
}

export const serviceDefaults: ServiceDefaults = {
  DEFAULT_POLLING_INTERVAL: defaultSettings.polling_interval,
  WEBSOCKET_BROADCASTING: defaultSettings.enable_websocket,
  CACHE_TIMEOUT: 30,
}

/** Parses a stored value. If it is invalid, `expected` describes valid values. */
export function parseSetting<Key extends SettingKey>(
  key: Key,
  text: string,
): { ok: true; value: Settings[Key] } | { ok: false; expected: string } {
  const kind: SettingKind = settingKinds[key]
  const value = parseValue(kind, text)
  return value === undefined
    ? { ok: false, expected: describeValues(kind) }
    : { ok: true, value: value as Settings[Key] }
}

function parseValue(kind: SettingKind, text: string): number | boolean | string | undefined {
  switch (kind.type) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'choice':
      return kind.values.find((value) => value === text)
    case 'time_zone':
      return isTimeZone(text) ? text : undefined
    case 'list':
      return /^[\w, ]{0,1000}$/.test(text) && hasOnlyKnownNames(kind, text) ? text : undefined
    case 'integer':
    case 'decimal': {
      const format = kind.type === 'integer' ? /^-?\d{1,9}$/ : /^-?\d{1,9}(\.\d{1,9})?$/
      const value = format.test(text) ? Number(text) : Number.NaN
      return value >= kind.min && value <= kind.max ? value : undefined
    }
  }
}

function hasOnlyKnownNames({ names }: ListSetting, text: string): boolean {
  return names === undefined || splitList(text).every((name) => names.includes(name))
}

/** Splits the value of a list. */
export function splitList(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || [])
}

/** True for names of time zones, false for offsets such as +01:00. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}

/** Completes the sentence "expected …". */
export function describeValues(kind: SettingKind): string {
  switch (kind.type) {
    case 'boolean':
      return 'true or false'
    case 'choice':
      return `one of ${kind.values.join(', ')}`
    case 'time_zone':
      return 'the name of a time zone, such as Europe/Berlin'
    case 'list':
      return kind.names === undefined
        ? 'names separated by commas'
        : `some of ${kind.names.join(', ')}, separated by commas`
    case 'integer':
      return `a whole number from ${kind.min} to ${kind.max}`
    case 'decimal':
      return `a number from ${kind.min} to ${kind.max}`
  }
}

/** Returns why the global values contradict each other, or null. */
export function findConflict({
  HISTORY_SECONDS_DAYS: seconds,
  HISTORY_MINUTES_DAYS: minutes,
}: Settings): string | null {
  return seconds > minutes
    ? `expected HISTORY_MINUTES_DAYS (${minutes}) to be at least HISTORY_SECONDS_DAYS (${seconds})`
    : null
}

/** The values that one scope sets. */
export type ScopeSettings = Partial<Settings>

export interface StoredSettings {
  readonly global: ScopeSettings
  readonly manufacturers: ReadonlyMap<string, ScopeSettings>
  readonly groups: ReadonlyMap<number, ScopeSettings>
}

/** Omits invalid values and unknown keys. */
export function indexSettings(records: readonly SettingRecord[]): StoredSettings {
  const global: ScopeSettings = {}
  const manufacturers = new Map<string, ScopeSettings>()
  const groups = new Map<number, ScopeSettings>()
  for (const { manufacturer, group, key, value } of records) {
    const parsed = isSettingKey(key) ? parseSetting(key, value) : null
    if (!parsed?.ok) continue
    if (group !== null) groups.set(group, { ...groups.get(group), [key]: parsed.value })
    else if (manufacturer !== null)
      manufacturers.set(manufacturer, { ...manufacturers.get(manufacturer), [key]: parsed.value })
    else Object.assign(global, { [key]: parsed.value })
  }
  return { global, manufacturers, groups }
}

/** The values that apply to a channel, a receiver or a source. */
export interface SettingScopes {
  readonly global: ScopeSettings
  readonly manufacturer: ScopeSettings
  /** The values of each group that the channel, or a channel of the receiver, belongs to. */
  readonly groups: readonly ScopeSettings[]
}

/**
 * Returns the stored value that applies. The groups precede the manufacturer, and the manufacturer precedes the global
 * setting. If several groups have a value, the one that warns earlier wins.
 */
export function storedValue<Key extends SettingKey>(
  key: Key,
  { global, manufacturer, groups }: SettingScopes,
): Settings[Key] | undefined {
  let inGroups: Settings[Key] | undefined
  for (const { [key]: value } of groups) {
    if (value !== undefined) inGroups = inGroups === undefined ? value : earlierOf(key, inGroups, value)
  }
  return inGroups ?? manufacturer[key] ?? global[key]
}

/** Returns the stored value that applies, or the default. */
export function valueInForce<Key extends SettingKey>(key: Key, scopes: SettingScopes): Settings[Key] {
  return storedValue(key, scopes) ?? defaultSettings[key]
}

function earlierOf<Key extends SettingKey>(key: Key, a: Settings[Key], b: Settings[Key]): Settings[Key] {
  return rankOf(settingKinds[key], a) >= rankOf(settingKinds[key], b) ? a : b
}

/** Returns a higher number for a value that warns earlier. */
function rankOf(kind: SettingKind, value: number | boolean | string): number {
  switch (kind.type) {
    case 'boolean':
      return Number(value)
    case 'choice':
      return kind.values.indexOf(String(value))
    case 'time_zone':
    case 'list':
      return 0
    case 'integer':
    case 'decimal':
      if (kind.earlier === 'higher') return Number(value)
      return kind.earlier === 'lower_but_zero' && value === 0 ? Number.NEGATIVE_INFINITY : -Number(value)
  }
}

type SettingSource = 'stored' | 'manufacturer' | 'global' | 'configured' | 'default'

interface ExplainedValue<Value> {
  readonly value: Value
  readonly source: SettingSource
}

/** The value of every setting, with its origin. */
export type ExplainedSettings = { readonly [Key in SettingKey]: ExplainedValue<Settings[Key]> }

export interface SettingsOptions {
  readonly stored: StoredSettings
  /** For a group of one manufacturer, both are given. */
  readonly scope: SettingScope
  /** `poll_interval` in the manufacturer's plugin configuration. */
  readonly configuredInterval?: number | undefined
  readonly defaultInterval: number
  /** The default of `HISTORY_MAX_GB`, which depends on the disk; null until it is known. */
  readonly defaultMaxGb?: number | null
  /** `WEBSOCKET_BROADCASTING` in the configuration. If false, no setting can enable real-time updates. */
  readonly isBroadcasting: boolean
}

/**
 * Returns the effective values for a scope, with their origin. The first existing one of these applies:
 * - the value of the group
 * - the value of the manufacturer
 * - `poll_interval` in its plugin configuration (for the polling interval)
 * - the global value
 * - the default (for the polling interval: `defaultInterval`)
 *
 * `enable_websocket` is an exception: any scope can disable real-time updates.
 */
export function explainSettings(options: SettingsOptions): ExplainedSettings {
  const { configuredInterval, defaultInterval, isBroadcasting } = options
  const layers = layersOf(options)
  const find = <Key extends SettingKey>(
    key: Key,
    isWanted: (value: Settings[Key]) => boolean = () => true,
  ): ExplainedValue<Settings[Key]> | undefined => {
    for (const { values, source } of layers) {
      const value = values[key]
      if (value !== undefined && isWanted(value)) return { value, source }
    }
    return undefined
  }
  const { HISTORY_MAX_GB } = defaultSettings
  const isUs = (find('REGION')?.value ?? defaultSettings.REGION) === 'US'
  const defaults = {
    ...defaultSettings,
    HISTORY_MAX_GB: options.defaultMaxGb ?? HISTORY_MAX_GB,
    PAPER: isUs ? 'Letter' : defaultSettings.PAPER,
  }
  const explained = Object.fromEntries(
    settingKeys.map((key) => [key, find(key) ?? { value: defaults[key], source: 'default' }]),
  ) as unknown as ExplainedSettings
  const interval = find('polling_interval')
  const configured = { value: configuredInterval ?? defaultInterval, source: 'configured' } as const
  const isOverridden = interval === undefined || (configuredInterval !== undefined && interval.source === 'global')
  const isConfigured = configuredInterval !== undefined || defaultInterval !== defaultSettings.polling_interval
  return {
    ...explained,
    ...(isOverridden && isConfigured && { polling_interval: configured }),
    enable_websocket: isBroadcasting
      ? (find('enable_websocket', (value) => !value) ?? explained.enable_websocket)
      : { value: false, source: 'configured' },
  }
}

/** Returns the stored values that may apply in a scope, the most specific first. */
function layersOf({ stored, scope: { manufacturer, group } }: SettingsOptions) {
  const layers: { readonly values: ScopeSettings; readonly source: SettingSource }[] = []
  const add = (values: ScopeSettings = {}, source: SettingSource) =>
    layers.push({ values, source: layers.length === 0 ? 'stored' : source })
  if (group !== null) add(stored.groups.get(group), 'stored')
  if (manufacturer !== null) add(stored.manufacturers.get(manufacturer), 'manufacturer')
  add(stored.global, 'global')
  return layers
}

export function getEffectiveSettings(options: SettingsOptions): Settings {
  const explained = Object.entries(explainSettings(options)).map(([key, { value }]) => [key, value])
  return Object.fromEntries(explained) as Settings
}
