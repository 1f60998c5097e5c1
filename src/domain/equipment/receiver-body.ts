/** Converts receivers and channels to the bodies that the REST and WebSocket interfaces send. */

import type { ChannelBody } from '../../contract/channels.ts'
import type { Location } from '../../contract/locations.ts'
import type { ReceiverDetail, ReceiverDetails, ReceiverInData, ReceiverSummary } from '../../contract/receivers.ts'
import type { SiteReference } from '../../contract/schema.ts'
import type { Condition, LastTransmitter, Thresholds } from '../conditions/condition.ts'
import { roundForecast } from '../forecast/forecast.ts'
import { reportedDeviceId } from '../identity/ingested-receivers.ts'
import { isSameJson } from '../json.ts'
import { toTimestamp } from '../timestamp.ts'
import { toLocationReference } from './location.ts'
import { type Channel, hardwareFields, type NotNow, type Receiver } from './receiver.ts'

/** The payload of a `device_update`: all channels, and the other fields of the receiver that changed. */
export type ReceiverChange = { readonly channels: readonly Version1Channel[] } & Partial<
  Omit<ReceiverDetail, 'channels' | 'id'>
>

type Version1Channel = Omit<ChannelBody, 'not_now'>

/**
 * Converts a channel. Values that its transmitter lacks are taken from the channel; without a transmitter,
 * `transmitter` is null. The forecast is rounded, so that it does not change every minute.
 */
export function toChannelBody(channel: Channel): ChannelBody {
  const {
    id,
    channel: number,
    slot,
    name,
    frequency,
    audio_level,
    rf_level,
    transmitter,
    details,
    profile,
    not_now,
    last_transmitter,
    forecast,
    origin,
  } = channel
  return {
    id,
    channel: number,
    slot,
    ...(origin && { origin_slot: origin.slot }),
    name,
    frequency,
    audio_level,
    rf_level,
    transmitter: transmitter && {
      slot,
      upstream_slot: transmitter.upstream_slot,
      name: transmitter.name ?? name,
      battery: transmitter.battery,
      forecast: forecast ? roundForecast(forecast) : null,
      audio_level: transmitter.audio_level ?? audio_level,
      rf_level: transmitter.rf_level ?? rf_level,
      frequency: transmitter.frequency ?? frequency,
      ...(transmitter.details && { details: transmitter.details }),
    },
    ...(details && { details }),
    ...(profile !== undefined && { profile }),
    condition: toConditionBody(channel.condition),
    not_now: not_now === undefined ? null : toNotNowBody(not_now),
    ...(transmitter === null && last_transmitter && { last_transmitter: toLastTransmitterBody(last_transmitter) }),
  }
}

function toNotNowBody({ by, since, until }: NotNow): ChannelBody['not_now'] {
  return { by, since: toTimestamp(since), until: until === null ? null : toTimestamp(until) }
}

/** Converts a channel for version 1 of the live interface, which has no later fields. */
export function toVersion1Channel(channel: Channel): Version1Channel {
  const { not_now: _, ...body } = toChannelBody(channel)
  return body
}

/** Converts a channel that is requested on its own or with its receiver: minutes that the device reports are not rounded. */
export function toSingleChannelBody(channel: Channel): ChannelBody {
  const body = toChannelBody(channel)
  return { ...body, transmitter: body.transmitter && { ...body.transmitter, forecast: channel.forecast } }
}

export function toConditionBody({ since, values_at, ...condition }: Condition): ChannelBody['condition'] {
  const { state, severity, attention, since_known, flags } = condition
  const values = values_at === undefined ? {} : { values_at: toTimestamp(values_at) }
  return { state, severity, attention, since: toTimestamp(since), since_known, ...values, flags }
}

function toLastTransmitterBody({ last_seen, ...transmitter }: LastTransmitter): ChannelBody['last_transmitter'] {
  return { ...transmitter, last_seen: toTimestamp(last_seen) }
}

