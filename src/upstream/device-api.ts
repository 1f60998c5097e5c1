/**
 * The upstream API of the interface specification (`/api/v1/devices …`), spoken alike by both kinds of manufacturer
 * system: its calls, its shapes, and their translation to the common format.
 */

import type { DeviceProblem } from '../model/health.ts'
import { maxJsonDepth } from '../model/json.ts'
import type { ChannelReading, DeviceReport, TransmitterReading } from '../model/receiver.ts'
import type { UpstreamClient } from './client.ts'
import { ApiError } from './errors.ts'
import {
  isRecord,
  type Json,
  maxNameChars,
  readAudioLevel,
  readBattery,
  readFrequency,
  readIp,
  readMac,
  readNetworkMode,
  readRfLevel,
  readText,
  readWhole,
  withoutUndefined,
} from './fields.ts'
import { type ItemList, readItems } from './items.ts'

/** What the list or the detail tells of a device apart from its levels. */
type Identity = Partial<Omit<DeviceReport, 'id' | 'kind' | 'channels' | 'metadata'>>

export interface ApiDevice {
  readonly id: string
  /** The upstream's own word. */
  readonly type: string
  readonly listed: Identity
  readonly summary: { readonly battery: number | null; readonly rf_level: number | null }
  /** Absent: not asked for yet, like the two below. What the list itself carries of those is parsed when it is wanted. */
  readonly detail?: Identity
  readonly channels?: readonly ChannelReading[]
  /** By channel; an empty list says that there is none. */
  readonly transmitters?: readonly (TransmitterReading & { readonly channel: number })[]
  /** It was asked, and has no channels at all. */
  readonly hasNoChannels?: boolean
  /** The upstream's own words, for the review queue. */
  readonly raw: {
    readonly listed: Json
    readonly detail?: unknown
    readonly channels?: unknown
    readonly transmitter?: unknown
  }
}

const maxDevices = 10_000

/** The part of a plugin that is the same for every system of this form. */
export const deviceApi = { listDevices, partsOf, readPart, hasIdentity, withEarlierIdentity, isSameIdentity }

/** What became of an entry of the list: a device, or none, and what of it makes no sense. */
interface ListItem {
  readonly device: ApiDevice | null
  readonly problem: string | null
}

interface ApiDeviceList {
  readonly devices: readonly ApiDevice[]
  readonly malformed: number
  readonly complaints?: readonly DeviceProblem[]
  /** What the next list is compared with. */
  readonly read?: ItemList<ListItem>
}

/**
 * One call. A device that stands in the list as it stood in the one `before` is the same object as there. Throws the
 * manufacturer's ApiError when the answer is no list of devices.
 */
async function listDevices(
  client: UpstreamClient,
  signal?: AbortSignal,
  before?: ApiDeviceList,
): Promise<ApiDeviceList> {
  let read: ApiDeviceList['read']
  const { body } = await client.request('GET', '/api/v1/devices', {
    signal,
    read: async (bytes) => {
      read = await readItems(bytes, { key: 'devices', parse: parseItem, maxDepth: maxJsonDepth, before: before?.read })
      return read
    },
  })
  const list = read?.items ?? parseList(body)
  if (list === undefined) throw wrongShape(client)
  const sorted = sortOut(list)
  if (sorted.devices.length === 0 && list.length > 0) throw wrongShape(client)
  return read === undefined ? sorted : { ...sorted, read }
}

function parseList(body: unknown): readonly ListItem[] | undefined {
  const list = isRecord(body) ? body.devices : body
  return Array.isArray(list) ? list.map((item) => parseItem(item)) : undefined
}

function sortOut(list: readonly ListItem[]): ApiDeviceList {
  const devices: ApiDevice[] = []
  const complaints: DeviceProblem[] = []
  if (list.length > maxDevices) {
    complaints.push({ about: 'the list', problem: `only the first ${maxDevices} of ${list.length} devices are read` })
  }
  for (const [at, { device, problem }] of list.slice(0, maxDevices).entries()) {
    if (device !== null) devices.push(device)
    if (problem === null) continue
    const entry = `entry ${at + 1} of the list`
    complaints.push(
      device === null
        ? { about: entry, problem, device: entry }
        : { about: `device ${device.id}`, problem, device: device.id },
    )
  }
  const malformed = Math.min(list.length, maxDevices) - devices.length
  return complaints.length === 0 ? { devices, malformed } : { devices, malformed, complaints }
}

