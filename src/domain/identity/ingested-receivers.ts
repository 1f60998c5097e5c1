/** Converts receivers that a script reports through `POST /api/ingest/`, and rejects invalid ones. */

import type { IngestRequest } from '../../contract/ingest.ts'
import { withoutFalseZeros } from '../equipment/false-zeros.ts'
import {
  type ChannelReading,
  type DeviceReport,
  hardwareFields,
  type TransmitterReading,
} from '../equipment/receiver.ts'
import { type KnownReceivers, macKey, type Outcome, reconcile, serialKey } from './reconcile.ts'

/** The manufacturer of receivers that are reported without one. */
export const ingestManufacturer = 'ingest'

type IngestedReceiver = IngestRequest['receivers'][number]
type IngestedChannel = NonNullable<IngestedReceiver['channels']>[number]
type IngestedTransmitter = NonNullable<IngestedChannel['transmitter']>

export interface IngestContext {
  readonly known: KnownReceivers
  readonly manufacturers: readonly { readonly code: string; readonly isEnabled: boolean }[]
}

export interface PlannedIngest {
  readonly accepted: readonly { readonly manufacturer: string; readonly report: DeviceReport }[]
  /** The index of each rejected receiver, and the reason. */
  readonly rejected: readonly { readonly index: number; readonly error: string }[]
}

export function planIngest(context: IngestContext, { source, receivers }: IngestRequest): PlannedIngest {
  const accepted: { manufacturer: string; report: DeviceReport }[] = []
  const rejected: { index: number; error: string }[] = []
  /** Every identity of the receivers in this request -> index. */
  const indexes = new Map<string, number>()
  for (const [index, receiver] of receivers.entries()) {
    const { manufacturer = ingestManufacturer } = receiver
    const report = withoutFalseZeros(toReport(source, receiver))
    const outcome = reconcile(context.known, manufacturer, report)
    const keys = keysOf(report).map((key) => `${manufacturer} ${key}`)
    const repeated = keys.map((key) => indexes.get(key)).find((earlier) => earlier !== undefined)
    const error =
      repeated === undefined
        ? (findProblem(context, manufacturer, report) ?? describeConflict(outcome))
        : `api_device_id: the same device as receivers.${repeated}`
    if (error !== null) rejected.push({ index, error })
    else if (outcome.kind === 'new') accepted.push({ manufacturer, report: withName(report, receiver) })
    else accepted.push({ manufacturer, report })
    for (const key of keys) if (!indexes.has(key)) indexes.set(key, index)
  }
  return { accepted, rejected }
}

function keysOf({ id, serial_number, mac_address }: DeviceReport): string[] {
  const [serial, mac] = [serialKey(serial_number), macKey(mac_address)]
  return [`id ${id}`, ...(serial === null ? [] : [`serial ${serial}`]), ...(mac === null ? [] : [`mac ${mac}`])]
}

function findProblem({ manufacturers }: IngestContext, manufacturer: string, report: DeviceReport): string | null {
  const configured = manufacturers.find(({ code }) => code === manufacturer)
  if (configured === undefined && manufacturer !== ingestManufacturer) {
    return `manufacturer: there is no manufacturer ${manufacturer}`
  }
  if (configured?.isEnabled === false) return `manufacturer: ${manufacturer} is disabled`
  const numbers = (report.channels ?? []).map(({ channel }) => channel)
  if (new Set(numbers).size < numbers.length) return 'channels: expected distinct channel numbers'
  return null
}

/**
 * Devices that conflict with known receivers are rejected, not queued for review, because their sender can correct
 * them.
 */
function describeConflict(outcome: Outcome): string | null {
  if (outcome.kind === 'excluded') return 'api_device_id: this device was rejected in the review of new devices'
  if (outcome.kind !== 'conflict') return null
  const { conflict_type, existing } = outcome
  const other = `receiver ${existing.id} (${existing.name}, ${existing.manufacturer})`
  if (conflict_type === 'hardware_changed') {
    return `api_device_id: ${other} has this id and another serial number or MAC address`
  }
  return conflict_type === 'ip_conflict'
    ? `ip: already the address of ${other}`
    : `serial_number: the serial number or MAC address belongs to ${other}`
}

/** A new receiver without a name is named after its model. */
function withName(report: DeviceReport, { name, model, api_device_id }: IngestedReceiver): DeviceReport {
  return { ...report, name: name ?? model ?? api_device_id }
}

const channelFields = ['channel', 'name', 'frequency', 'audio_level', 'rf_level', 'details'] as const
const transmitterFields = [
  'upstream_slot',
  'name',
  'battery',
  'audio_level',
  'rf_level',
  'frequency',
  'details',
] as const

function toReport(source: string, receiver: IngestedReceiver): DeviceReport {
  const { api_device_id, is_active, channels } = receiver
  const { model, mac_address, ...fields } = pick(receiver, [...hardwareFields, 'details'])
  return {
    ...fields,
    id: ingestedId(source, api_device_id),
    kind: 'receiver',
    online: is_active !== false,
    ...(model !== undefined && { model_name: model }),
    ...(mac_address !== undefined && { mac_address: formatMac(mac_address) }),
    ...(channels !== undefined && { channels: channels.map(toReading) }),
  }
}

function toReading(channel: IngestedChannel): ChannelReading {
  const { transmitter } = channel
  return {
    ...pick(channel, channelFields),
    ...(transmitter !== undefined && { transmitter: transmitter && toTransmitter(transmitter) }),
  }
}

function toTransmitter(transmitter: IngestedTransmitter): TransmitterReading {
  return pick(transmitter, transmitterFields)
}

function formatMac(mac: string | null): string | null {
  const digits = macKey(mac)
  return digits === null ? null : (digits.toUpperCase().match(/../g) ?? []).join(':')
}

function pick<T extends object, Key extends keyof T>(fields: T, keys: readonly Key[]): Pick<T, Key> {
  return Object.fromEntries(keys.filter((key) => key in fields).map((key) => [key, fields[key]])) as Pick<T, Key>
}

/** Ids of receivers that scripts report: `ingest:<source>:<id in the report>`. */
const idPrefix = 'ingest:'

/** True if a script last reported the receiver with this API device id. */
export function isIngestedId(id: string | null): boolean {
  return id?.startsWith(idPrefix) ?? false
}

export function ingestedId(source: string, apiDeviceId: string): string {
  return `${idPrefix}${encodeURIComponent(source.toWellFormed())}:${apiDeviceId}`
}

/** Returns the id that the sender of the report uses. Other ids are returned unchanged. */
export function reportedDeviceId(id: string | null): string | null {
  return id !== null && isIngestedId(id) ? id.slice(id.indexOf(':', idPrefix.length) + 1) : id
}
