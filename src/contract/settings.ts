/**
 * All settings that can be changed while the service runs. The schemas, the checks of values, the settings page, its
 * English texts and the tables in the documents follow from these rows.
 */

import { type AlertKind, alertKinds, alertKindTable } from './alert-kinds.ts'
import { evidenceKinds, regions, severities } from './values.ts'

/** The sections of the settings page. */
export const settingSubjects = [
  'polling',
  'battery',
  'rf',
  'audio',
  'alerts',
  'history',
  'identify',
  'listening',
  'documents',
] as const
export type SettingSubject = (typeof settingSubjects)[number]

interface Described {
  readonly subject: SettingSubject
  readonly isPerManufacturer: boolean
  readonly isPerGroup: boolean
  /** The default depends on the installation. */
  readonly hasOwnDefault?: true
  /** For the documents. */
  readonly description: string
  /** On pages; the texts for alerts have the name of the kind in them. */
  readonly label?: string
  readonly hint?: string
}

export interface NumberSetting<Type extends 'integer' | 'decimal' = 'integer' | 'decimal'> extends Described {
  /** `decimal`: a number that may have a fraction. */
  readonly type: Type
  readonly unit: 's' | 'min' | '%' | 'dBm' | 'd' | 'GB' | null
  readonly min: number
  readonly max: number
  readonly default: number
  /** The direction that warns earlier. `lower_but_zero`: lower values, but 0 means never. */
  readonly earlier: 'higher' | 'lower' | 'lower_but_zero'
}

/** `true` warns earlier than `false`. */
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
  /** Absent: any names. */
  readonly names?: readonly string[]
  readonly default: string
}

