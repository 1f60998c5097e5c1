/** Converts what a station reports to the common format: one channel for each belt pack. Pure. */

import type { ChannelReading, DeviceReport, TransmitterReading } from '../../domain/equipment/receiver.ts'
import { isRecord } from '../../domain/json.ts'
import type { Field, ReportedField } from '../../upstream/field-table.ts'
import { readIp, readMac, readNetworkMode, readText, withoutUndefined } from '../../upstream/fields.ts'
import { packFields, stationFields } from './fields.ts'

type Entry = Readonly<Record<string, unknown>>

export interface Station {
  /** The manufacturer's own id. */
  readonly id: string
  /** With the port, if it is not the usual one. */
  readonly host: string
  readonly ip: string
  /** The configured name. */
  readonly name: string | null
  readonly device: Entry
  /** The belt packs, by id. */
  readonly packs: ReadonlyMap<number, Entry>
  readonly antennas: readonly Entry[]
  /** Roleset id -> label. */
  readonly roles: ReadonlyMap<number, string>
  /** Entries that were skipped. */
  readonly malformed: number
}

/** Other endpoints are panels, wired stations and antennas. */
const packTypes: readonly unknown[] = ['FSII-BP', 'FSE-BP', 'E-BP']

export type ListedEndpoints = Pick<Station, 'packs' | 'antennas' | 'malformed'>

/** Skips and counts entries without a valid id, and repeated ones. */
export function readEndpoints(listed: readonly unknown[]): ListedEndpoints {
  const packs = new Map<number, Entry>()
  const antennas: Entry[] = []
  let malformed = 0
  for (const entry of listed) {
    const id = isRecord(entry) ? entry.id : null
    if (!isRecord(entry) || typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1 || packs.has(id)) {
      malformed += 1
    } else if (entry.isGateway === true || entry.type === 'FSII-Antenna') antennas.push(entry)
    else if (packTypes.includes(entry.type)) packs.set(id, entry)
  }
  return { packs, antennas, malformed }
}

export function readRoles(rolesets: unknown): ReadonlyMap<number, string> {
  const roles = new Map<number, string>()
  for (const roleset of Array.isArray(rolesets) ? rolesets : []) {
    if (!isRecord(roleset) || typeof roleset.id !== 'number') continue
    const label = readText(roleset.label) ?? readText(roleset.name)
    if (label) roles.set(roleset.id, label)
  }
  return roles
}

/** The list of devices of a FreeSpeak II Base II contains the station as device 1. */
export function findStation(body: unknown): Entry | null {
  const devices = Array.isArray(body) ? body : [body]
  return devices.find((device) => isRecord(device) && device.device_id === 1) ?? null
}

export function idOf(device: Entry, host: string): string {
  return `clearcom:${read(device, stationFields.uuid) ?? macOf(device) ?? host}`
}

/** Lists the documented fields of a station, to find those of another form. */
export function* listFields({ device, packs }: Station): Generator<ReportedField> {
  for (const field of Object.values(stationFields)) yield [field.address, rawOf(device, field)]
  for (const [id, pack] of packs) {
    for (const field of Object.values(packFields)) yield [field.address, rawOf(pack, field), `${field.address} ${id}`]
  }
}

export function toDeviceReport(station: Station): DeviceReport {
  const { id, host, ip, device, packs } = station
  const network = adminNetworkOf(device)
  const readDevice = <Value>(field: Field<Value>) => read(device, field)
  return withoutUndefined<DeviceReport>({
    id,
    kind: 'receiver',
    name: readDevice(stationFields.label) || station.name || `Clear-Com ${host}`,
    model_name: readDevice(stationFields.type) ?? readDevice(stationFields.system) ?? null,
    device_type: 'clearcom',
    online: true,
    ip: readIp(readDevice(stationFields.ip)) ?? readIp(ip) ?? undefined,
    mac_address: macOf(device),
    subnet_mask: readIp(network?.netmask) ?? undefined,
    gateway: readIp(network?.gateway) ?? undefined,
    network_mode: readNetworkMode(network?.mode) ?? undefined,
    firmware_version:
      readDevice(stationFields.firmware) ??
      readDevice(stationFields.deviceFirmware) ??
      readDevice(stationFields.systemVersion),
    details: toStationDetails(station),
    channels: [...packs].map(([channel, pack]) => toChannel(channel, pack, station)),
  })
}

