/**
 * REST bodies and their conversion from records. Field names and types follow the interface specification (see
 * docs/conformance.md).
 */

import type { ChannelDetails, ReceiverDetails, TransmitterDetails } from './equipment/details.ts'
import type { ServiceHealth, SourceError } from './equipment/health.ts'
import { type Location, type LocationReference, toLocationReference } from './equipment/location.ts'
import { type Channel, hardwareFields, type Receiver } from './equipment/receiver.ts'
import type { NetworkMode } from './identity/network.ts'
import type { Settings } from './settings.ts'

export interface TransmitterBody {
  readonly slot: number
  readonly upstream_slot: number | null
  readonly name: string | null
  readonly battery: number | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly frequency: string | null
  /** Additional values; absent if the equipment reports none. */
  readonly details?: TransmitterDetails
}

export interface ChannelBody {
  readonly id: number
  readonly channel: number
  readonly slot: number
  readonly name: string | null
  readonly frequency: string | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly transmitter: TransmitterBody | null
  /** Additional values; absent if the equipment reports none. */
  readonly details?: ChannelDetails
}

export interface ReceiverSummary {
  readonly id: number
  readonly name: string
  readonly device_type: string
  readonly ip: string | null
  readonly is_active: boolean
  readonly last_seen: string
  readonly manufacturer: string
}

/** A receiver in `GET /api/data.json`. It has no `last_seen`, so that the response of an idle installation does not change. */
export interface ReceiverInData extends Omit<ReceiverSummary, 'last_seen'> {
  readonly model: string | null
  readonly channels: readonly ChannelBody[]
}

export type BatteryHealth = 'good' | 'fair' | 'low' | 'critical' | 'unknown'
export type SignalQuality = 'excellent' | 'good' | 'fair' | 'poor' | 'unknown'

export interface ReceiverDetail extends ReceiverInData {
  readonly last_seen: string
  readonly battery_health: BatteryHealth
  readonly signal_quality: SignalQuality
  readonly api_device_id: string | null
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly subnet_mask: string | null
  readonly gateway: string | null
  readonly network_mode: NetworkMode | null
  readonly interface_id: string | null
  readonly description: string | null
  readonly firmware_version: string | null
  readonly hosted_firmware_version: string | null
  readonly location: LocationReference | null
  /** Present only while the receiver reports a fault. */
  readonly details?: ReceiverDetails
}

/** The payload of a `device_update`: all channels, and the other fields of the receiver that changed. */
export type ReceiverChange = Pick<ReceiverInData, 'channels'> & Partial<Omit<ReceiverDetail, 'channels' | 'id'>>

export interface DiscoveredDevice {
  readonly id: number
  readonly ip: string
  readonly device_type: string
  readonly channels: number
  readonly manufacturer: string
  readonly discovered_at: string
  /**
   * Only for a device that can be monitored individually: its model, and its address as it is to be entered in the
   * configuration.
   */
  readonly model?: string
  readonly address?: string
}

export interface Group {
  readonly id: number
  readonly title: string
  readonly slots: readonly number[]
  readonly hide_charts: boolean
  readonly manufacturer: string | null
}

/** An active assignment in `GET /api/data.json`. */
export interface ChannelAssignment {
  /** The channel that receives the unit, if any. */
  readonly channel_id: number | null
  readonly wireless_unit: number
  readonly performer: { readonly id: number; readonly name: string }
}

/** `GET /api/data.json`. */
export interface DataBody {
  readonly receivers: readonly ReceiverInData[]
  readonly discovered: readonly DiscoveredDevice[]
  readonly config: Settings
  readonly groups: readonly Group[]
  readonly assignments: readonly ChannelAssignment[]
  readonly placeholders: readonly unknown[]
}

export interface PageBody<Item> {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: readonly Item[]
}

/** `GET /api/health/`. */
export interface HealthBody extends ServiceHealth {
  readonly timestamp: string
}

/** `POST /api/refresh/`. */
export interface RefreshBody {
  readonly status: 'success' | 'partial'
  readonly receivers_updated: number
  readonly timestamp: string
  readonly errors?: readonly SourceError[]
}

/**
 * Converts a channel. Values that its transmitter lacks are taken from the channel; without a transmitter,
 * `transmitter` is null.
 */
