/** A device of the System API: the resources that can be read, and their conversion to the common format. Pure. */

import type { ChannelReading, DeviceReport, TransmitterDetails } from '../../../domain/equipment/receiver.ts'
import { unitTypeOf } from '../../../domain/equipment/unit-type.ts'
import { isRecord } from '../../../domain/json.ts'
import type { ReportedField } from '../../../upstream/field-table.ts'
import type { UpstreamDevice } from '../../plugin.ts'
import { familyOf } from '../realtime.ts'
import { fields } from './fields.ts'
import {
  type AudioChannel,
  type DeviceNode,
  macOf,
  parseActivity,
  parseBatteryHealth,
  parseBatteryLevel,
  parseGain,
  parseMute,
  parseName,
} from './schema.ts'

export interface SystemDevice extends UpstreamDevice {
  readonly node: DeviceNode
  /** Absent until they have been read. */
  readonly channels?: readonly AudioChannel[]
  /** Values of the resources by path. */
  readonly values: Readonly<Record<string, ResourceValue>>
  /** Path of a refused resource -> reason. */
  readonly refused?: ReadonlyMap<string, string>
  /** The last bodies of the resources, by path. */
  readonly bodies?: ReadonlyMap<string, unknown>
}

/** The part of a report that one resource contributes. */
type ResourceValue = Pick<DeviceReport, 'name' | 'battery' | 'details' | 'channels'>

export interface Resource {
  /** Relative to the device's path. */
  readonly path: string
  /** Returns undefined for a malformed body. */
  readonly parse: (body: unknown) => ResourceValue | undefined
}

/** Resources read from every device that has them. Micwatch shows nothing of the other capabilities. */
const deviceResources: Readonly<Record<string, Resource['parse']>> = {
  name: (body) => mapDefined(parseName(body), (name) => (name === null ? {} : { name })),
  'battery-level': parseBatteryLevel,
  'battery-health': (body) => mapDefined(parseBatteryHealth(body), (details) => ({ details })),
}

const channelResources: Readonly<Record<string, (body: unknown, channel: number) => ResourceValue | undefined>> = {
  name: (body, channel) => mapDefined(parseName(body), (name) => ({ channels: [{ channel, name }] })),
  mute: (body, channel) => mapDefined(parseMute(body), (muted) => ({ channels: [{ channel, details: { muted } }] })),
  gain: (body, channel) =>
    mapDefined(parseGain(body), (gain_db) => ({ channels: [{ channel, details: { gain_db } }] })),
  activity: (body, channel) =>
    mapDefined(parseActivity(body), (audio_activity) => ({ channels: [{ channel, details: { audio_activity } }] })),
}

/** Event name -> name of the pushed resource. */
const pushedNames: Readonly<Record<string, string>> = {
  DEVICE_NAME: 'name',
  DEVICE_BATTERY_LEVEL: 'battery-level',
  DEVICE_BATTERY_HEALTH: 'battery-health',
  AUDIO_CHANNEL_NAME: 'name',
  AUDIO_CHANNEL_MUTE: 'mute',
  AUDIO_CHANNEL_GAIN: 'gain',
  AUDIO_CHANNEL_ACTIVITY: 'activity',
}

/** Returns the resources that can be read and subscribed to; none if the device is not online. */
export function resourcesOf({ node, channels = [] }: SystemDevice): readonly Resource[] {
  if (node.state !== 'ONLINE') return []
  const deviceEntries = node.capabilities.flatMap((path) => {
    const parse = deviceResources[path]
    return parse === undefined ? [] : [{ path, parse }]
  })
  const channelEntries = channels.flatMap(({ id, number, capabilities }) =>
    capabilities.flatMap((name) => {
      const parse = channelResources[name]
      const path = `audio-channels/${encodeURIComponent(id)}/${name}`
      return parse === undefined ? [] : [{ path, parse: (body: unknown) => parse(body, number) }]
    }),
  )
  return [...deviceEntries, ...channelEntries]
}