function partsOf(device: ApiDevice): readonly string[] {
  const parts: string[] = []
  if (!tellsAllOfIdentity(device.listed)) parts.push('identity')
  if (!carriesChannels(device.raw.listed)) parts.push('channels')
  if (!carriesTransmitters(device.raw.listed)) parts.push('transmitter')
  return parts
}

async function readPart(
  client: UpstreamClient,
  device: ApiDevice,
  part: string,
  signal?: AbortSignal,
): Promise<ApiDevice> {
  const path = `/api/v1/devices/${encodeURIComponent(device.id)}`
  switch (part) {
    case 'identity': {
      const body = await readOptional(client, path, signal)
      if (!isRecord(body)) return { ...device, detail: device.detail ?? {} }
      return { ...device, detail: parseIdentity(body), raw: { ...device.raw, detail: body } }
    }
    case 'channels': {
      const body = await readOptional(client, `${path}/channels`, signal)
      if (body !== null && !hasChannelList(body)) return device
      const channels = parseChannels(body)
      return { ...device, channels, hasNoChannels: channels.length === 0, raw: { ...device.raw, channels: body } }
    }
    default: {
      const body = await readOptional(client, `${path}/transmitter`, signal)
      if (body === undefined) return device
      const transmitters = parseTransmitters(body)
      const hasNoChannels = device.hasNoChannels && transmitters.length === 0
      return { ...device, transmitters, hasNoChannels, raw: { ...device.raw, transmitter: body } }
    }
  }
}

function withEarlierIdentity(listed: ApiDevice, before: ApiDevice): ApiDevice {
  const { detail } = before
  const hasNoChannels = listed.hasNoChannels ?? before.hasNoChannels
  const kept = { ...listed, raw: { ...before.raw, listed: listed.raw.listed } }
  return { ...kept, ...(detail && { detail }), ...(hasNoChannels && { hasNoChannels }) }
}

function hasIdentity(device: ApiDevice): boolean {
  return device.detail !== undefined || isRecognisable(device.listed)
}

function isSameIdentity(listed: ApiDevice, before: ApiDevice): boolean {
  const keys = Object.keys(listed.listed) as (keyof Identity)[]
  if (listed.type !== before.type || keys.length !== Object.keys(before.listed).length) return false
  return keys.every((key) => listed.listed[key] === before.listed[key])
}

/** `family` finds the plugin's word for a model: `ulxd`, `ewdx` …; without one the upstream's own word stands. */
export function toDeviceReport(device: ApiDevice, family: (model: string) => string | undefined): DeviceReport {
  // The list is newer than a detail that was read some cycles ago.
  const identity = device.detail === undefined ? device.listed : { ...device.detail, ...device.listed }
  const model_name = identity.model_name ?? null
  const channels = toChannelReadings(device)
  const isTransmitter = /transmitter|bodypack|handheld/i.test(device.type)
  return {
    ...identity,
    id: device.id,
    name: identity.name ?? model_name ?? device.id,
    model_name,
    online: identity.online ?? true,
    kind: isTransmitter ? 'transmitter' : 'receiver',
    device_type: family(model_name ?? '') ?? device.type.toLowerCase(),
    ...(channels && { channels }),
    metadata: toMetadata(device.raw),
  }
}

/**
 * Reads what a device pushed: any of its own, its channels' or its transmitters' fields. What is not told is left out.
 */
export function parsePushed(id: string, fields: Json, family: (model: string) => string | undefined): DeviceReport {
  const identity = parseIdentity(fields)
  const { model_name } = identity
  const type = typeof model_name === 'string' ? family(model_name) : undefined
  const hasTransmitter = fields.transmitter !== undefined || fields.transmitters !== undefined
  const channels = joinTransmitters(
    fields.channels === undefined ? [] : parseChannels(fields.channels),
    hasTransmitter ? parsePushedTransmitters(fields) : [],
  )
  return {
    ...identity,
    id,
    kind: 'receiver',
    ...(type === undefined ? {} : { device_type: type }),
    ...(channels.length > 0 && { channels }),
    ...withoutUndefined({ battery: readBattery(fields.battery_percentage), rf_level: readRfLevel(fields.rf_level) }),
  }
}

