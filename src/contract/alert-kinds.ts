/**
 * The kinds of alerts. Everything about a kind follows from its row except the rule that raises it: its settings
 * (`alert_<kind>_severity`, `alert_<kind>_delay_seconds`, `alert_<kind>_enabled`), its English texts, the documents.
 */

import type { AlertData } from './alert-data.ts'
import { type Fault, faultTexts } from './faults.ts'
import type { conditionStates, Severity } from './values.ts'

/** The values of an alert for its sentences. */
interface SentenceValues extends AlertData {
  /** A channel's slot and title, else the best name that is known. */
  readonly subject: string
  readonly manufacturer: string | null
}

export interface FaultValues {
  readonly fault?: Fault | null | undefined
  readonly faults?: AlertData['faults'] | null
}

export interface AlertKindRow {
  /** In a few words. */
  readonly title: string
  readonly subject: 'channel' | 'receiver' | 'source' | 'service'
  readonly severity: Severity
  readonly delaySeconds: number
  readonly isEnabled: boolean
  /** For the documents; absent if a channel has a condition of the same name. */
  readonly raisedWhen?: string
  /** The state whose icon it has; default: the state of the same name, or one of its severity. */
  readonly icon?: (typeof conditionStates)[number]
  /** Its `message`. */
  readonly sentence: (values: SentenceValues) => string
  /** Its `message` once resolved; null if a value is missing. */
  readonly ending?: (values: SentenceValues) => string | null
  /** Detail that notifications add to the title and the name; default: the error. */
  readonly detail?: (data: AlertData) => string
  /** On pages. */
  readonly reason: string
  /** On pages if all values in braces are known; with plural forms, `count` is the number of failures. */
  readonly detailedReason?: string | { readonly one: string; readonly other: string }
  /** The unit of `threshold`; `crossed`: percent or minutes, depending on the alert. */
  readonly limit?: 'crossed' | 'min' | 'dBm'
  /** On pages, the error precedes or follows the reason; absent: no error. */
  readonly error?: 'before' | 'after'
}

const maxListedPeople = 2

const usual = { delaySeconds: 0, isEnabled: true } as const