/** Parses a pushed resource of the device (`channel` is null) or of one of its channels. */
export function parsePushed(eventName: string, channel: number | null, body: unknown): ResourceValue | undefined {
  const name = pushedNames[eventName]
  if (name === undefined) return undefined
  return channel === null ? deviceResources[name]?.(body) : channelResources[name]?.(body, channel)
}

/** Returns the reported fields of a resource. Paths of a channel's resources end with their names. */
export function listFields(path: string, body: unknown): readonly ReportedField[] {
  const name = path.replace(/^.*\//, '')
  if (!isRecord(body)) return body === null || body === undefined ? [] : [[name, body, path]]
  const all = isRecord(body.status) ? { ...body, ...body.status } : body
  const reported = Object.entries(all).filter(([property]) => addresses.has(`${name} ${property}`))
  if (reported.length === 0) return [[name, body, path]]
  return reported.map(([property, raw]) => [`${name} ${property}`, raw, `${path} ${property}`])
}

const addresses = new Set(Object.values(fields).map(({ address }) => address))

export function hasAudioChannels({ capabilities }: DeviceNode): boolean {
  return capabilities.includes('audio-channels')
}

/** True if the name and the channels have been read. For a device that is not online, the name is sufficient. */
export function isIdentified({ node, channels, values }: SystemDevice): boolean {
  if (node.state !== 'ONLINE') return values.name !== undefined
  const hasName = values.name !== undefined || !node.capabilities.includes('name')
  return hasName && (channels !== undefined || !hasAudioChannels(node))
}

/** True for a charger, an antenna combiner or a spectrum manager. They are listed but not monitored. */
export function isInfrastructure({ model }: DeviceNode): boolean {
  return /^(SBC|SBRC|AD8C|AD600|AXT6|UA8)/i.test(model ?? '')
}

/** Converts only the device's list entry, without its resources. */
export function nodeToReport(node: DeviceNode): DeviceReport {
  const { id, state, model, serialNumber, firmwareVersion, ip, capabilities } = node
  const mac = macOf(id)
  // A device with a battery and without audio channels is a transmitter.
  const isTransmitter = capabilities.includes('battery-level') && !hasAudioChannels(node)
  return {
    id,
    kind: isTransmitter ? 'transmitter' : 'receiver',
    online: state === 'ONLINE',
    ...(model !== null && { model_name: model, device_type: familyOf(model) ?? model.toLowerCase() }),
    ...(serialNumber !== null && { serial_number: serialNumber }),
    ...(firmwareVersion !== null && { firmware_version: firmwareVersion }),
    ...(ip !== null && { ip }),
    ...(mac !== null && { mac_address: mac }),
  }
}

/** A device without a name is named after its model. */
export function toDeviceReport({ node, channels = [], values }: SystemDevice): DeviceReport {
  const parts = Object.values(values)
  const { name = node.model ?? node.id, battery } = Object.assign({}, ...parts) as ResourceValue
  const report = nodeToReport(node)
  // An in-ear rack unit is the transmitter; its bodypack receivers report nothing.
  const inEar = unitTypeOf(report.device_type ?? '') === 'iem_receiver' ? { transmitter: {} } : {}
  const readings = new Map(
    channels.map(({ number }): [number, ChannelReading] => [number, { channel: number, ...inEar }]),
  )
  for (const reading of parts.flatMap((part) => part.channels ?? [])) {
    const previous = readings.get(reading.channel)
    const details = { ...previous?.details, ...reading.details }
    readings.set(reading.channel, { ...previous, ...reading, ...(Object.keys(details).length > 0 && { details }) })
  }
  const details = Object.assign({}, ...parts.map((part) => part.details)) as TransmitterDetails
  return {
    ...report,
    name,
    model_name: report.model_name ?? null,
    device_type: report.device_type ?? report.kind,
    ...(readings.size > 0 && { channels: [...readings.values()] }),
    ...(battery !== undefined && { battery }),
    ...(Object.keys(details).length > 0 && { details }),
    metadata: node,
  }
}

function mapDefined<T>(value: T | undefined, convert: (value: T) => ResourceValue): ResourceValue | undefined {
  return value === undefined ? undefined : convert(value)
}