function parseItem(item: unknown): ListItem {
  if (!isRecord(item)) return { device: null, problem: 'it is not an object' }
  const id = readText(item.device_id ?? item.id)
  if (typeof id !== 'string') return { device: null, problem: 'it has no device_id' }
  return { device: toDevice(id, item), problem: unreadableFields(item) }
}

function toDevice(id: string, item: Json): ApiDevice {
  return {
    id,
    type: readText(item.device_type) ?? 'receiver',
    listed: parseIdentity(item),
    summary: { battery: readBattery(item.battery_percentage) ?? null, rf_level: readRfLevel(item.rf_level) ?? null },
    raw: { listed: item },
    ...(carriesChannels(item) && {
      hasNoChannels: channelItems(item.channels).every((one) => channelNumber(one) === null),
    }),
  }
}

const listFields: Readonly<Record<string, (value: unknown) => unknown>> = {
  device_name: readText,
  model: readText,
  serial_number: readText,
  mac_address: readMac,
  ip: readIp,
  battery_percentage: readBattery,
  rf_level: readRfLevel,
}

/** Fields of a list entry that are told and make no sense, as a sentence; null when there are none. */
function unreadableFields(item: Json): string | null {
  const names: string[] = []
  for (const name in listFields) {
    const value = item[name]
    const isTold = value !== undefined && value !== null && value !== ''
    if (isTold && listFields[name]?.(value) === null) names.push(name)
  }
  return names.length === 0 ? null : `${names.join(', ')} cannot be read`
}

function carriesChannels(item: Json): boolean {
  return hasChannelList(item.channels)
}

function carriesTransmitters(item: Json): boolean {
  return item.transmitter !== undefined || item.transmitters !== undefined
}

function hasChannelList(body: unknown): boolean {
  return Array.isArray(isRecord(body) ? body.channels : body)
}

function parseIdentity(item: Json): Identity {
  return readable({
    name: readText(item.device_name ?? item.name, maxNameChars),
    model_name: readText(item.model),
    online: parseStatus(item.status),
    serial_number: readText(item.serial_number),
    mac_address: readMac(item.mac_address),
    ip: readIp(item.ip ?? item.ip_address),
    subnet_mask: readIp(item.subnet_mask),
    gateway: readIp(item.gateway),
    network_mode: readNetworkMode(item.network_mode),
    interface_id: readText(item.interface_id),
    description: readText(item.description),
    firmware_version: readText(item.firmware_version),
    hosted_firmware_version: readText(item.hosted_firmware_version),
  })
}

/** A part of an identity that cannot be read is as good as not told: it says nothing against what is known. */
function readable(fields: { readonly [Key in keyof Identity]: Identity[Key] | null }): Identity {
  const identity: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) if (value !== undefined && value !== null) identity[key] = value
  return identity
}

function parseStatus(status: unknown): boolean | undefined {
  return typeof status === 'string' ? status.trim().toLowerCase() === 'online' : undefined
}

/** Enough to tell it from others; what else there is to know may come later. */
function isRecognisable({ ip, serial_number, mac_address }: Identity): boolean {
  return ip !== undefined && (serial_number !== undefined || mac_address !== undefined)
}

function tellsAllOfIdentity({ ip, serial_number, mac_address }: Identity): boolean {
  return ip !== undefined && serial_number !== undefined && mac_address !== undefined
}

/** `{"channels":[…]}` or the bare array; entries without a channel number are left out. */
function parseChannels(body: unknown): ChannelReading[] {
  return channelItems(body).flatMap((item) => {
    const channel = channelNumber(item)
    if (channel === null) return []
    const transmitter = item.transmitter === undefined ? undefined : parseTransmitter(item.transmitter)
    const reading: ChannelReading = {
      channel,
      name: readText(item.name, maxNameChars),
      frequency: readFrequency(item.frequency),
      audio_level: readAudioLevel(item.audio_level),
      rf_level: readRfLevel(item.rf_level),
      transmitter,
    }
    return [withoutUndefined(reading)]
  })
}