function toStationDetails({ device, antennas }: Station): DeviceReport['details'] {
  return withoutUndefined({
    state: read(device, stationFields.state),
    temperature: highestTemperature(device),
    antennas: antennas.map((antenna) => ({
      port: readText(antenna.label) ?? String(antenna.id),
      state: readText(rawAt(antenna, 'liveStatus.status')) ?? null,
      ...withoutUndefined({ type: readText(antenna.frequencyType) }),
    })),
  })
}

function highestTemperature(device: Entry): string | undefined {
  const sensors = rawAt(device, 'device_liveStatus.temperatureSensors')
  const values = (Array.isArray(sensors) ? sensors : []).flatMap((sensor) => {
    const value = isRecord(sensor) ? sensor.temperatureCentigrade : null
    return typeof value === 'number' && Number.isFinite(value) ? [value] : []
  })
  return values.length === 0 ? undefined : `${Math.round(Math.max(...values))} °C`
}

/** A pack that is off keeps its name. */
function toChannel(channel: number, pack: Entry, { roles }: Station): ChannelReading {
  const roleset = read(pack, packFields.roleset)
  const role = typeof roleset === 'number' ? roles.get(roleset) : undefined
  const band = read(pack, packFields.band)
  return withoutUndefined({
    channel,
    name: role ?? read(pack, packFields.role) ?? read(pack, packFields.label),
    transmitter: toTransmitter(pack),
    details: band === undefined ? undefined : { band: band && `${band} GHz` },
  })
}

/** Undefined if the station does not say in a documented form whether the pack is on. */
function toTransmitter(pack: Entry): TransmitterReading | null | undefined {
  const isOnline = read(pack, packFields.isOnline)
  const isEmpty =
    pack.liveStatus === undefined || (isRecord(pack.liveStatus) && Object.keys(pack.liveStatus).length === 0)
  if (isOnline === false || isEmpty) return null
  const battery = readFirst(pack, packFields.battery, packFields.batteryInDetails)
  if (isOnline !== true && typeof battery !== 'number') return undefined
  return withoutUndefined<TransmitterReading>({
    name: read(pack, packFields.label),
    battery,
    // Its unit is not public.
    rf_level: null,
    details: withoutUndefined({
      model: readText(pack.type),
      battery_minutes: minutesOf(pack),
      battery_type: read(pack, packFields.batteryType),
      link_quality: readFirst(pack, packFields.linkQuality, packFields.linkQualityInDetails),
      rssi: read(pack, packFields.rssi),
      rssi_2: read(pack, packFields.rssi2),
      antenna: read(pack, packFields.antenna),
    }),
  })
}

function minutesOf(pack: Entry): number | null | undefined {
  const hours = read(pack, packFields.hoursLeft)
  const minutes = read(pack, packFields.minutesLeft)
  if (hours === null || minutes === null) return null
  return hours === undefined && minutes === undefined ? undefined : (hours ?? 0) * 60 + (minutes ?? 0)
}

function macOf(device: Entry): string | undefined {
  return readMac(adminNetworkOf(device)?.mac) ?? undefined
}

/** The network interface at which the station is managed, or its first one. */
function adminNetworkOf(device: Entry): Entry | undefined {
  const listed = rawAt(device, 'device_settings.network')
  const networks = (Array.isArray(listed) ? listed : []).filter(isRecord)
  return networks.find((network) => network.interface === 'admin') ?? networks[0]
}

/** Reads a field that one of two products has. */
function readFirst<Value>(entry: Entry, first: Field<Value>, second: Field<Value>): Value | null | undefined {
  const value = read(entry, first)
  return value ?? read(entry, second) ?? value
}

function read<Value>(entry: Entry, field: Field<Value>): Value | null | undefined {
  return field.read(rawOf(entry, field))
}

function rawOf(entry: Entry, { address }: Pick<Field, 'address'>): unknown {
  return rawAt(entry, address.slice(address.indexOf(' ') + 1))
}

/** Returns a list, which no field accepts, if the path leads through a value that is no object. */
function rawAt(entry: Entry, path: string): unknown {
  let value: unknown = entry
  for (const key of path.split('.')) {
    if (value === null || value === undefined) return value
    if (!isRecord(value)) return [value]
    value = value[key]
  }
  return value
}