export function toChannelBody(channel: Channel): ChannelBody {
  const { id, channel: number, slot, name, frequency, audio_level, rf_level, transmitter, details } = channel
  return {
    id,
    channel: number,
    slot,
    name,
    frequency,
    audio_level,
    rf_level,
    transmitter: transmitter && {
      slot,
      upstream_slot: transmitter.upstream_slot,
      name: transmitter.name ?? name,
      battery: transmitter.battery,
      audio_level: transmitter.audio_level ?? audio_level,
      rf_level: transmitter.rf_level ?? rf_level,
      frequency: transmitter.frequency ?? frequency,
      ...(transmitter.details && { details: transmitter.details }),
    },
    ...(details && { details }),
  }
}

export function toReceiverSummary(receiver: Receiver): ReceiverSummary {
  const { id, name, device_type, ip, is_active, last_seen, manufacturer } = receiver
  return { id, name, device_type, ip, is_active, last_seen: toTimestamp(last_seen), manufacturer }
}

/** Converts a receiver to its entry in `GET /api/data.json`, without its channels. */
export function toReceiverWithoutChannels(receiver: Receiver): Omit<ReceiverInData, 'channels'> {
  const { id, name, device_type, ip, is_active, manufacturer, model } = receiver
  return { id, name, device_type, ip, is_active, manufacturer, model }
}

function toReceiverInData(receiver: Receiver): ReceiverInData {
  return { ...toReceiverWithoutChannels(receiver), channels: receiver.channels.map(toChannelBody) }
}

export function toReceiverDetail(
  receiver: Receiver,
  batteryThreshold: number,
  locations: readonly Location[],
): ReceiverDetail {
  const { api_device_id, serial_number, mac_address, subnet_mask, gateway, network_mode } = receiver
  const { interface_id, description, firmware_version, hosted_firmware_version } = receiver
  return {
    ...toReceiverInData(receiver),
    last_seen: toTimestamp(receiver.last_seen),
    battery_health: batteryHealth(receiver.channels, batteryThreshold),
    signal_quality: signalQuality(receiver.channels),
    api_device_id,
    serial_number,
    mac_address,
    subnet_mask,
    gateway,
    network_mode,
    interface_id,
    description,
    firmware_version,
    hosted_firmware_version,
    location: toLocationReference(locations, receiver.location),
    ...(receiver.fault && { details: { fault: receiver.fault } }),
  }
}

/** Formats a time as ISO 8601 in UTC. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** Rates the lowest known battery level of the channels. */
export function batteryHealth(channels: readonly Channel[], threshold: number): BatteryHealth {
  const worst = lowest(channels.map((channel) => channel.transmitter?.battery ?? null))
  if (worst === null) return 'unknown'
  if (worst > 50) return 'good'
  if (worst <= 10) return 'critical'
  return worst > threshold ? 'fair' : 'low'
}

/**
 * Rates the lowest known RF level of the channels. Idle channels are ignored: their RF level is only the noise floor.
 */
export function signalQuality(channels: readonly Channel[]): SignalQuality {
  const inUse = channels.filter((channel) => channel.transmitter !== null)
  const worst = lowest(inUse.map((channel) => channel.transmitter?.rf_level ?? channel.rf_level))
  if (worst === null) return 'unknown'
  if (worst >= -55) return 'excellent'
  if (worst >= -70) return 'good'
  return worst >= -85 ? 'fair' : 'poor'
}

function lowest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** Returns the fields that differ; null if nothing differs, or only `last_seen`. */
export function toReceiverChange(before: Receiver | undefined, after: Receiver): ReceiverChange | null {
  const fields: Record<string, unknown> = {}
  let isChanged = before?.channels !== after.channels
  for (const field of hardwareFields) {
    if (before?.[field] === after[field]) continue
    fields[field] = after[field]
    isChanged = true
  }
  if ((before?.fault ?? null) !== (after.fault ?? null)) {
    fields.details = { fault: after.fault ?? null }
    isChanged = true
  }
  if (before?.is_active !== after.is_active) {
    fields.is_active = after.is_active
    fields.last_seen = toTimestamp(after.last_seen)
    isChanged = true
  }
  return isChanged ? { channels: after.channels.map(toChannelBody), ...fields } : null
}
