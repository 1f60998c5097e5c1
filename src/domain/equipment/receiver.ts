/**
 * Receivers, their channels, the transmitters received on them, and reports of one device from one source.
 *
 * Fields have the same names from the database to the browser (docs/conformance.md lists their sources). Units: battery
 * in whole percent, audio_level in whole dBFS, rf_level in whole dBm, frequency in MHz as text with three decimal
 * places, times in epoch milliseconds. Null means unknown; absent means not reported.
 */

import type { ChannelDetails, TransmitterDetails } from '../../contract/channels.ts'
import type { ReceiverDetails } from '../../contract/receivers.ts'
import type { SiteReference } from '../../contract/schema.ts'
import type { SlotRecord } from '../../contract/slots.ts'
import type { NetworkMode } from '../../contract/values.ts'
import { type Condition, type LastTransmitter, unknownCondition } from '../conditions/condition.ts'
import type { Forecast } from '../forecast/forecast.ts'
import { isRecord, isSameJson } from '../json.ts'

export interface Transmitter {
  /** As the upstream reports it. The position on the wall is the channel's `slot`. */
  readonly upstream_slot: number | null
  readonly name: string | null
  readonly battery: number | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly frequency: string | null
  /** Absent if the system reports none. */
  readonly details?: TransmitterDetails
}

export interface Channel {
  readonly id: number
  readonly channel: number
  /** Position on the wall. Assigned when the channel is created; only an operator changes it. */
  readonly slot: number
  readonly name: string | null
  readonly frequency: string | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly transmitter: Transmitter | null
  /** Absent if the system reports none. */
  readonly details?: ChannelDetails
  /** Set by an operator; if absent, the model determines the profile. */
  readonly profile?: string
  /** Absent while the sound of the channel may be played and kept. */
  readonly not_now?: NotNow
  readonly condition: Condition
  /** The transmitter last received on a channel without one; null if there was none within 7 days. */
  readonly last_transmitter: LastTransmitter | null
  /** The remaining battery time of the transmitter; null without a basis. */
  readonly forecast: Forecast | null
  /** Absent for a channel of this installation. */
  readonly origin?: ChannelOrigin
}

export interface NotNow {
  readonly by: string
  readonly since: number
  /** Null: until an operator ends it. */
  readonly until: number | null
}

/** A channel in the installation that monitors it. */
export interface ChannelOrigin {
  readonly id: number
  readonly slot: number
  /** Absent if that installation announces no titles. */
  readonly title?: Pick<SlotRecord, 'title' | 'title_from'>
}

/** A receiver in the installation that monitors it. */
export interface ReceiverOrigin {
  /** The code of the manufacturer's record that follows the other installation. */
  readonly record: string
  /**
   * `code` is that of the record, or `<record>/<code there>` for a receiver that the other installation follows too.
   */
  readonly site: SiteReference
  /** The receiver's id in the other installation. */
  readonly id: number
}

/** The hardware and network properties of a device, as reported by the manufacturer's system. */
export interface Hardware {
  readonly name: string
  readonly device_type: string
  readonly model: string | null
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly ip: string | null
  readonly subnet_mask: string | null
  readonly gateway: string | null
  readonly network_mode: NetworkMode | null
  readonly interface_id: string | null
  readonly description: string | null
  readonly firmware_version: string | null
  readonly hosted_firmware_version: string | null
}

export interface Receiver extends Hardware {
  readonly id: number
  /** Code of the manufacturer in the installation that monitors the receiver. */
  readonly manufacturer: string
  readonly api_device_id: string | null
  readonly is_active: boolean
  readonly last_seen: number
  readonly location: number | null
  /** True if an operator set the name, so that reported names do not replace it. */
  readonly is_named_by_hand: boolean
  /** True if an administrator has marked it as a spare, with which the spectrum may be scanned. */
  readonly spare?: boolean
  /** Changes when a person edits the receiver; absent before the first edit. */
  readonly version?: number
  /** Contains no nulls. Absent if the device never reported any. */
  readonly details?: ReceiverDetails
  /** Absent for a receiver of this installation. */
  readonly origin?: ReceiverOrigin
  /** Sorted by channel number. */
  readonly channels: readonly Channel[]
}

