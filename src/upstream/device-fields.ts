/** The data types of the common device API and the values of its fields. */

import type { ChannelReading, DeviceReport, TransmitterReading } from '../domain/equipment/receiver.ts'
import { isRecord, type Json } from '../domain/json.ts'
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

/** The device fields from the list or from the device's own resource, without levels. */
export type Identity = Partial<Omit<DeviceReport, 'id' | 'kind' | 'channels' | 'metadata'>>

export interface ApiDevice {
  readonly id: string
  /** As reported by the upstream. */
  readonly type: string
  readonly listed: Identity
  readonly summary: { readonly battery: number | null; readonly rf_level: number | null }
  /**
   * The response to the request for this device. Absent until requested, like `channels` and `transmitters`. Channels
   * or transmitters in the list itself are parsed only when needed.
   */
  readonly detail?: Identity
  readonly channels?: readonly ChannelReading[]
  /** The transmitters with their channels; an empty list means none. */
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

export function parseIdentity(item: Json): Identity {
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

/** Drops invalid identity fields, so that they do not overwrite known values. */
function withoutNulls(fields: { readonly [Key in keyof Identity]: Identity[Key] | null }): Identity {
  const identity: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) if (value !== undefined && value !== null) identity[key] = value
  return identity
}

function parseStatus(status: unknown): boolean | undefined {
  return typeof status === 'string' ? status.trim().toLowerCase() === 'online' : undefined
}

export function hasChannels(item: Json): boolean {
  return hasChannelList(item.channels)
}

export function hasTransmitters(item: Json): boolean {
  return item.transmitter !== undefined || item.transmitters !== undefined
}

export function hasChannelList(body: unknown): boolean {
  return Array.isArray(isRecord(body) ? body.channels : body)
}

/** Parses `{"channels":[…]}` or the bare array. Skips entries without a channel number. */
export function parseChannels(body: unknown): ChannelReading[] {
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

export function channelItems(body: unknown): Json[] {
  const list = isRecord(body) ? body.channels : body
  return Array.isArray(list) ? list.filter(isRecord) : []
}

export function channelNumber(item: Json): number | null {
  return readWhole(item.channel, 1, 65_535) ?? null
}

/** Parses one transmitter, an array of transmitters or `{"transmitters":[…]}`. The default channel is 1. */
export function parseTransmitters(body: unknown): (TransmitterReading & { channel: number })[] {
  return transmitterItems(body).flatMap((item) => {
    const channel = transmitterChannel(item)
    return typeof channel === 'number' ? [{ channel, ...parseTransmitter(item) }] : []
  })
}

export function transmitterItems(body: unknown): Json[] {
  const list = isRecord(body) ? (body.transmitters ?? [body]) : body
  return Array.isArray(list) ? list.filter(isRecord).filter((item) => Object.keys(item).length > 0) : []
}

export function transmitterChannel(item: Json): number | null | undefined {
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