function channelItems(body: unknown): Json[] {
  const list = isRecord(body) ? body.channels : body
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function channelNumber(item: Json): number | null {
  return readWhole(item.channel, 1, 65_535) ?? null
}

/** One object or `{"transmitters":[…]}`; the channel is 1 where it is not told. */
function parseTransmitters(body: unknown): (TransmitterReading & { channel: number })[] {
  const list = isRecord(body) ? (body.transmitters ?? [body]) : body
  if (!Array.isArray(list)) return []
  const filled = list.filter(isRecord).filter((item) => Object.keys(item).length > 0)
  return filled.flatMap((item) => {
    const channel = item.channel === undefined ? 1 : readWhole(item.channel, 1, 65_535)
    return typeof channel === 'number' ? [{ channel, ...parseTransmitter(item) }] : []
  })
}

function parseTransmitter(item: unknown): TransmitterReading | null {
  if (!isRecord(item)) return null
  return withoutUndefined({
    upstream_slot: readWhole(item.slot, 0, 65_535),
    name: readText(item.name, maxNameChars),
    battery: readBattery(item.battery ?? item.battery_percentage),
    audio_level: readAudioLevel(item.audio_level),
    rf_level: readRfLevel(item.rf_level),
    frequency: readFrequency(item.frequency),
  })
}

/** Pushed, `transmitter: null` takes the one on channel 1 away. */
function parsePushedTransmitters(fields: Json): readonly (ChannelReading & { channel: number })[] {
  if (fields.transmitter === null) return [{ channel: 1, transmitter: null }]
  const transmitters = parseTransmitters(fields.transmitters ?? fields.transmitter)
  return transmitters.map(({ channel, ...transmitter }) => ({ channel, transmitter }))
}

/**
 * What was asked of the device's channels, put together. A channel without a transmitter among those told has none. The
 * list's summary stands in for a device that has no channels at all.
 */
function toChannelReadings(device: ApiDevice): readonly ChannelReading[] | undefined {
  const { summary } = device
  const [channels, transmitters] = [channelsOf(device), transmittersOf(device)]
  if (device.hasNoChannels && (transmitters ?? []).length === 0) {
    if (summary.battery === null && summary.rf_level === null) return undefined
    return [{ channel: 1, transmitter: summary }]
  }
  if (channels === undefined && transmitters === undefined) return undefined
  const readings = joinTransmitters(
    channels ?? [],
    (transmitters ?? []).map(({ channel, ...transmitter }) => ({ channel, transmitter })),
  )
  if (transmitters === undefined) return readings
  return readings.map((reading) => (reading.transmitter === undefined ? { ...reading, transmitter: null } : reading))
}

function channelsOf({ channels, raw: { listed } }: ApiDevice): ApiDevice['channels'] {
  return channels ?? (carriesChannels(listed) ? parseChannels(listed.channels) : undefined)
}

function transmittersOf({ transmitters, raw: { listed } }: ApiDevice): ApiDevice['transmitters'] {
  return (
    transmitters ??
    (carriesTransmitters(listed) ? parseTransmitters(listed.transmitters ?? listed.transmitter) : undefined)
  )
}

function joinTransmitters(
  channels: readonly ChannelReading[],
  transmitters: readonly ChannelReading[],
): readonly ChannelReading[] {
  if (transmitters.length === 0) return channels
  const joined = new Map(channels.map((reading) => [reading.channel, reading]))
  for (const reading of transmitters) joined.set(reading.channel, { ...joined.get(reading.channel), ...reading })
  return [...joined.values()]
}

function toMetadata(raw: ApiDevice['raw']): unknown {
  const { listed, detail, channels, transmitter } = raw
  return {
    ...listed,
    ...(isRecord(detail) ? detail : {}),
    ...(channels === undefined ? {} : { channels: isRecord(channels) ? channels.channels : channels }),
    ...(transmitter === undefined ? {} : { transmitter }),
  }
}

/**
 * Null when there is no such resource (404), undefined when it is broken: the list's data stands. One device whose
 * answers make no sense must not keep the others from being read.
 */
export async function readOptional(
  client: UpstreamClient,
  path: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  try {
    const { status, body } = await client.request('GET', path, { signal, accept: [404] })
    return status === 404 ? null : body
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, retryAfter } = error
    // No answer, or one that is about us and not about the device.
    if (status === null || retryAfter !== null || [401, 403, 429].includes(status)) throw error
    return undefined
  }
}

/** An answer came, and is something else. */
export function wrongShape(client: UpstreamClient): ApiError {
  const { host } = new URL(client.settings.baseUrl)
  return new client.errors.ApiError(`invalid response from ${host}: not a list of devices`, { status: 200 })
}
