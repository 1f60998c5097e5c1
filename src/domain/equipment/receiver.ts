/**
 * Receivers, their channels and the transmitters received on them, and a report of one device from one source.
 * Record fields have the same names from the database to the browser (for their source see docs/conformance.md).
 *
 * Units: battery in whole percent, audio_level in whole dBFS, rf_level in whole dBm, frequency in MHz as text with
 * three decimal places, times in epoch milliseconds. A value that is unknown is null; a field that was not reported is
 * absent.
 */

import type { ChannelDetails, TransmitterDetails } from '../../contract/resources/channels.ts'
import type { SiteReference } from '../../contract/resources/common.ts'
import type { Fault, NetworkMode } from '../../contract/values.ts'
import { type Condition, type LastTransmitter, unknownCondition } from '../conditions/condition.ts'
import type { Forecast } from '../forecast/forecast.ts'
import { isRecord, isSameJson } from '../json.ts'

export interface Transmitter {
  /** The slot number that the upstream reports. The position on the wall is the channel's `slot`. */
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
  /** Position on the wall. It is assigned when the channel is created; only an operator changes it. */
  readonly slot: number
  readonly name: string | null
  readonly frequency: string | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly transmitter: Transmitter | null
  /** Absent if the system reports none. */
  readonly details?: ChannelDetails
  /** The frequency profile that an operator has set; absent if it follows from the model. */
  readonly profile?: string
  readonly condition: Condition
  /** The transmitter last received on a channel that receives none now; null if there was none within 7 days. */
  readonly last_transmitter: LastTransmitter | null
  /** How long the battery of the transmitter will last; null if there is no basis. */
  readonly forecast: Forecast | null
  /** What the channel is where it is monitored; absent for a channel of this installation. */
  readonly origin?: ChannelOrigin
}

/** A channel in the installation that monitors it. */
export interface ChannelOrigin {
  readonly id: number
  readonly slot: number
}

/** Where a receiver is monitored that this installation follows. */
export interface ReceiverOrigin {
  /** Code of the manufacturer's record with which the other installation is followed. */
  readonly record: string
  /** `code` is the record's; for a receiver that the other installation follows too, `<record>/<code there>`. */
  readonly site: SiteReference
  /** The receiver's id in the other installation. */
  readonly id: number
}

/** The properties of a device as hardware on a network, as the manufacturer's system reports them. */
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
  /** The id of its location. */
  readonly location: number | null
  /** True if an operator set the name, so that the reported name does not replace it. */
  readonly is_named_by_hand: boolean
  /** The fault that the device reports; absent if it never reported one. */
  readonly fault?: Fault | null
  /** Absent for a receiver of this installation. */
  readonly origin?: ReceiverOrigin
  /** Sorted by channel number. */
  readonly channels: readonly Channel[]
}

/** The fields of a transmitter that a report contains; the other fields are absent. */
export type TransmitterReading = Partial<Transmitter>

/**
 * The fields of a channel that a report contains; the other fields are absent. `transmitter: null` means that no
 * transmitter is received.
 */
export interface ChannelReading
  extends Partial<Pick<Channel, 'name' | 'frequency' | 'audio_level' | 'rf_level' | 'details'>> {
  readonly channel: number
  readonly transmitter?: TransmitterReading | null
}

/**
 * A report of one device by one source: the common format that every plugin produces. `id` is the id of the device in
 * the manufacturer's system (`api_device_id`).
 */
export interface DeviceReport extends Partial<Omit<Hardware, 'model'>> {
  readonly id: string
  /** Whether the report only says that a known device is still connected. It never creates a receiver. */
  readonly isConfirmation?: boolean
  readonly model_name?: string | null
  readonly online?: boolean
  readonly kind: 'receiver' | 'transmitter'
  readonly channels?: readonly ChannelReading[]
  /** A value for the device as a whole: a transmitter's own value, or a receiver's summary value. */
  readonly battery?: number | null
  readonly rf_level?: number | null
  /** For a receiver, only `fault` is set. */
  readonly details?: TransmitterDetails
  /** All packs that the device reports without receiving them on a channel: docked in a charger, or receive-only. */
  readonly units?: readonly DeviceReport[]
  /** The full upstream response for the device; it is stored with a queue entry. */
  readonly metadata?: unknown
}

/** The names of the fields of `Hardware`. */
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

/** The properties of which nothing is known; every receiver has a name and a type. */
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

/** Returns the value of a hardware field in a report; undefined if it was not reported. */
export function reportedField(report: DeviceReport, field: keyof Hardware): string | null | undefined {
  return field === 'model' ? report.model_name : report[field]
}

/** Whether the report has a name, an address or another property of the device as hardware. */
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

/** Limits `last_seen` to the current time, because a machine whose clock is ahead may have stored the receiver. */
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

/** Returns the fields of `reported` that differ from `known`; an empty object if none differs. */
export function changedFields<T extends object>(known: T, reported: Partial<T>): Partial<T> {
  const changed: Partial<T> = {}
  for (const field of Object.keys(reported) as (keyof T)[]) {
    const value = reported[field]
    if (value !== undefined && value !== known[field]) changed[field] = value
  }
  return changed
}

/**
 * Merges readings into known channels: absent fields keep their value, channels are matched by number, and
 * `transmitter: null` removes the transmitter. Returns `known` itself if nothing changed.
 * Readings of unknown channels are ignored; `missingChannels` lists them.
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
 * are the channels as they were then. Returns `read` itself if nothing changed.
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
 * meanwhile, only its reported fields are treated as changed. Returns `read` itself if no field is dropped.
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

/** Lists the channel numbers in `reported` that are not in `known`, without duplicates, in ascending order. */
export function missingChannels(known: readonly Channel[], reported: readonly ChannelReading[]): readonly number[] {
  const numbers = new Set<number>()
  for (const { channel } of reported) if (!known.some((other) => other.channel === channel)) numbers.add(channel)
  return numbers.size === 0 ? [] : [...numbers].sort((a, b) => a - b)
}

/** Returns the frequency to which the channel is tuned; null if it is unknown. */
export function frequencyOf({ frequency, transmitter }: Pick<Channel, 'frequency' | 'transmitter'>): string | null {
  return frequency ?? transmitter?.frequency ?? null
}

/** Returns the name to show: the performer's if one wears the unit of the channel, else the transmitter's or channel's. */
export function displayName({ name, transmitter }: Pick<Channel, 'name' | 'transmitter'>, performer?: string) {
  return performer ?? transmitter?.name ?? name
}

/** Creates a channel without any reported value. */
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
 * Converts the summary values of a report (`battery`, `rf_level`) into a reading of the transmitter on channel 1, if
 * the receiver has only that channel, and no other values of the channel or its transmitter are known. A report that
 * has channels is returned unchanged.
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

/** Merges reported details into the known ones. Returns `before` itself if nothing changed. */
export function mergeDetails<Details extends object>(before: Details | undefined, reported: Details | undefined) {
  if (reported === undefined) return before
  const merged = mergeFields<Details>(before ?? (noDetails as Details), reported)
  return merged === noDetails ? before : merged
}

/** Whether a field has the same value. Lists are compared by their content, and objects by identity. */
export function isSameField(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && isSameJson(a, b))
}

/** Merges reported fields into `known`. Returns `known` itself if no reported field differs. */
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
