/** The requests and responses of the common device API (`/api/v1/devices`) of Shure and Sennheiser systems. */

import type { DeviceProblem } from '../domain/equipment/health.ts'
import { isRecord, type Json } from '../domain/json.ts'
import { jsonLimits } from '../domain/json-limits.ts'
import type { UpstreamClient } from './client.ts'
import {
  type ApiDevice,
  channelItems,
  channelNumber,
  hasChannelList,
  hasChannels,
  hasTransmitters,
  type Identity,
  parseChannels,
  parseIdentity,
  parseTransmitters,
} from './device-fields.ts'
import { copyLevels, differsOnlyInLevels, hasSameFacts, readLevels } from './device-levels.ts'
import { ApiError } from './errors.ts'
import { type Field, type FieldTable, field } from './field-table.ts'
import {
  readAudioLevel,
  readBattery,
  readFrequency,
  readIp,
  readMac,
  readRfLevel,
  readText,
  readWhole,
} from './fields.ts'
import { type ItemList, readItems } from './items.ts'

type Read<Value> = (raw: unknown) => Value | null | undefined

function text(address: string, read: Read<string>): Field<string> {
  return field({
    ...{ address, unit: 'text', range: '' },
    hasForm: (raw) => typeof raw === 'string' || typeof raw === 'number',
    convert: (raw) => read(raw) ?? null,
  })
}

function number(address: string, unit: string, range: string, read: Read<number>): Field<number> {
  return field({ address, unit, range, hasForm: (raw) => typeof raw === 'number', convert: (raw) => read(raw) ?? null })
}

/** The fields of a device in the list. */
const listed = {
  name: text('device_name', readText),
  model: text('model', readText),
  serial: text('serial_number', readText),
  mac: text('mac_address', readMac),
  ip: text('ip', readIp),
  battery: number('battery_percentage', '%', '0 to 100', readBattery),
  rf: number('rf_level', 'dBm', '-200 to 50', readRfLevel),
}

export const table: FieldTable = {
  family: 'Common device API of Shure and Sennheiser systems',
  source: "Micwatch's interface specification",
  fields: {
    ...listed,
    status: text('status', readText),
    channel: number('channel', 'count', '1 to 65535', (raw) => readWhole(raw, 1, 65_535)),
    channelName: text('name of channels and transmitters', readText),
    slot: number('slot', 'count', '0 to 65535', (raw) => readWhole(raw, 0, 65_535)),
    transmitterBattery: number('battery', '%', '0 to 100', readBattery),
    audio: number('audio_level', 'dBFS', '-200 to 100, shown as at most 0', readAudioLevel),
    frequency: {
      ...text('frequency', (raw) => readFrequency(raw)),
      ...{ unit: 'MHz, as a number or text', range: 'more than 0, less than 100000' },
    },
  },
}

const maxDevices = 10_000
/** Longer lists are rejected. Beyond `maxDevices`, devices are skipped. */
const maxEntries = 100_000
const entryLimits = jsonLimits(20_000)

/** The part of a plugin that all systems with this API share. */
export const deviceApi = {
  listDevices,
  partsOf,
  readPart,
  hasIdentity,
  withEarlierIdentity,
  isSameIdentity,
  differsOnlyInLevels: hasSameFacts,
  readLevels,
}

/** The device if it is usable, and the problem if there is one. */
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
 * Returns the same object for a device whose entry has not changed since `previous`. Throws the manufacturer's ApiError
 * if the response is not a list of devices.
 */
async function listDevices(
  client: UpstreamClient,
  signal?: AbortSignal,
  previous?: ApiDeviceList,
): Promise<ApiDeviceList> {
  let read: ApiDeviceList['read']
  const { body } = await client.request('GET', '/api/v1/devices', {
    signal,
    kind: 'list',
    read: async (bytes) => {
      read = await readItems(bytes, {
        key: 'devices',
        parse: parseItem,
        limits: entryLimits,
        maxItems: maxEntries,
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

/**
 * Parses a list entry. If it differs from `previous` only in levels, only these are parsed, and added to the earlier
 * responses.
 */
function parseItem(item: unknown, previous?: ListItem): ListItem {
  const before = previous?.device ?? null
  if (before?.hasNoChannels === false && differsOnlyInLevels(item, before.raw.listed)) {
    // The earlier entry is kept, so that the many new ones can be discarded at once.
    copyLevels(item, before.raw.listed)
    return { device: { ...before }, problem: previous?.problem ?? null }
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

const listedFields = Object.values(listed)

/** Describes the invalid fields of a list entry, or returns null. */
function unreadableFields(item: Json): string | null {
  const names: string[] = []
  for (const { address: name, read } of listedFields) {
    const value = item[name]
    const isPresent = value !== undefined && value !== null && value !== ''
    if (isPresent && read(value) === null) names.push(name)
  }
  return names.length === 0 ? null : `${names.join(', ')} cannot be read`
}

/** True if the fields identify the device. Other identity fields may follow later. */
function isIdentifiable({ ip, serial_number, mac_address }: Identity): boolean {
  return ip !== undefined && (serial_number !== undefined || mac_address !== undefined)
}

function hasFullIdentity({ ip, serial_number, mac_address }: Identity): boolean {
  return ip !== undefined && serial_number !== undefined && mac_address !== undefined
}

/**
 * Requests a resource. Returns null for a 404. Returns undefined for a malformed response or an error that concerns
 * only this device, so that the other devices are still read. Throws other errors. `onRefused` is called with the
 * status in both cases.
 */
export async function readOptional(
  client: UpstreamClient,
  path: string,
  signal: AbortSignal | undefined,
  onRefused: (status: number) => void = () => {},
): Promise<unknown> {
  try {
    const { status, body } = await client.request('GET', path, { signal, accept: [404] })
    if (status === 404) onRefused(status)
    return status === 404 ? null : body
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, retryAfter } = error
    // Rethrows the error if there was no response, or if it affects the whole system rather than just this device.
    if (status === null || retryAfter !== null || [401, 403, 429].includes(status)) throw error
    onRefused(status)
    return undefined
  }
}

/** Creates the error for a response that is not a list of devices. */
export function wrongShape(client: UpstreamClient): ApiError {
  const { host } = new URL(client.settings.baseUrl)
  return new client.errors.ApiError(`invalid response from ${host}: not a list of devices`, { status: 200 })
}
