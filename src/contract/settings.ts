/**
 * All settings that can be changed while the service runs: types, limits, defaults, and which of several values warns
 * earlier. The schemas, the checks of values and the settings page are derived from this table.
 */

import { type AlertKind, alertKindDefaults, alertKinds } from './alert-kinds.ts'
import { regions, severities } from './values.ts'

export type SettingSubject = 'polling' | 'battery' | 'rf' | 'audio' | 'alerts' | 'history' | 'identify' | 'documents'

interface Described {
  readonly subject: SettingSubject
  /** Whether a manufacturer can have a value of its own. */
  readonly isPerManufacturer: boolean
  /** Whether a group can have a value of its own. */
  readonly isPerGroup: boolean
  /** Whether the default depends on the installation. */
  readonly hasOwnDefault?: true
  readonly description: string
}

export interface NumberSetting<Type extends 'integer' | 'decimal' = 'integer' | 'decimal'> extends Described {
  /** `decimal`: a number that may have a fraction. */
  readonly type: Type
  readonly unit: 's' | 'min' | '%' | 'dBm' | 'd' | 'GB'
  readonly min: number
  readonly max: number
  readonly default: number
  /** Which of two values warns earlier. `lower_but_zero`: the lower one, but 0 means never. */
  readonly earlier: 'higher' | 'lower' | 'lower_but_zero'
}

/** Of two values, true warns earlier. */
export interface BooleanSetting extends Described {
  readonly type: 'boolean'
  readonly default: boolean
}

export interface ChoiceSetting<Values extends readonly string[] = readonly string[]> extends Described {
  readonly type: 'choice'
  /** From the value that warns last to the one that warns first. */
  readonly values: Values
  readonly default: Values[number]
}

/** The name of a time zone in the IANA database. Of two values, none warns earlier. */
export interface TimeZoneSetting extends Described {
  readonly type: 'time_zone'
  readonly default: string
}

/** Names separated by commas; empty for none. Of two values, none warns earlier. */
export interface ListSetting extends Described {
  readonly type: 'list'
  readonly default: string
}

export type SettingKind = NumberSetting | BooleanSetting | ChoiceSetting | TimeZoneSetting | ListSetting

const percent = { type: 'integer', unit: '%', min: 0, max: 100, earlier: 'higher' } as const
const minutes = { type: 'integer', unit: 'min', min: 0, max: 1440, earlier: 'higher' } as const
const dbm = { type: 'integer', unit: 'dBm', min: -120, max: -20 } as const
const days = { type: 'integer', unit: 'd', min: 1, max: 3650, earlier: 'higher' } as const
const perScope = { isPerManufacturer: true, isPerGroup: true } as const
const battery = { ...perScope, subject: 'battery' } as const
const rf = { ...perScope, subject: 'rf' } as const
const audio = { ...perScope, subject: 'audio' } as const
const alerting = { ...perScope, subject: 'alerts' } as const
const polling = { subject: 'polling', isPerManufacturer: true, isPerGroup: false } as const
const history = { subject: 'history', isPerManufacturer: false, isPerGroup: false } as const
const identify = { subject: 'identify', isPerManufacturer: false, isPerGroup: false } as const
const documents = { subject: 'documents', isPerManufacturer: false, isPerGroup: false } as const

/** The settings that decide when a condition is true. */
export const thresholdKinds = {
  BATTERY_CRITICAL: {
    ...battery,
    ...percent,
    default: 10,
    description: 'Battery level in percent at or below which `battery_critical` applies.',
  },
  MINUTES_CRITICAL: {
    ...battery,
    ...minutes,
    default: 15,
    description: 'Remaining minutes at or below which `battery_critical` applies.',
  },
  alert_battery_threshold: {
    ...battery,
    ...percent,
    default: 20,
    description: 'Battery level in percent at or below which `battery_low` applies.',
  },
  MINUTES_LOW: {
    ...battery,
    ...minutes,
    default: 45,
    description: 'Remaining minutes at or below which `battery_low` applies.',
  },
  BATTERY_REPLACE_SOON: {
    ...battery,
    ...percent,
    default: 50,
    description: 'Battery level in percent at or below which `battery_replace_soon` applies.',
  },
  RF_NOISE_DBM: {
    ...rf,
    ...dbm,
    earlier: 'lower',
    default: -75,
    description: 'RF level in dBm above which a channel without a transmitter has `interference`.',
  },
  RF_WEAK_DBM: {
    ...rf,
    ...dbm,
    earlier: 'higher',
    default: -85,
    description: 'RF level in dBm below which `rf_weak` applies.',
  },
  NO_AUDIO_MINUTES: {
    ...audio,
    type: 'integer',
    unit: 'min',
    min: 0,
    max: 240,
    default: 0,
    earlier: 'lower_but_zero',
    description: 'Minutes of silence after which `no_audio` applies; 0: never.',
  },
  MUTE_ATTENTION: {
    ...audio,
    type: 'choice',
    values: ['never', 'during_shows', 'always'],
    default: 'during_shows',
    description: 'When a muted channel needs attention.',
  },
} as const satisfies Record<string, SettingKind>

