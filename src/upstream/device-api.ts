/**
 * The common device API (`/api/v1/devices`), which both Shure and Sennheiser systems implement: its requests, its data
 * types and their conversion to the common format.
 */

import type { DeviceProblem } from '../domain/equipment/health.ts'
import type { ChannelReading, DeviceReport, TransmitterReading } from '../domain/equipment/receiver.ts'
import { isRecord, type Json, maxJsonDepth } from '../domain/json.ts'
import type { LevelField, LevelSample } from '../domain/levels/level-sample.ts'
import type { UpstreamClient } from './client.ts'
import { ApiError } from './errors.ts'
import {
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

/** The device fields from the list or from the device's own resource, without levels. */
type Identity = Partial<Omit<DeviceReport, 'id' | 'kind' | 'channels' | 'metadata'>>

export interface ApiDevice {
  readonly id: string
  /** The type as the upstream reports it. */
  readonly type: string
  readonly listed: Identity
  readonly summary: { readonly battery: number | null; readonly rf_level: number | null }
  /**
   * The response to the request for this device. Absent until requested, as are `channels` and `transmitters`. If the
   * list itself contains channels or transmitters, they are parsed only when they are needed.
   */
  readonly detail?: Identity
  readonly channels?: readonly ChannelReading[]
  /** The transmitters with their channels; an empty list means that there are none. */
  readonly transmitters?: readonly (TransmitterReading & { readonly channel: number })[]
  /** True if the device is known to have no channels. */
  readonly hasNoChannels?: boolean
  /** The unparsed responses, for the review queue. */
  readonly raw: {
    readonly listed: Json
    readonly detail?: unknown
    readonly channels?: unknown
    readonly transmitter?: unknown
  }
}

const maxDevices = 10_000

/** The part of a plugin that is the same for every system with this API. */
export const deviceApi = {
  listDevices,
  partsOf,
  readPart,
  hasIdentity,
  withEarlierIdentity,
  isSameIdentity,
  readLevels,
}

/** The result of parsing a list entry: the device if it is usable, and the problem if there is one. */
interface ListItem {
  readonly device: ApiDevice | null
  readonly problem: string | null
}

interface ApiDeviceList {
  readonly devices: readonly ApiDevice[]
  readonly malformed: number
  readonly problems?: readonly DeviceProblem[]
  /** Passed to the next call, which compares the new list with it. */
  readonly read?: ItemList<ListItem>
}

/**
 * Requests the device list. A device whose entry has not changed since `previous` remains the same object. Throws the
 * manufacturer's ApiError if the response is not a list of devices.
 */
async function listDevices(
  client: UpstreamClient,
  signal?: AbortSignal,
  previous?: ApiDeviceList,
): Promise<ApiDeviceList> {
  let read: ApiDeviceList['read']
  const { body } = await client.request('GET', '/api/v1/devices', {
    signal,
    read: async (bytes) => {
      read = await readItems(bytes, {
        key: 'devices',
        parse: parseItem,
        maxDepth: maxJsonDepth,
        previous: previous?.read,
      })
      return read
    },
  })
  const list = read?.items ?? parseList(body)
  if (list === undefined) throw wrongShape(client)
  const result = toDeviceList(list)
  if (result.devices.length === 0 && list.length > 0) throw wrongShape(client)
  return read === undefined ? result : { ...result, read }
}

function parseList(body: unknown): readonly ListItem[] | undefined {
  const list = isRecord(body) ? body.devices : body
  return Array.isArray(list) ? list.map((item) => parseItem(item)) : undefined
}

function toDeviceList(list: readonly ListItem[]): ApiDeviceList {
  const devices: ApiDevice[] = []
  const problems: DeviceProblem[] = []
  if (list.length > maxDevices) {
    problems.push({ subject: 'the list', problem: `only the first ${maxDevices} of ${list.length} devices are read` })
  }
  for (const [index, { device, problem }] of list.slice(0, maxDevices).entries()) {
    if (device !== null) devices.push(device)
    if (problem === null) continue
    const entry = `entry ${index + 1} of the list`
    problems.push(
      device === null
        ? { subject: entry, problem, device: entry }
        : { subject: `device ${device.id}`, problem, device: device.id },
    )
  }
  const malformed = Math.min(list.length, maxDevices) - devices.length
  return problems.length === 0 ? { devices, malformed } : { devices, malformed, problems }
}

function partsOf(device: ApiDevice): readonly string[] {
  const parts: string[] = []
  if (!hasFullIdentity(device.listed)) parts.push('identity')
  if (!hasChannels(device.raw.listed)) parts.push('channels')
  if (!hasTransmitters(device.raw.listed)) parts.push('transmitter')
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

function withEarlierIdentity(listed: ApiDevice, previous: ApiDevice): ApiDevice {
  const { detail } = previous
  const hasNoChannels = listed.hasNoChannels ?? previous.hasNoChannels
  const updated = { ...listed, raw: { ...previous.raw, listed: listed.raw.listed } }
  return { ...updated, ...(detail && { detail }), ...(hasNoChannels && { hasNoChannels }) }
}

function hasIdentity(device: ApiDevice): boolean {
  return device.detail !== undefined || isIdentifiable(device.listed)
}

function isSameIdentity(listed: ApiDevice, previous: ApiDevice): boolean {
  if (hasSameFacts(listed, previous)) return true
  const keys = Object.keys(listed.listed) as (keyof Identity)[]
  if (listed.type !== previous.type || keys.length !== Object.keys(previous.listed).length) return false
  return keys.every((key) => listed.listed[key] === previous.listed[key])
}

/** Whether the second list entry was parsed from the first, because they differ only in levels. */
function hasSameFacts(listed: ApiDevice, before: ApiDevice): boolean {
  return listed.listed === before.listed && listed.hasNoChannels === false
}

type Levels = Pick<LevelSample, LevelField>

function readLevels(listed: ApiDevice, before: ApiDevice): readonly LevelSample[] | undefined {
  if (!hasSameFacts(listed, before)) return undefined
  const { channels, transmitters, transmitter } = listed.raw.listed
  const samples: { channel: number; transmitter?: Levels }[] = []
  for (const item of channelItems(channels)) {
    const channel = channelNumber(item)
    if (channel === null) continue
    const own = isRecord(item.transmitter) ? { transmitter: levelsOf(item.transmitter) } : undefined
    samples.push({ channel, ...levelsOf(item), ...own })
  }
  for (const item of transmitterItems(transmitters ?? transmitter)) {
    const channel = transmitterChannel(item)
    const sample = samples.find((candidate) => candidate.channel === channel)
    if (sample !== undefined) sample.transmitter = levelsOf(item)
    else if (typeof channel === 'number') samples.push({ channel, transmitter: levelsOf(item) })
  }
  return samples
}

function levelsOf({ audio_level, rf_level }: Json): Levels {
  const levels: { -readonly [Field in keyof Levels]: Levels[Field] } = {}
  if (audio_level !== undefined) levels.audio_level = readAudioLevel(audio_level) ?? null
  if (rf_level !== undefined) levels.rf_level = readRfLevel(rf_level) ?? null
  return levels
}

/**
 * Converts a device to the common format. `family` returns the plugin's device type for a model (`ulxd`, `ewdx` …); if
 * it returns undefined, the upstream's type is used.
 */
export function toDeviceReport(device: ApiDevice, family: (model: string) => string | undefined): DeviceReport {
  // Fields from the list take precedence, because `detail` may be several cycles old.
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

/** Parses a pushed message: any fields of the device, its channels or its transmitters. Absent fields are omitted. */
export function parsePushed(id: string, fields: Json, family: (model: string) => string | undefined): DeviceReport {
  const identity = parseIdentity(fields)
  const { model_name } = identity
  const type = typeof model_name === 'string' ? family(model_name) : undefined
  const hasTransmitter = fields.transmitter !== undefined || fields.transmitters !== undefined
  const channels = mergeTransmitters(
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

/** Parses a list entry. If it differs from the `previous` one only in levels, nothing else is parsed again. */
function parseItem(item: unknown, previous?: ListItem): ListItem {
  const before = previous?.device ?? null
  if (before?.hasNoChannels === false && differsOnlyInLevels(item, before.raw.listed)) {
    return { device: { ...before, raw: { listed: item } }, problem: previous?.problem ?? null }
  }
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
    ...(hasChannels(item) && {
      hasNoChannels: channelItems(item.channels).every((channel) => channelNumber(channel) === null),
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

/** Describes the fields of a list entry that are present but invalid; returns null if all are valid. */
function unreadableFields(item: Json): string | null {
  const names: string[] = []
  for (const name in listFields) {
    const value = item[name]
    const isPresent = value !== undefined && value !== null && value !== ''
    if (isPresent && listFields[name]?.(value) === null) names.push(name)
  }
  return names.length === 0 ? null : `${names.join(', ')} cannot be read`
}

function hasChannels(item: Json): boolean {
  return hasChannelList(item.channels)
}

function hasTransmitters(item: Json): boolean {
  return item.transmitter !== undefined || item.transmitters !== undefined
}

function hasChannelList(body: unknown): boolean {
  return Array.isArray(isRecord(body) ? body.channels : body)
}

function parseIdentity(item: Json): Identity {
  return withoutNulls({
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

/** Drops identity fields that are invalid, so that they do not overwrite known values. */
function withoutNulls(fields: { readonly [Key in keyof Identity]: Identity[Key] | null }): Identity {
  const identity: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) if (value !== undefined && value !== null) identity[key] = value
  return identity
}

function parseStatus(status: unknown): boolean | undefined {
  return typeof status === 'string' ? status.trim().toLowerCase() === 'online' : undefined
}

/** Whether the fields are sufficient to identify the device. Other identity fields may follow later. */
function isIdentifiable({ ip, serial_number, mac_address }: Identity): boolean {
  return ip !== undefined && (serial_number !== undefined || mac_address !== undefined)
}

function hasFullIdentity({ ip, serial_number, mac_address }: Identity): boolean {
  return ip !== undefined && serial_number !== undefined && mac_address !== undefined
}

/** Parses `{"channels":[…]}` or the bare array; entries without a channel number are skipped. */
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

/** Parses one transmitter, an array of transmitters or `{"transmitters":[…]}`; the channel defaults to 1. */
function parseTransmitters(body: unknown): (TransmitterReading & { channel: number })[] {
  return transmitterItems(body).flatMap((item) => {
    const channel = transmitterChannel(item)
    return typeof channel === 'number' ? [{ channel, ...parseTransmitter(item) }] : []
  })
}

function transmitterItems(body: unknown): Json[] {
  const list = isRecord(body) ? (body.transmitters ?? [body]) : body
  return Array.isArray(list) ? list.filter(isRecord).filter((item) => Object.keys(item).length > 0) : []
}

function transmitterChannel(item: Json): number | null | undefined {
  return item.channel === undefined ? 1 : readWhole(item.channel, 1, 65_535)
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

/** Parses the transmitters of a pushed message, in which `transmitter: null` removes the transmitter on channel 1. */
function parsePushedTransmitters(fields: Json): readonly (ChannelReading & { channel: number })[] {
  if (fields.transmitter === null) return [{ channel: 1, transmitter: null }]
  const transmitters = parseTransmitters(fields.transmitters ?? fields.transmitter)
  return transmitters.map(({ channel, ...transmitter }) => ({ channel, transmitter }))
}

/**
 * Combines the channels with the transmitters. If the transmitters are known, a channel for which none is reported has
 * no transmitter. For a device without channels, the summary in the list is used.
 */
function toChannelReadings(device: ApiDevice): readonly ChannelReading[] | undefined {
  const { summary } = device
  const [channels, transmitters] = [channelsOf(device), transmittersOf(device)]
  if (device.hasNoChannels && (transmitters ?? []).length === 0) {
    if (summary.battery === null && summary.rf_level === null) return undefined
    return [{ channel: 1, transmitter: summary }]
  }
  if (channels === undefined && transmitters === undefined) return undefined
  const readings = mergeTransmitters(
    channels ?? [],
    (transmitters ?? []).map(({ channel, ...transmitter }) => ({ channel, transmitter })),
  )
  if (transmitters === undefined) return readings
  return readings.map((reading) => (reading.transmitter === undefined ? { ...reading, transmitter: null } : reading))
}

function channelsOf({ channels, raw: { listed } }: ApiDevice): ApiDevice['channels'] {
  return channels ?? (hasChannels(listed) ? parseChannels(listed.channels) : undefined)
}

function transmittersOf({ transmitters, raw: { listed } }: ApiDevice): ApiDevice['transmitters'] {
  return (
    transmitters ?? (hasTransmitters(listed) ? parseTransmitters(listed.transmitters ?? listed.transmitter) : undefined)
  )
}

function mergeTransmitters(
  channels: readonly ChannelReading[],
  transmitters: readonly ChannelReading[],
): readonly ChannelReading[] {
  if (transmitters.length === 0) return channels
  const merged = new Map(channels.map((reading) => [reading.channel, reading]))
  for (const reading of transmitters) merged.set(reading.channel, { ...merged.get(reading.channel), ...reading })
  return [...merged.values()]
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
 * Requests a resource. Returns null if it does not exist (404), and undefined if the response is malformed or is an
 * error that concerns only this device, so that the other devices are still read. Other errors are thrown.
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
    // The error is rethrown if there was no response, or if it affects the whole system rather than just this device.
    if (status === null || retryAfter !== null || [401, 403, 429].includes(status)) throw error
    return undefined
  }
}

/** Creates the error for a response that is not a list of devices. */
export function wrongShape(client: UpstreamClient): ApiError {
  const { host } = new URL(client.settings.baseUrl)
  return new client.errors.ApiError(`invalid response from ${host}: not a list of devices`, { status: 200 })
}

/** Whether two list entries of a device with channels are equal except for their levels. */
function differsOnlyInLevels(item: unknown, before: unknown): item is Json {
  if (!isRecord(item) || !isRecord(before)) return false
  return areEqual(item, before, isSummaryLevel)
}

type IsIgnored = (key: string, value: unknown, known: unknown) => boolean

/**
 * Ignores the device's own level, which is unused if the device has channels. An invalid level is not ignored, because
 * it is reported as a problem.
 */
const isSummaryLevel: IsIgnored = (key, ...values) =>
  key === 'rf_level' && values.every((value) => typeof readRfLevel(value) === 'number')
const isLevel: IsIgnored = (key) => key === 'rf_level' || key === 'audio_level'

/** Compares two JSON objects. A field for which `isIgnored` returns true may have any value. */
function areEqual(item: Json, before: Json, isIgnored: IsIgnored): boolean {
  let count = 0
  for (const key in item) {
    const [value, known] = [item[key], before[key]]
    count += 1
    if (value === known) continue
    if (known === undefined || !(isIgnored(key, value, known) || areSame(value, known))) return false
  }
  for (const _ in before) count -= 1
  return count === 0
}

function areSame(value: unknown, known: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(known)) {
    return (
      value.length === known.length &&
      value.every((entry, index) => entry === known[index] || areSame(entry, known[index]))
    )
  }
  return isRecord(value) && isRecord(known) && areEqual(value, known, isLevel)
}
