/**
 * What exists: receivers, their channels, the transmitters heard on them; and what one upstream told of one device.
 * Record fields carry the interface specification's own names, from the database to the browser.
 *
 * Units: battery in whole percent, audio_level in whole dBFS, rf_level in whole dBm, frequency in MHz as text with
 * three decimals, times in epoch milliseconds. Unknown is null; "not told" is an absent field.
 */

import type { ChannelDetails, Fault, TransmitterDetails } from './details.ts'
import type { NetworkMode } from './network.ts'

export interface Transmitter {
  /** The position the upstream itself gives; the wall's own is its channel's `slot`. */
  readonly upstream_slot: number | null
  readonly name: string | null
  readonly battery: number | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly frequency: string | null
  /** Absent where its system tells none. */
  readonly details?: TransmitterDetails
}

export interface Channel {
  readonly id: number
  readonly channel: number
  /** Position on the wall, given for good at creation. */
  readonly slot: number
  readonly name: string | null
  readonly frequency: string | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly transmitter: Transmitter | null
  /** Absent where its system tells none. */
  readonly details?: ChannelDetails
}

/** What a manufacturer's system tells of a device as hardware on a network. */
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
  readonly manufacturer: string
  readonly api_device_id: string | null
  readonly is_active: boolean
  readonly last_seen: number
  /** Where it stands: the id of a location. */
  readonly location: number | null
  /** An operator gave it its name; what its system calls it does not replace that. */
  readonly is_named_by_hand: boolean
  /** What it reports as wrong with itself; absent where it never reported any. */
  readonly fault?: Fault | null
  /** Ordered by number. */
  readonly channels: readonly Channel[]
}

/** A transmitter as told, whole or in part. */
export type TransmitterReading = Partial<Transmitter>

/** A channel as told, whole or in part; `transmitter: null` says there is none. */
export interface ChannelReading
  extends Partial<Pick<Channel, 'name' | 'frequency' | 'audio_level' | 'rf_level' | 'details'>> {
  readonly channel: number
  readonly transmitter?: TransmitterReading | null
}

/**
 * One device as one source told it at one time: the common format every plugin translates to.
 * `id`, `name`, `model_name` and `online` are the specification's; `id` is the manufacturer's own (api_device_id).
 */
export interface DeviceReport extends Partial<Omit<Hardware, 'model'>> {
  readonly id: string
  readonly model_name?: string | null
  readonly online?: boolean
  readonly kind: 'receiver' | 'transmitter'
  readonly channels?: readonly ChannelReading[]
  /** Of the device as a whole: a transmitter's own, or what a receiver says in sum. */
  readonly battery?: number | null
  readonly rf_level?: number | null
  /** Of a receiver only its `fault`. */
  readonly details?: TransmitterDetails
  /** Packs that it tells of without hearing them on a channel, all of them: docked in a charger, or only listening. */
  readonly units?: readonly DeviceReport[]
  /** The upstream's full answer for the device, kept with a queue entry. */
  readonly metadata?: unknown
}

/** The names of `Hardware`, in the order of the specification's table. */
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

/** What an observation tells of the hardware: only fields that were told and are not null. */
export function reportedHardware(report: DeviceReport): Partial<Hardware> {
  const told: Record<string, unknown> = {}
  for (const field of hardwareFields) {
    const value = field === 'model' ? report.model_name : report[field]
    if (value !== undefined && value !== null) told[field] = value
  }
  return told as Partial<Hardware>
}

/** A receiver that was stored by a clock that is ahead of ours was last heard from now. */
export function clampLastSeen(now: number, receiver: Receiver): Receiver {
  return receiver.last_seen > now ? { ...receiver, last_seen: now } : receiver
}

/** Two reports of one device as one: what the later one leaves out or does not know is as in the earlier one. */
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

/** The fields of `told` that differ from `known`; an empty object when nothing does. */
export function changedFields<T extends object>(known: T, told: Partial<T>): Partial<T> {
  const changed: Partial<T> = {}
  for (const field of Object.keys(told) as (keyof T)[]) {
    const value = told[field]
    if (value !== undefined && value !== known[field]) changed[field] = value
  }
  return changed
}