/** Contains only the reported fields. */
export type TransmitterReading = Partial<Transmitter>

/** Contains only the reported fields. `transmitter: null` means that no transmitter is received. */
export interface ChannelReading
  extends Partial<Pick<Channel, 'name' | 'frequency' | 'audio_level' | 'rf_level' | 'details'>> {
  readonly channel: number
  readonly transmitter?: TransmitterReading | null
}

/**
 * A report of one device by one source: the common format of all plugins. `id` is the `api_device_id` in the
 * manufacturer's system.
 */
export interface DeviceReport extends Partial<Omit<Hardware, 'model'>> {
  readonly id: string
  /** True if the report only confirms that a known device is still connected. It never creates a receiver. */
  readonly isConfirmation?: boolean
  readonly model_name?: string | null
  readonly online?: boolean
  readonly kind: 'receiver' | 'transmitter'
  readonly channels?: readonly ChannelReading[]
  /** The transmitter's own value, or a receiver's summary value. */
  readonly battery?: number | null
  readonly rf_level?: number | null
  /** Those of a receiver, or of a transmitter that is a device of its own. */
  readonly details?: ReceiverDetails & TransmitterDetails
  /** All packs that the device reports without receiving them on a channel: docked in a charger, or receive-only. */
  readonly units?: readonly DeviceReport[]
  /** The full upstream response for the device; stored with a queue entry. */
  readonly metadata?: unknown
}

export const hardwareFields = [
  'name',
  'device_type',
  'model',
  'serial_number',
  'mac_address',
  'ip',
  'subnet_mask',
  'gateway',
  'network_mode',
  'interface_id',
  'description',
  'firmware_version',
  'hosted_firmware_version',
] as const satisfies readonly (keyof Hardware)[]

/** Every receiver has a name and a type. */
export const unknownHardware: Omit<Hardware, 'name' | 'device_type'> = {
  model: null,
  serial_number: null,
  mac_address: null,
  ip: null,
  subnet_mask: null,
  gateway: null,
  network_mode: null,
  interface_id: null,
  description: null,
  firmware_version: null,
  hosted_firmware_version: null,
}

/** Returns undefined if the field was not reported. */
export function reportedField(report: DeviceReport, field: keyof Hardware): string | null | undefined {
  return field === 'model' ? report.model_name : report[field]
}

/** True if the report contains a name, an address or another hardware property. */
export function reportsHardware(report: DeviceReport): boolean {
  return hardwareFields.some((field) => reportedField(report, field) != null)
}

/** Returns the hardware fields of a report that are present and not null. */
export function reportedHardware(report: DeviceReport): Partial<Hardware> {
  const reported: Record<string, unknown> = {}
  for (const field of hardwareFields) {
    const value = reportedField(report, field)
    if (value !== undefined && value !== null) reported[field] = value
  }
  return reported as Partial<Hardware>
}

/** True if the transmitter or the output of the receiver is muted. */
export function isChannelMuted({ transmitter, details }: Pick<Channel, 'transmitter' | 'details'>): boolean {
  return details?.muted === true || transmitter?.details?.muted === true
}

/** Returns the receiver that has the channel. */
export function findReceiverOf(receivers: readonly Receiver[], channelId: number): Receiver | undefined {
  return receivers.find(({ channels }) => channels.some(({ id }) => id === channelId))
}

/** Limits `last_seen` to the current time: a machine whose clock is ahead may have stored the receiver. */
export function clampLastSeen(now: number, receiver: Receiver): Receiver {
  return receiver.last_seen > now ? { ...receiver, last_seen: now } : receiver
}

/** Merges two reports of one device. Fields that are absent or null in the later report keep the earlier value. */
export function mergeReports(earlier: DeviceReport, later: DeviceReport): DeviceReport {
  const channels = new Map((earlier.channels ?? []).map((reading) => [reading.channel, reading]))
  for (const reading of later.channels ?? []) {
    channels.set(reading.channel, mergeReadings(channels.get(reading.channel), reading))
  }
  const known = Object.entries(later).filter(([, value]) => value !== undefined && value !== null)
  return { ...earlier, ...Object.fromEntries(known), ...(channels.size > 0 && { channels: [...channels.values()] }) }
}