interface PageTexts {
  readonly label: string
  readonly hint: string
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
const listening = { subject: 'listening', isPerManufacturer: false, isPerGroup: false } as const
const documents = { subject: 'documents', isPerManufacturer: false, isPerGroup: false } as const

export const thresholdKinds = {
  BATTERY_CRITICAL: {
    ...battery,
    ...percent,
    default: 10,
    description: 'Battery level in percent at or below which `battery_critical` applies.',
    label: 'Battery critical',
    hint: 'A battery at or below this level is critical. A value above the low level counts as the low level.',
  },
  MINUTES_CRITICAL: {
    ...battery,
    ...minutes,
    default: 15,
    description: 'Remaining minutes at or below which `battery_critical` applies.',
    label: 'Remaining time critical',
    hint: 'A battery that lasts this long or less is critical.',
  },
  alert_battery_threshold: {
    ...battery,
    ...percent,
    default: 20,
    description: 'Battery level in percent at or below which `battery_low` applies.',
    label: 'Battery low',
    hint: 'A battery at or below this level is low. The alert clears when the battery is at least 5% above this level.',
  },
  MINUTES_LOW: {
    ...battery,
    ...minutes,
    default: 45,
    description: 'Remaining minutes at or below which `battery_low` applies.',
    label: 'Remaining time low',
    hint: 'A battery that lasts this long or less is low.',
  },
  BATTERY_REPLACE_SOON: {
    ...battery,
    ...percent,
    default: 50,
    description: 'Battery level in percent at or below which `battery_replace_soon` applies.',
    label: 'Replace soon',
    hint: 'A battery at or below this level is marked for replacement before the next show.',
  },
  RF_NOISE_DBM: {
    ...rf,
    ...dbm,
    earlier: 'lower',
    default: -75,
    description: 'RF level in dBm above which a channel without a transmitter has `interference`.',
    label: 'Interference',
    hint: 'RF above this level on a channel without a transmitter is interference.',
  },
  RF_WEAK_DBM: {
    ...rf,
    ...dbm,
    earlier: 'higher',
    default: -85,
    description: 'RF level in dBm below which `rf_weak` applies.',
    label: 'RF weak',
    hint: 'RF below this level on every antenna in use is weak.',
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
    label: 'No audio',
    hint: 'A transmitter without audio for this long needs attention. 0 turns this off.',
  },
  MUTE_ATTENTION: {
    ...audio,
    type: 'choice',
    values: ['never', 'during_shows', 'always'],
    default: 'during_shows',
    description: 'When a muted channel needs attention.',
    label: 'Muted channels need attention',
    hint: 'Whether a muted channel is listed among the problems.',
  },
} as const satisfies Record<string, SettingKind & PageTexts>

type AlertSettingKinds = { readonly [Kind in AlertKind as `alert_${Kind}_enabled`]: BooleanSetting } & {
  readonly [Kind in AlertKind as `alert_${Kind}_delay_seconds`]: NumberSetting<'integer'>
} & { readonly [Kind in AlertKind as `alert_${Kind}_severity`]: ChoiceSetting<typeof severities> }

const alertSettingKinds = Object.fromEntries(
  alertKinds.flatMap((kind): [string, SettingKind][] => {
    const { isEnabled, delaySeconds, severity } = alertKindTable[kind]
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

const pollingKinds = {
  polling_interval: {
    ...polling,
    type: 'integer',
    unit: 's',
    min: 1,
    max: 3600,
    default: 10,
    earlier: 'lower',
    description: 'Seconds between two polls.',
    label: 'Polling interval',
    hint: 'Time from the start of one poll to the start of the next.',
  },
  enable_websocket: {
    ...polling,
    type: 'boolean',
    default: true,
    description: 'False while real-time updates are disabled.',
    label: 'Live updates',
    hint: 'Pages receive changes immediately. If off, pages poll every few seconds.',
  },
} as const satisfies Record<string, SettingKind & PageTexts>

const installationKinds = {
  HISTORY: {
    ...history,
    type: 'boolean',
    default: true,
    description: 'False: no levels are recorded.',
    label: 'Record levels',
    hint: 'If off, no levels are recorded. Events, markers and reports continue.',
  },
  HISTORY_SECONDS_DAYS: {
    ...history,
    ...days,
    default: 14,
    description: 'Days for which every second is kept; at most `HISTORY_MINUTES_DAYS`.',
    label: 'Keep every second',
    hint: 'Shows and the minute around every alert are kept longer, as long as the minutes.',
  },
  HISTORY_MINUTES_DAYS: {
    ...history,
    ...days,
    default: 400,
    description:
      'Days for which steps of 10 seconds and 1 minute, events and cleared alerts are kept; at least `HISTORY_SECONDS_DAYS`.',
    label: 'Keep minutes',
    hint: 'Also applies to events and cleared alerts. At least as long as every second is kept.',
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
      'Maximum disk space for recorded levels, in GB. By default the smaller of 20 and half the space that was free when recording first started.',
    label: 'Maximum size',
    hint: 'When recorded levels exceed this size, the oldest seconds are deleted first.',
  },
  IDENTIFY: {
    ...identify,
    type: 'boolean',
    default: false,
    description: 'If true, operators can make the lights of a receiver flash.',
    label: 'Flash the lights of receivers',
    hint: 'If on, operators can make the lights of a receiver or channel flash for some seconds, to find it in its rack.',
  },
  IDENTIFY_DURING_SHOWS: {
    ...identify,
    type: 'boolean',
    default: false,
    description: 'The same while a show is running.',
    label: 'Flash lights during shows',
    hint: 'If off, nothing flashes while a show is running.',
  },
  AUDIO_EVIDENCE_ALWAYS: {
    ...listening,
    type: 'boolean',
    default: false,
    description:
      'If true, sound is kept even while no show is running. Needs `audio_evidence` in the configuration file.',
    label: 'Keep sound without a show',
    hint: 'If off, sound is kept only while a show is running. Has no effect while audio_evidence is off in the configuration file.',
  },
  AUDIO_EVIDENCE_KINDS: {
    ...listening,
    type: 'list',
    names: evidenceKinds,
    default: 'rf_dropout,interference,audio_clipping,marker',
    description: `Kinds of events for which sound is kept, separated by commas: ${evidenceKinds.map((kind) => `\`${kind}\``).join(', ')}.`,
    label: 'Events with sound',
    hint: `Events for which sound is kept, separated by commas: ${evidenceKinds.join(', ')}.`,
  },
  AUDIO_EVIDENCE_MAX_GB: {
    ...listening,
    type: 'decimal',
    unit: 'GB',
    min: 0.00001,
    max: 1_000_000,
    default: 2,
    earlier: 'higher',
    description: 'Maximum disk space for kept sound, in GB. The oldest clips are deleted first.',
    label: 'Maximum size of sound',
    hint: 'When clips exceed this size, the oldest are deleted.',
  },
  AUDIO_EVIDENCE_DAYS: {
    ...listening,
    ...days,
    max: 90,
    default: 14,
    description: 'Days for which sound is kept.',
    label: 'Keep sound',
    hint: 'Clips are deleted afterwards.',
  },
  MAX_LISTENERS: {
    ...listening,
    type: 'integer',
    unit: null,
    min: 1,
    max: 64,
    default: 8,
    earlier: 'lower',
    description: 'Maximum number of simultaneous listeners.',
    label: 'Listeners at a time',
    hint: 'Maximum number of simultaneous listeners. Each needs about 0.8 Mbit/s.',
  },
  MAX_LISTENERS_PER_PERSON: {
    ...listening,
    type: 'integer',
    unit: null,
    min: 1,
    max: 8,
    default: 2,
    earlier: 'lower',
    description: 'Maximum number of channels that one person or token may listen to at a time.',
    label: 'Channels for each person',
    hint: 'Maximum number of channels that one person or token may listen to at a time, for example on a computer and a phone.',
  },
  REGION: {
    ...documents,
    type: 'choice',
    values: regions,
    default: 'EU',
    description: 'Where the installation is. The region sets the TV channels.',
    label: 'Region',
    hint: 'Where the equipment is used. The region sets the TV channels.',
  },
  TV_IN_USE: {
    ...documents,
    type: 'list',
    default: '',
    description: 'TV channels in use, separated by commas, such as `21, 24`.',
    label: 'TV channels in use',
    hint: 'Numbers of TV channels, separated by commas, such as 21, 24. A carrier that touches one of them is in conflict.',
  },
  TIME_ZONE: {
    ...documents,
    hasOwnDefault: true,
    type: 'time_zone',
    default: Intl.DateTimeFormat().resolvedOptions().timeZone,
    description: 'Time zone of reports and other documents, such as Europe/Berlin. By default that of the host.',
    label: 'Time zone',
    hint: 'Used for times in reports and crew sheets. Default: the time zone of the machine that runs Micwatch.',
  },
  PAPER: {
    ...documents,
    hasOwnDefault: true,
    type: 'choice',
    values: ['A4', 'Letter'],
    default: 'A4',
    description: 'Paper of printed pages. By default `Letter` if `REGION` is `US`.',
    label: 'Paper',
    hint: 'The paper for reports and crew sheets. Until a value is set, Letter in the US and A4 elsewhere.',
  },
  LANGUAGE: {
    ...documents,
    type: 'choice',
    values: ['en'],
    default: 'en',
    description: 'Language of the documents that the service writes.',
    label: 'Language of documents',
    hint: 'The language of reports, crew sheets and other documents. The pages follow the browser.',
  },
} as const satisfies Record<string, SettingKind & PageTexts>

/** The settings with texts of their own. */
export const labelledSettings = { ...pollingKinds, ...thresholdKinds, ...installationKinds }

export const settingKinds = { ...pollingKinds, ...thresholdKinds, ...alertSettingKinds, ...installationKinds }

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

export type Settings = { readonly [Key in SettingKey]: ValueOf<(typeof settingKinds)[Key]> }

export const settingKeys = Object.keys(settingKinds) as SettingKey[]

export const defaultSettings = Object.fromEntries(
  settingKeys.map((key) => [key, settingKinds[key].default]),
) as unknown as Settings

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingKinds, key)
}