type AlertSettingKinds = { readonly [Kind in AlertKind as `alert_${Kind}_enabled`]: BooleanSetting } & {
  readonly [Kind in AlertKind as `alert_${Kind}_delay_seconds`]: NumberSetting<'integer'>
} & { readonly [Kind in AlertKind as `alert_${Kind}_severity`]: ChoiceSetting<typeof severities> }

const alertSettingKinds = Object.fromEntries(
  alertKinds.flatMap((kind): [string, SettingKind][] => {
    const { isEnabled, delaySeconds, severity } = alertKindDefaults[kind]
    return [
      [
        `alert_${kind}_enabled`,
        {
          ...alerting,
          type: 'boolean',
          default: isEnabled,
          description: `False: no alert of kind \`${kind}\` is raised.`,
        },
      ],
      [
        `alert_${kind}_delay_seconds`,
        {
          ...alerting,
          type: 'integer',
          unit: 's',
          min: 0,
          max: 3600,
          default: delaySeconds,
          earlier: 'lower',
          description: `Seconds for which the cause must last before an alert of kind \`${kind}\` is raised.`,
        },
      ],
      [
        `alert_${kind}_severity`,
        {
          ...alerting,
          type: 'choice',
          values: severities,
          default: severity,
          description: `Severity of alerts of kind \`${kind}\`. While no value is stored, it follows the cause.`,
        },
      ],
    ]
  }),
) as unknown as AlertSettingKinds

export const settingKinds = {
  polling_interval: {
    ...polling,
    type: 'integer',
    unit: 's',
    min: 1,
    max: 3600,
    default: 10,
    earlier: 'lower',
    description: 'Seconds between two polls.',
  },
  enable_websocket: {
    ...polling,
    type: 'boolean',
    default: true,
    description: 'False while real-time updates are disabled.',
  },
  ...thresholdKinds,
  ...alertSettingKinds,
  HISTORY: {
    ...history,
    type: 'boolean',
    default: true,
    description: 'False: no levels are recorded.',
  },
  HISTORY_SECONDS_DAYS: {
    ...history,
    ...days,
    default: 14,
    description: 'Days for which every second is kept; at most `HISTORY_MINUTES_DAYS`.',
  },
  HISTORY_MINUTES_DAYS: {
    ...history,
    ...days,
    default: 400,
    description: 'Days for which steps of 10 seconds and 1 minute, events and cleared alerts are kept.',
  },
  HISTORY_MAX_GB: {
    ...history,
    hasOwnDefault: true,
    type: 'decimal',
    unit: 'GB',
    min: 0.00001,
    max: 1_000_000,
    default: 20,
    earlier: 'higher',
    description:
      'The most that recorded levels may use on the disk, in GB. By default the smaller of 20 and half the space that was free when recording first started.',
  },
  IDENTIFY: {
    ...identify,
    type: 'boolean',
    default: false,
    description: 'Whether operators can make the lights of a receiver flash.',
  },
  IDENTIFY_DURING_SHOWS: {
    ...identify,
    type: 'boolean',
    default: false,
    description: 'The same while a show is running.',
  },
  REGION: {
    ...documents,
    type: 'choice',
    values: regions,
    default: 'EU',
    description: 'Where the installation is. The region sets the TV channels.',
  },
  TV_IN_USE: {
    ...documents,
    type: 'list',
    default: '',
    description: 'TV channels in use, separated by commas, such as `21, 24`.',
  },
  TIME_ZONE: {
    ...documents,
    hasOwnDefault: true,
    type: 'time_zone',
    default: Intl.DateTimeFormat().resolvedOptions().timeZone,
    description: 'Time zone of reports and other documents, such as Europe/Berlin. By default that of the host.',
  },
  PAPER: {
    ...documents,
    hasOwnDefault: true,
    type: 'choice',
    values: ['A4', 'Letter'],
    default: 'A4',
    description: 'Paper of printed pages. By default `Letter` if `REGION` is `US`.',
  },
  LANGUAGE: {
    ...documents,
    type: 'choice',
    values: ['en'],
    default: 'en',
    description: 'Language of the documents that the service writes.',
  },
} as const satisfies Record<string, SettingKind>

export type SettingKey = keyof typeof settingKinds
export type ThresholdKey = keyof typeof thresholdKinds

type ValueOf<Kind extends SettingKind> = Kind extends { readonly type: 'integer' | 'decimal' }
  ? number
  : Kind extends { readonly type: 'boolean' }
    ? boolean
    : Kind extends { readonly type: 'time_zone' | 'list' }
      ? string
      : Kind extends { readonly values: readonly (infer Value)[] }
        ? Value
        : never

/** A value for every setting. */
export type Settings = { readonly [Key in SettingKey]: ValueOf<(typeof settingKinds)[Key]> }

export const settingKeys = Object.keys(settingKinds) as SettingKey[]

export const defaultSettings = Object.fromEntries(
  settingKeys.map((key) => [key, settingKinds[key].default]),
) as unknown as Settings

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingKinds, key)
}