const rows = {
  receiver_offline: {
    ...usual,
    title: 'Receiver offline',
    subject: 'receiver',
    severity: 'critical',
    raisedWhen: 'the receiver is offline',
    sentence: ({ subject, people = [] }) =>
      people.length === 0 ? `${subject} is offline` : `${subject} offline: ${listPeople(people)}`,
    detail: ({ people = [] }) => listPeople(people),
    ending: ({ name }) => name && `${name} is online again`,
    reason: 'The receiver does not respond. Check its power and its network cable.',
  },
  stale: {
    ...usual,
    title: 'Stale',
    subject: 'channel',
    severity: 'warning',
    sentence: ({ subject, receiver }) => `${subject}: nothing is received from ${receiver ?? 'the receiver'}`,
    reason: 'Nothing is received, so the values are old.',
    detailedReason: 'Nothing is received from {{receiver}}, so the values are old.',
  },
  levels_lost: {
    ...usual,
    title: 'Levels lost',
    subject: 'receiver',
    severity: 'warning',
    delaySeconds: 15,
    raisedWhen: 'channels with a transmitter have no levels (`no_levels`); `data.channels` are their ids',
    icon: 'no_levels',
    sentence: ({ subject, people = [] }) =>
      `${subject}: no levels are received${people.length === 0 ? '' : ` from ${listPeople(people)}`}`,
    detail: ({ people = [] }) => listPeople(people),
    ending: ({ name }) => `${name ?? 'Unknown'}: levels are received again`,
    reason: 'The receiver responds, but it sends no levels. RF and audio are unknown.',
  },
  encryption_error: {
    ...usual,
    title: 'Encryption error',
    subject: 'channel',
    severity: 'critical',
    sentence: ({ subject }) => `${subject}: the encryption keys do not match`,
    reason: 'The encryption keys of the transmitter and the receiver do not match. Sync them again.',
  },
  battery_critical: {
    ...usual,
    title: 'Battery critical',
    subject: 'channel',
    severity: 'critical',
    limit: 'crossed',
    sentence: (values) => `${values.subject}: ${describeBattery(values)}`,
    detail: listBatteryValues,
    reason: 'The battery is nearly empty.',
  },
  battery_died: {
    ...usual,
    title: 'Battery died',
    subject: 'channel',
    severity: 'critical',
    sentence: (values) => `${values.subject}: battery died${describeLastBattery(values)}`,
    detail: ({ battery }) => (battery === null ? '' : `last at ${battery}%`),
    reason: 'The transmitter is off, and its battery was nearly empty.',
    detailedReason: 'The transmitter is off. Its battery was last at {{battery}}.',
  },
  interference: {
    ...usual,
    title: 'Interference',
    subject: 'channel',
    severity: 'warning',
    delaySeconds: 5,
    sentence: ({ subject }) => `${subject}: RF interference`,
    reason: 'Another signal is received on this frequency.',
  },
  rf_weak: {
    ...usual,
    title: 'RF weak',
    subject: 'channel',
    severity: 'warning',
    delaySeconds: 5,
    limit: 'dBm',
    sentence: ({ subject, rf_level }) =>
      `${subject}: weak RF signal${rf_level === undefined ? '' : ` (${rf_level} dBm)`}`,
    reason: 'The RF level or the link quality is too low.',
    detailedReason: 'RF is below {{threshold}} on every antenna in use, or the link quality is below 20%.',
  },
  battery_low: {
    ...usual,
    title: 'Battery low',
    subject: 'channel',
    severity: 'warning',
    limit: 'crossed',
    sentence: (values) => `${values.subject}: ${describeBattery(values)}`,
    detail: listBatteryValues,
    reason: 'The battery is low.',
  },
  no_audio: {
    ...usual,
    title: 'No audio',
    subject: 'channel',
    severity: 'warning',
    limit: 'min',
    sentence: ({ subject, threshold }) => `${subject}: no audio for ${threshold ?? '?'} min`,
    detail: ({ threshold }) => (threshold === null ? '' : `for ${threshold} min`),
    reason: 'The transmitter is on, but there is no audio.',
    detailedReason: 'The transmitter is on, but there has been no audio for {{threshold}}.',
  },
  audio_dropout: {
    ...usual,
    title: 'Audio dropout',
    subject: 'channel',
    severity: 'warning',
    isEnabled: false,
    icon: 'no_audio',
    raisedWhen: 'the sound of a mapped channel broke off while RF was weak, or returned within 2 s; off by default',
    sentence: ({ subject, confirmed_by }) =>
      `${subject}: the sound broke off${confirmed_by === 'rf' ? ' while RF was weak' : ''}`,
    reason: 'The sound broke off.',
  },
  audio_clipping: {
    ...usual,
    title: 'Audio at full scale',
    subject: 'channel',
    severity: 'warning',
    isEnabled: false,
    icon: 'clipping',
    raisedWhen: 'the sound of a mapped channel is clipped at full scale; off by default',
    sentence: ({ subject }) => `${subject}: the sound is clipped`,
    reason: 'The sound reaches full scale. Lower the gain of the transmitter or the receiver.',
  },
  muted: {
    ...usual,
    title: 'Muted',
    subject: 'channel',
    severity: 'warning',
    delaySeconds: 10,
    raisedWhen: 'a channel is muted while `MUTE_ATTENTION` asks for attention, or its mute is marked as on purpose',
    sentence: ({ subject }) => `${subject}: muted`,
    reason: 'The transmitter or the receiver is muted.',
  },
  will_not_last: {
    ...usual,
    title: 'Battery will not last',
    subject: 'channel',
    severity: 'warning',
    raisedWhen: 'the battery may be empty before a running show of the channel is planned to end',
    sentence: ({ subject, minutes_left }) =>
      `${subject}: the battery will not last until the end of the show${minutes_left === null ? '' : ` (${formatMinutes(minutes_left)} left)`}`,
    detail: listBatteryValues,
    reason: 'The battery will be empty before the show ends.',
    detailedReason: 'The battery may last only {{minutes_left}}, and the show ends at {{ends_at}}.',
  },
  frequency_conflict: {
    ...usual,
    title: 'Frequency conflict',
    subject: 'channel',
    severity: 'warning',
    isEnabled: false,
    raisedWhen: 'another carrier in use conflicts with that of the channel; off by default',
    sentence: (values) => `${values.subject}: frequency conflict${describeConflict(values)}`,
    reason: 'Another frequency in use disturbs this one.',
  },
  off_plan: {
    ...usual,
    title: 'Not as planned',
    subject: 'channel',
    severity: 'warning',
    isEnabled: false,
    raisedWhen:
      'the frequency of a channel differs from that of its slot in the frequency plan in force; off by default',
    sentence: ({ subject, tuned, planned }) =>
      `${subject}: tuned to ${tuned ?? '?'} MHz, planned ${planned ?? '?'} MHz`,
    reason: 'The frequency differs from the plan in force.',
    detailedReason: 'Tuned to {{tuned}}, but {{planned}} is planned ({{plan}}).',
  },
  unknown_carrier: {
    ...usual,
    title: 'Unknown carrier',
    subject: 'channel',
    severity: 'warning',
    isEnabled: false,
    icon: 'interference',
    raisedWhen:
      'the sweeps of an analyser show a signal near the channel that is neither tuned nor planned; off by default',
    sentence: (values) => `${values.subject}: unknown carrier${describeUnknownCarrier(values)}`,
    detail: (data) => describeUnknownCarrier(data).trim(),
    reason: 'A signal that is neither tuned nor planned is near this frequency.',
    detailedReason:
      '{{carrier}}: a signal that is neither tuned nor planned is near {{frequency}}. Sweep time: {{sweep}}.',
  },
  charger_fault: {
    ...usual,
    title: 'Charger fault',
    subject: 'receiver',
    severity: 'warning',
    raisedWhen: 'a pack in a charger has a fault, or a charger is in storage mode',
    sentence: ({ subject, fault }) => `${subject}: ${fault === undefined ? 'fault' : faultTexts[fault]}`,
    // A newer version may have stored other faults.
    detail: ({ fault }) => (fault === undefined ? '' : (faultTexts[fault] ?? '')),
    reason: 'The charger reports a fault.',
  },
  equipment_fault: {
    ...usual,
    title: 'Equipment fault',
    subject: 'receiver',
    severity: 'warning',
    raisedWhen:
      'a receiver, base station or charger reports a fault of its own; `data.faults` has the parts and the words of the device',
    sentence: (values) => `${values.subject}: ${describeFaults(values)}`,
    detail: describeFaults,
    reason: 'The equipment reports a fault.',
  },
  upstream_failing: {
    ...usual,
    title: 'Source failing',
    subject: 'source',
    severity: 'critical',
    raisedWhen: 'three polling cycles of a source failed in a row',
    error: 'before',
    sentence: ({ manufacturer, failures, address, error }) =>
      `${manufacturer} failed ${failures ?? 'several'} times in a row (${address})${withColon(error)}`,
    ending: ({ manufacturer, address }) => (address === undefined ? null : `${manufacturer} works again (${address})`),
    reason: 'Its polls fail.',
    detailedReason: { one: '{{count}} poll failed.', other: '{{count}} polls in a row failed.' },
  },
  link_lost: {
    ...usual,
    title: 'Real-time connection lost',
    subject: 'source',
    severity: 'warning',
    raisedWhen:
      'a real-time subscription has been disconnected for a minute, or was lost three times within two minutes and has not stayed connected for a minute since',
    error: 'after',
    sentence: ({ manufacturer, address }) => `The subscription to ${manufacturer} was lost (${address})`,
    ending: ({ manufacturer, address }) =>
      address === undefined ? null : `The subscription to ${manufacturer} is connected again (${address})`,
    reason: 'Values arrive only with every poll until it is connected again.',
  },
  storage_failing: {
    ...usual,
    title: 'Changes cannot be saved',
    subject: 'service',
    severity: 'critical',
    raisedWhen:
      'the database is damaged, or cannot be written for 10 s; the alert has the id 0, because it cannot be stored',
    error: 'after',
    sentence: ({ error }) => error ?? 'The database cannot be written. Changes are not stored',
    reason: 'The database cannot be written.',
  },
  recording_stopped: {
    ...usual,
    title: 'Recording stopped',
    subject: 'service',
    severity: 'warning',
    raisedWhen: 'levels cannot be recorded; if the alert cannot be stored, it has the id -1',
    error: 'after',
    sentence: ({ error }) => `The recording of levels has stopped${withColon(error)}`,
    ending: () => 'Levels are recorded again',
    reason: 'Levels are not recorded.',
  },
  backup_failed: {
    ...usual,
    title: 'Backup failed',
    subject: 'service',
    severity: 'warning',
    raisedWhen: 'a [scheduled backup](backup.md#scheduled-backups) cannot be written or verified',
    error: 'after',
    sentence: ({ error }) => `The backup has failed${withColon(error)}`,
    ending: () => 'Backups are written again',
    reason: 'The backup was not written.',
  },
} as const satisfies Record<string, AlertKindRow>