export function toReceiverSummary(receiver: Receiver): ReceiverSummary {
  const { id, name, device_type, ip, is_active, last_seen, manufacturer } = receiver
  return {
    id,
    name,
    device_type,
    ip,
    is_active,
    last_seen: toTimestamp(last_seen),
    manufacturer,
    site: siteOf(receiver),
  }
}

/** Converts a receiver to its entry in `GET /api/data.json`, without its channels. */
export function toReceiverWithoutChannels(receiver: Receiver): Omit<ReceiverInData, 'channels'> {
  const { id, name, device_type, ip, is_active, manufacturer, model } = receiver
  return { id, name, device_type, ip, is_active, manufacturer, site: siteOf(receiver), model }
}

/** Returns the site that monitors a receiver; null if this installation does. */
export function siteOf({ origin }: Pick<Receiver, 'origin'>): SiteReference | null {
  return origin?.site ?? null
}

/** `batteryThreshold` returns the `alert_battery_threshold` in force for a channel. */
export function toReceiverDetail(
  receiver: Receiver,
  conditions: { thresholdsOf(receiver: Receiver, channel: Channel): Pick<Thresholds, 'alert_battery_threshold'> },
  locations: readonly Location[],
): ReceiverDetail {
  const { api_device_id, serial_number, mac_address, subnet_mask, gateway, network_mode } = receiver
  const { interface_id, description, firmware_version, hosted_firmware_version } = receiver
  return {
    ...toReceiverWithoutChannels(receiver),
    channels: receiver.channels.map(toSingleChannelBody),
    last_seen: toTimestamp(receiver.last_seen),
    battery_health: batteryHealth(
      receiver.channels,
      (channel) => conditions.thresholdsOf(receiver, channel).alert_battery_threshold,
    ),
    signal_quality: signalQuality(receiver.channels),
    api_device_id: receiver.origin === undefined ? reportedDeviceId(api_device_id) : null,
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
    spare: receiver.spare === true,
    version: receiver.version ?? 0,
    ...(hasDetails(receiver) && { details: receiver.details }),
  }
}

function hasDetails(receiver: Receiver): receiver is Receiver & Required<Pick<Receiver, 'details'>> {
  return Object.keys(receiver.details ?? {}).length > 0
}

/** Returns the values that differ, with null for those that are gone; null if none differs. */
function changedReceiverDetails(before: ReceiverDetails = {}, after: ReceiverDetails = {}): ReceiverDetails | null {
  if (before === after) return null
  const names = Object.keys({ ...before, ...after }) as (keyof ReceiverDetails)[]
  const changed = names.filter((name) => !isSameJson(before[name], after[name]))
  return changed.length === 0 ? null : Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

const batteryRatings = ['critical', 'low', 'fair', 'good'] as const

/** Rates the known battery levels of the channels. Returns the worst rating. */
export function batteryHealth(
  channels: readonly Channel[],
  thresholdOf: (channel: Channel) => number,
): ReceiverDetail['battery_health'] {
  const ratings = channels.map((channel) =>
    rateBattery(channel.transmitter?.battery ?? null, () => thresholdOf(channel)),
  )
  return batteryRatings.find((rating) => ratings.includes(rating)) ?? 'unknown'
}

function rateBattery(battery: number | null, threshold: () => number): (typeof batteryRatings)[number] | null {
  if (battery === null) return null
  if (battery > 50) return 'good'
  if (battery <= 10) return 'critical'
  return battery > threshold() ? 'fair' : 'low'
}

/**
 * Rates the lowest known RF level of the channels. Idle channels are ignored: their RF level is only the noise floor.
 */
export function signalQuality(channels: readonly Channel[]): ReceiverDetail['signal_quality'] {
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
  const details = changedReceiverDetails(before?.details, after.details)
  if (details !== null) {
    fields.details = details
    isChanged = true
  }
  if ((before?.spare === true) !== (after.spare === true)) {
    fields.spare = after.spare === true
    isChanged = true
  }
  if (before?.is_active !== after.is_active) {
    fields.is_active = after.is_active
    fields.last_seen = toTimestamp(after.last_seen)
    isChanged = true
  }
  return isChanged ? { channels: after.channels.map(toVersion1Channel), ...fields } : null
}