/**
 * Puts a reading onto known channels: absent fields keep their value, channels are found by number,
 * `transmitter: null` takes the transmitter away. Returns `known` itself when nothing changed.
 * Channels not known yet are left out; `missingChannels` names them.
 */
export function mergeChannels(known: readonly Channel[], told: readonly ChannelReading[]): readonly Channel[] {
  let merged: Channel[] | undefined
  for (const reading of told) {
    const at = known.findIndex((channel) => channel.channel === reading.channel)
    const before = (merged ?? known)[at]
    if (before === undefined) continue
    const after = mergeChannel(before, reading)
    if (after === before) continue
    merged ??= [...known]
    merged[at] = after
  }
  return merged ?? known
}

/**
 * What was read of a receiver without the fields that have changed since the reading began: they were told later than
 * they were read. Gives back `read` itself where nothing has changed.
 */
export function withoutSuperseded(
  read: readonly ChannelReading[],
  before: readonly Channel[],
  now: readonly Channel[],
): readonly ChannelReading[] {
  if (before === now) return read
  return read.map((reading) => {
    const isSame = (one: Channel) => one.channel === reading.channel
    const after = now.find(isSame)
    return after === undefined
      ? reading
      : withoutChangedFields(reading, before.find(isSame) ?? { channel: after.channel }, after)
  })
}

/** Fields that are absent are as good as null, and a transmitter that came has brought only what is told of it. */
function withoutChangedFields<T extends object>(read: T, before: object, now: object): T {
  const kept: T = { ...read }
  for (const field in read) {
    const value = read[field]
    const [was, is] = [valueIn(before, field), valueIn(now, field)]
    if (was === is) continue
    if (isRecord(value) && isRecord(is)) kept[field] = withoutChangedFields(value, isRecord(was) ? was : {}, is)
    else delete kept[field]
  }
  return kept
}

function valueIn(fields: object, field: string): unknown {
  return (fields as Readonly<Record<string, unknown>>)[field] ?? null
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The channel numbers a reading names that are not known yet, each once, in rising order. */
export function missingChannels(known: readonly Channel[], told: readonly ChannelReading[]): readonly number[] {
  const numbers = new Set<number>()
  for (const { channel } of told) if (!known.some((one) => one.channel === channel)) numbers.add(channel)
  return numbers.size === 0 ? [] : [...numbers].sort((a, b) => a - b)
}

/** A channel of which nothing has been told yet. */
export function emptyChannel(id: number, channel: number, slot: number): Channel {
  return { id, channel, slot, name: null, frequency: null, audio_level: null, rf_level: null, transmitter: null }
}

/**
 * What a device says in sum as what it says of its one channel, where that stands for the device as a whole: nothing else
 * was ever told of it. Channels that are told count, and the sum says nothing of them.
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

function mergeTransmitter(before: Transmitter | null, told: TransmitterReading | null | undefined): Transmitter | null {
  if (told === undefined) return before
  if (told === null) return null
  const known = before ?? noTransmitter
  return mergeFields<Transmitter>(known, { ...told, details: mergeDetails(known.details, told.details) })
}

/** What was told before, with what is told now; the very object from before where nothing changed. */
export function mergeDetails<Details extends object>(before: Details | undefined, told: Details | undefined) {
  if (told === undefined) return before
  const merged = mergeFields<Details>(before ?? (noDetails as Details), told)
  return merged === noDetails ? before : merged
}

/** What is known with what is told; `known` itself where that is the same. */
function mergeFields<T extends object>(known: T, told: { readonly [Field in keyof T]?: T[Field] | undefined }): T {
  let changed: T | undefined
  for (const field in told) {
    const value = told[field]
    if (value === undefined || value === known[field]) continue
    changed ??= { ...known }
    changed[field] = value as T[typeof field]
  }
  return changed ?? known
}
