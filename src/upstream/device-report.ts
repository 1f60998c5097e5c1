/** Converts devices and pushed messages of the common device API to the common format. */

import type { ChannelReading, DeviceReport } from '../domain/equipment/receiver.ts'
import { isRecord, type Json } from '../domain/json.ts'
import {
  type ApiDevice,
  hasChannels,
  hasTransmitters,
  parseChannels,
  parseIdentity,
  parseTransmitters,
} from './device-fields.ts'
import { readBattery, readRfLevel, withoutUndefined } from './fields.ts'

/**
 * `family` returns the plugin's device type for a model (`ulxd`, `ewdx` …). If it returns undefined, the upstream's
 * type is used.
 */
export function toDeviceReport(device: ApiDevice, family: (model: string) => string | undefined): DeviceReport {
  // Fields from the list take precedence, because `detail` may be several cycles old.
  const identity = device.detail === undefined ? device.listed : { ...device.detail, ...device.listed }
  const model_name = identity.model_name ?? null
  const channels = toChannelReadings(device)
  const isTransmitter = /transmitter|bodypack|handheld/i.test(device.type)
  return {
    id: device.id,
    kind: isTransmitter ? 'transmitter' : 'receiver',
    device_type: family(model_name ?? '') ?? device.type.toLowerCase(),
    name: model_name ?? device.id,
    model_name,
    online: true,
    ...identity,
    ...(channels && { channels }),
    metadata: toMetadata(device.raw),
  }
}

/** Parses a pushed message with any fields of the device, its channels or its transmitters. Omits absent fields. */
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

/** In a pushed message, `transmitter: null` removes the transmitter on channel 1. */
function parsePushedTransmitters(fields: Json): readonly (ChannelReading & { channel: number })[] {
  if (fields.transmitter === null) return [{ channel: 1, transmitter: null }]
  const transmitters = parseTransmitters(fields.transmitters ?? fields.transmitter)
  return transmitters.map(({ channel, ...transmitter }) => ({ channel, transmitter }))
}

/**
 * Combines channels with transmitters. If the transmitters are known, other channels have none. A device without
 * channels uses the summary in the list.
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
  return readings.map((reading) =>
    reading.transmitter === undefined ? Object.assign({}, reading, { transmitter: null }) : reading,
  )
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
  // Not a spread, which would create a hidden class for every object: see docs/performance.md, Memory.
  for (const reading of transmitters)
    merged.set(reading.channel, Object.assign({}, merged.get(reading.channel), reading))
  return [...merged.values()]
}

function toMetadata(raw: ApiDevice['raw']): unknown {
  const { listed, detail, channels, transmitter } = raw
  if (detail === undefined && channels === undefined && transmitter === undefined) return listed
  return {
    ...listed,
    ...(isRecord(detail) ? detail : {}),
    ...(channels === undefined ? {} : { channels: isRecord(channels) ? channels.channels : channels }),
    ...(transmitter === undefined ? {} : { transmitter }),
  }
}