function mergeReadings(earlier: ChannelReading | undefined, later: ChannelReading): ChannelReading {
  const { transmitter } = later
  const isPartial = transmitter !== undefined && transmitter !== null
  return { ...earlier, ...later, ...(isPartial && { transmitter: { ...earlier?.transmitter, ...transmitter } }) }
}

/** Returns the fields of `reported` that differ from `known`. */
export function changedFields<T extends object>(known: T, reported: Partial<T>): Partial<T> {
  const changed: Partial<T> = {}
  for (const field of Object.keys(reported) as (keyof T)[]) {
    const value = reported[field]
    if (value !== undefined && value !== known[field]) changed[field] = value
  }
  return changed
}

/**
 * Merges readings into known channels. Absent fields keep their value, channels are matched by number, and
 * `transmitter: null` removes the transmitter. Readings of unknown channels are ignored; see `missingChannels`. Returns
 * `known` itself if nothing changed.
 */
export function mergeChannels(known: readonly Channel[], reported: readonly ChannelReading[]): readonly Channel[] {
  let merged: Channel[] | undefined
  for (const reading of reported) {
    const index = known.findIndex((channel) => channel.channel === reading.channel)
    const before = (merged ?? known)[index]
    if (before === undefined) continue
    const after = mergeChannel(before, reading)
    if (after === before) continue
    merged ??= [...known]
    merged[index] = after
  }
  return merged ?? known
}

/**
 * Drops the fields that another report has changed since `read` was requested, because that report is newer. `before`
 * are the channels at the time of the request. Returns `read` itself if nothing changed.
 */
export function withoutSuperseded<Reading extends Pick<ChannelReading, 'channel'>>(
  read: readonly Reading[],
  before: readonly Channel[],
  now: readonly Channel[],
): readonly Reading[] {
  if (before === now) return read
  let kept: Reading[] | undefined
  for (const [index, reading] of read.entries()) {
    const isSameNumber = ({ channel }: Channel) => channel === reading.channel
    const after = now.find(isSameNumber)
    if (after === undefined) continue
    const current = withoutChangedFields(reading, before.find(isSameNumber) ?? { channel: after.channel }, after)
    if (current === reading) continue
    kept ??= [...read]
    kept[index] = current
  }
  return kept ?? read
}

/**
 * Drops the fields that changed between `before` and `now`, treating absent fields as null. If a transmitter appeared
 * in between, only its reported fields count as changed. Returns `read` itself if no field is dropped.
 */
function withoutChangedFields<T extends object>(read: T, before: object, now: object): T {
  let kept: T | undefined
  for (const field in read) {
    const value = read[field]
    const [oldValue, newValue] = [valueIn(before, field), valueIn(now, field)]
    if (oldValue === newValue) continue
    if (isRecord(value) && isRecord(newValue)) {
      const current = withoutChangedFields(value, isRecord(oldValue) ? oldValue : {}, newValue)
      if (current === value) continue
      kept ??= { ...read }
      kept[field] = current
    } else {
      kept ??= { ...read }
      delete kept[field]
    }
  }
  return kept ?? read
}

function valueIn(fields: object, field: string): unknown {
  return (fields as Readonly<Record<string, unknown>>)[field] ?? null
}

/** Lists the channel numbers in `reported` that are not in `known`, in ascending order. */
export function missingChannels(known: readonly Channel[], reported: readonly ChannelReading[]): readonly number[] {
  const numbers = new Set<number>()
  for (const { channel } of reported) if (!known.some((other) => other.channel === channel)) numbers.add(channel)
  return numbers.size === 0 ? [] : [...numbers].sort((a, b) => a - b)
}

export function frequencyOf({ frequency, transmitter }: Pick<Channel, 'frequency' | 'transmitter'>): string | null {
  return frequency ?? transmitter?.frequency ?? null
}

/** Returns the name of the transmitter, else that of the channel. */
export function reportedName({ name, transmitter }: Pick<Channel, 'name' | 'transmitter'>): string | null {
  return transmitter?.name ?? name
}

export function emptyChannel(id: number, channel: number, slot: number): Channel {
  return {
    id,
    channel,
    slot,
    name: null,
    frequency: null,
    audio_level: null,
    rf_level: null,
    transmitter: null,
    condition: unknownCondition,
    last_transmitter: null,
    forecast: null,
  }
}