export type AlertKind = keyof typeof rows

export const alertKindTable: Readonly<Record<AlertKind, AlertKindRow>> = rows

export const alertKinds = Object.keys(rows) as AlertKind[]

/**
 * The kinds of version 1.0.0. Notification rules and choices of sounds that it stored for all kinds apply to these, so that
 * an upgrade adds no messages and no sounds.
 */
export const kindsOfVersion1 = [
  'receiver_offline',
  'stale',
  'encryption_error',
  'battery_critical',
  'battery_died',
  'interference',
  'rf_weak',
  'battery_low',
  'no_audio',
  'will_not_last',
  'frequency_conflict',
  'charger_fault',
  'upstream_failing',
  'link_lost',
  'storage_failing',
  'recording_stopped',
] as const satisfies readonly AlertKind[]

/** False for a kind of a newer version. */
export function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(rows, kind)
}

function withColon(error: string | null | undefined): string {
  return error === undefined || error === null ? '' : `: ${error}`
}

function formatMinutes(minutes: number): string {
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

/** Names the value that crossed its limit. */
function describeBattery({ battery, minutes_left, crossed }: AlertData): string {
  const level = battery === null ? '' : ` (${battery}%)`
  if (crossed === 'warning') return `battery low${level}`
  if (minutes_left !== null && (crossed === 'minutes_left' || battery === null)) {
    return `${formatMinutes(minutes_left)} of battery left${level}`
  }
  return battery === null ? 'battery low' : `battery at ${battery}%`
}

/** For example "7 Nora, 8 Ben and 2 more". */
function listPeople(people: NonNullable<AlertData['people']>): string {
  const listed = people.slice(0, maxListedPeople).map(nameSlot)
  const others = people.length - listed.length
  return `${listed.join(', ')}${others === 0 ? '' : ` and ${others} more`}`
}

/** Slot and title; without names the slot alone. */
function nameSlot({ slot, title }: { readonly slot: number; readonly title: string | null }): string {
  return title === null ? String(slot) : `${slot} ${title}`
}

function describeLastBattery({ battery, minutes_left }: AlertData): string {
  if (battery !== null) return ` (last at ${battery}%)`
  return minutes_left === null ? '' : ` (last with ${formatMinutes(minutes_left)} left)`
}

/** For example "a fan has failed (FAN_1 Broken)". A newer version may have stored other faults. */
function describeFaults({ fault, faults }: AlertData): string {
  const text = (fault === undefined ? undefined : faultTexts[fault]) ?? 'fault'
  const words = nameFaults({ fault, faults })
  return words === '' ? text : `${text} (${words})`
}

/** The parts and the words of the device, for example "FAN_1 Broken"; empty if it reports no words. */
export function nameFaults({ fault, faults }: FaultValues): string {
  const reported = (faults ?? []).filter(({ word }) => word !== fault)
  return reported.map(({ part, word }) => (part === null ? word : `${part} ${word}`)).join(', ')
}

function listBatteryValues({ battery, minutes_left }: AlertData): string {
  const values = [battery === null ? '' : `${battery}%`, minutes_left === null ? '' : `${minutes_left} min`]
  return values.filter((value) => value !== '').join(', ')
}

/** For example " at 566.250 MHz (-48 dBm, near 566.400 MHz, sweep time 20 s)". */
function describeUnknownCarrier({ carrier_mhz, carrier_dbm, near_mhz, sweep_seconds }: AlertData): string {
  if (carrier_mhz === undefined) return ''
  const sweep = sweep_seconds === undefined ? '' : `, sweep time ${sweep_seconds} s`
  return ` at ${carrier_mhz} MHz (${carrier_dbm} dBm, near ${near_mhz} MHz${sweep})`
}

function describeConflict({ conflict, conflicts_with, generators = [] }: AlertData): string {
  // Alerts of earlier versions have only names.
  const carriers = (conflicts_with?.map(nameSlot) ?? generators).join(', ')
  switch (conflict) {
    case undefined:
      return ''
    case 'foreign':
      return ' (RF although the transmitter is off)'
    case 'outside_band':
      return ' (outside the band of the equipment)'
    case 'tv':
      return ' (in a TV channel in use)'
    case 'duplicate':
      return ` (same frequency as ${carriers})`
    case 'spacing':
      return ` (too close to ${carriers})`
    default:
      return ` (intermodulation of ${carriers})`
  }
}