/**
 * Converts the summary values of a report (`battery`, `rf_level`) to a reading of the transmitter on channel 1. Applies
 * only if the receiver has no other channel, and no other values of the channel or its transmitter are known. Returns a
 * report with channels unchanged.
 */
export function withSummaryAsChannel(report: DeviceReport, known: readonly Channel[]): DeviceReport {
  const { battery, rf_level } = report
  const [only, ...others] = known
  if (report.channels !== undefined || (battery === undefined && rf_level === undefined)) return report
  if (only === undefined || others.length > 0 || !isSummaryChannel(only)) return report
  const transmitter = { ...(battery !== undefined && { battery }), ...(rf_level !== undefined && { rf_level }) }
  return { ...report, channels: [{ channel: only.channel, transmitter }] }
}

function isSummaryChannel({ channel, name, frequency, audio_level, rf_level, transmitter }: Channel): boolean {
  const isBare = [name, frequency, audio_level, rf_level].every((value) => value === null)
  if (channel !== 1 || !isBare || transmitter === null) return false
  const { battery: _, rf_level: __, ...others } = transmitter
  return Object.values(others).every((value) => value === null)
}

const noTransmitter: Transmitter = {
  upstream_slot: null,
  name: null,
  battery: null,
  audio_level: null,
  rf_level: null,
  frequency: null,
}

const noDetails = {}

function mergeChannel(before: Channel, reading: ChannelReading): Channel {
  return mergeFields<Channel>(before, {
    ...reading,
    transmitter: mergeTransmitter(before.transmitter, reading.transmitter),
    details: mergeDetails(before.details, reading.details),
  })
}

function mergeTransmitter(
  before: Transmitter | null,
  reported: TransmitterReading | null | undefined,
): Transmitter | null {
  if (reported === undefined) return before
  if (reported === null) return null
  const known = before ?? noTransmitter
  return mergeFields<Transmitter>(known, { ...reported, details: mergeDetails(known.details, reported.details) })
}

/** Returns `before` itself if nothing changed. */
export function mergeDetails<Details extends object>(before: Details | undefined, reported: Details | undefined) {
  if (reported === undefined) return before
  const merged = mergeFields<Details>(before ?? (noDetails as Details), reported)
  return merged === noDetails ? before : merged
}

/**
 * Merges reported details of a receiver, which replace equal names. Null removes a value. The words of faults belong to
 * the reported fault. Returns `before` itself if nothing changed.
 */
export function mergeReceiverDetails(before: ReceiverDetails | undefined, reported: ReceiverDetails | undefined) {
  if (reported === undefined) return before
  const { faults, ...known } = before ?? {}
  const merged = { ...known, ...(reported.fault === undefined && { faults }), ...reported }
  const present = Object.entries(merged).filter(([, value]) => value !== null && value !== undefined)
  const details: ReceiverDetails = Object.fromEntries(present)
  return isSameJson(details, before ?? {}) ? before : details
}

/** Compares lists by content, objects by identity. */
export function isSameField(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && isSameJson(a, b))
}

/** Returns `known` itself if no reported field differs. */
function mergeFields<T extends object>(known: T, reported: { readonly [Field in keyof T]?: T[Field] | undefined }): T {
  let changed: T | undefined
  for (const field in reported) {
    const value = reported[field]
    if (value === undefined || isSameField(value, known[field])) continue
    changed ??= { ...known }
    changed[field] = value as T[typeof field]
  }
  return changed ?? known
}

// Additional values that only some equipment reports, under the same names for all protocols. An absent field was
// never reported; a null field was reported without a value. All values except `slots` are primitive, so comparing
// two readings is cheap.

export type { FaultWord } from '../../contract/alert-data.ts'
export type { ChannelDetails, TransmitterDetails, TransmitterSlot } from '../../contract/channels.ts'
export type { Fault } from '../../contract/faults.ts'
export {
  type AudioActivity,
  type AudioMode,
  audioActivities,
  type Encryption,
  type FrequencyDiversity,
  type InputLevel,
  type SlotStatus,
  type TransmissionMode,
  type TransmitterLock,
} from '../../contract/values.ts'
