/**
 * What stands on the rack and goes on stage: chassis (receivers seen as hardware), units (transmitters), the performers
 * who wear them.
 */

import type { TransmitterDetails } from './details.ts'
import type { UpstreamStatus } from './health.ts'
import { type Location, type LocationReference, toLocationReference } from './location.ts'
import { type Channel, changedFields, type DeviceReport, mergeDetails, type Receiver } from './receiver.ts'

export const unitTypes = ['mic_transmitter', 'iem_receiver'] as const
export type UnitType = (typeof unitTypes)[number]

export const onlineStates = ['online', 'offline', 'unknown'] as const
export type OnlineState = (typeof onlineStates)[number]

/**
 * A transmitter. One heard on a channel is as live as the channel; one that its system lists as a device of its own
 * carries what was told of it.
 */
export interface Unit {
  readonly id: number
  readonly manufacturer: string
  /** The channel it is heard on; null for a device of its own. */
  readonly channel_id: number | null
  /** The receiver of that channel, or the device that tells of it: the charger it is docked in. */
  readonly receiver_id: number | null
  /** Null for one that is heard on a channel. */
  readonly api_device_id: string | null
  /** As last told. */
  readonly name: string | null
  readonly model: string | null
  readonly serial_number: string | null
  readonly device_type: UnitType
  /** The next three: of a device of its own. */
  readonly battery: number | null
  readonly details: TransmitterDetails | null
  readonly is_online: boolean
}

export type UnitDraft = Omit<Unit, 'id'>

export interface UnitIndex {
  ofChannel(channelId: number): Unit | undefined
  ofDevice(manufacturer: string, apiDeviceId: string): Unit | undefined
  /** Devices of their own that this one tells of. */
  reportedBy(receiverId: number): readonly Unit[]
}

/** An in-ear pack listens, everything else transmits. */
export function unitTypeOf(deviceType: string): UnitType {
  return /psm|iem|in-?ear|^ek/i.test(deviceType) ? 'iem_receiver' : 'mic_transmitter'
}

/** Units to be made for transmitters that are heard on these receivers' channels for the first time. */
export function draftChannelUnits(known: UnitIndex, receivers: readonly Receiver[]): UnitDraft[] {
  return receivers.flatMap((receiver) =>
    receiver.channels
      .filter((channel) => channel.transmitter !== null && known.ofChannel(channel.id) === undefined)
      .map((channel) => ({
        manufacturer: receiver.manufacturer,
        channel_id: channel.id,
        receiver_id: receiver.id,
        api_device_id: null,
        name: transmitterName(channel),
        model: null,
        serial_number: null,
        device_type: unitTypeOf(receiver.device_type),
        battery: null,
        details: null,
        is_online: true,
      })),
  )
}

/** Units on these receivers' channels that go by another name than was stored. */
export function findRenamedUnits(known: UnitIndex, receivers: readonly Receiver[]): Unit[] {
  return receivers.flatMap(({ channels }) =>
    channels.flatMap((channel) => {
      const unit = channel.transmitter === null ? undefined : known.ofChannel(channel.id)
      const name = transmitterName(channel)
      return unit === undefined || name === null || name === unit.name ? [] : [{ ...unit, name }]
    }),
  )
}

/** What was told of transmitters that are devices of their own. */
export interface ReportedUnits {
  readonly drafts: readonly UnitDraft[]
  readonly changed: readonly Unit[]
}

/** Of a transmitter that is a device of its own, or of some that stand in this device. */
export function reportsUnits({ kind, units }: DeviceReport): boolean {
  return kind === 'transmitter' || units !== undefined
}

interface UnitReports {
  readonly manufacturer: string
  /** Those that tell of units. */
  readonly reports: readonly DeviceReport[]
  /** Ids of devices that their system has not listed for a while. */
  readonly missing: readonly string[]
  /** The id of the known receiver that goes by this one of its system's. */
  receiverOf(apiDeviceId: string): number | undefined
}

const none: ReportedUnits = { drafts: [], changed: [] }

/** Who is new, of whom something changed, and who is there no more. Who is told of elsewhere has only moved. */
export function planReportedUnits(known: UnitIndex, told: UnitReports): ReportedUnits {
  const { manufacturer, reports, missing, receiverOf } = told
  if (reports.length === 0 && missing.length === 0) return none
  const drafts = new Map<string, UnitDraft>()
  const changed = new Map<string, Unit>()
  const take = (report: DeviceReport, receiver?: number) => {
    const unit = known.ofDevice(manufacturer, report.id)
    const fields = { ...reportedUnitFields(report, unit), ...(receiver !== undefined && { receiver_id: receiver }) }
    if (unit === undefined) drafts.set(report.id, { ...emptyUnit, manufacturer, api_device_id: report.id, ...fields })
    else change(unit, fields)
  }
  const change = (unit: Unit, fields: Partial<Unit>) => {
    const news = changedFields<Unit>(unit, fields)
    if (Object.keys(news).length > 0) changed.set(unit.api_device_id ?? '', { ...unit, ...news })
  }
  for (const report of reports) {
    if (report.kind === 'transmitter') take(report)
    const receiver = receiverOf(report.id)
    // What stands in a device that waits for review, or is kept out, is shown no more than the device.
    if (report.units === undefined || receiver === undefined) continue
    for (const unit of report.units) take(unit, receiver)
    const there = new Set([...report.units.map(({ id }) => id), ...changed.keys()])
    const left = known.reportedBy(receiver).filter(({ api_device_id }) => !there.has(api_device_id ?? ''))
    for (const unit of left) change(unit, { receiver_id: null, is_online: false })
  }
  for (const id of missing) {
    const unit = known.ofDevice(manufacturer, id)
    if (unit?.is_online && !reports.some((report) => report.id === id)) change(unit, { is_online: false })
  }
  return { drafts: [...drafts.values()], changed: [...changed.values()] }
}

const emptyUnit: Omit<UnitDraft, 'manufacturer' | 'api_device_id'> = {
  channel_id: null,
  receiver_id: null,
  name: null,
  model: null,
  serial_number: null,
  device_type: 'mic_transmitter',
  battery: null,
  details: null,
  is_online: true,
}

function reportedUnitFields(report: DeviceReport, before: Unit | undefined): Partial<Unit> {
  const heard = report.channels?.find((one) => one.transmitter?.battery !== undefined)
  const battery = heard?.transmitter?.battery ?? report.battery
  const details = mergeDetails(before?.details ?? undefined, report.details)
  const type = `${report.device_type ?? ''} ${report.model_name ?? ''}`.trim()
  return {
    ...(report.name !== undefined && { name: report.name }),
    ...(report.model_name !== undefined && { model: report.model_name }),
    ...(report.serial_number !== undefined && { serial_number: report.serial_number }),
    ...(battery !== undefined && { battery }),
    ...(details !== undefined && { details }),
    ...(type !== '' && { device_type: unitTypeOf(type) }),
    is_online: report.online !== false,
  }
}

function transmitterName(channel: Channel): string | null {
  return channel.transmitter?.name ?? channel.name
}

/** A receiver seen as hardware. */
export interface ChassisBody {
  readonly id: number
  readonly name: string
  readonly model: string | null
  readonly manufacturer: string
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly ip: string | null
  readonly status: OnlineState
  readonly firmware_version: string | null
  readonly location: LocationReference | null
}

export interface UnitBody {
  readonly id: number
  readonly name: string | null
  readonly device_type: UnitType
  readonly model: string | null
  readonly manufacturer: string
  readonly battery_percentage: number | null
  readonly base_chassis: number | null
  readonly channel: number | null
  readonly slot: number | null
  readonly status: OnlineState
  /** Only of gear that tells more than the specification asks for. */
  readonly details?: TransmitterDetails
}

/** What was true last; nobody can say whether it still is while the manufacturer's system cannot be asked. */
function onlineState(isThere: boolean, upstream: UpstreamStatus): OnlineState {
  if (!isThere) return 'offline'
  return upstream === 'unhealthy' || upstream === 'disabled' || upstream === 'unconfigured' ? 'unknown' : 'online'
}

export function toChassisBody(
  receiver: Receiver,
  upstream: UpstreamStatus,
  locations: readonly Location[],
): ChassisBody {
  const { id, name, model, manufacturer, serial_number, mac_address, ip, firmware_version } = receiver
  const status = onlineState(receiver.is_active, upstream)
  const location = toLocationReference(locations, receiver.location)
  return { id, name, model, manufacturer, serial_number, mac_address, ip, status, firmware_version, location }
}

/** `receiver`: the one it is heard on or docked in, if any. */
export function toUnitBody(unit: Unit, receiver: Receiver | undefined, upstream: UpstreamStatus): UnitBody {
  const { id, device_type, model, manufacturer } = unit
  const channel = receiver?.channels.find((one) => one.id === unit.channel_id)
  const transmitter = channel?.transmitter ?? null
  const isOwn = unit.channel_id === null
  const isHeld = receiver?.is_active ?? unit.receiver_id === null
  const isThere = isHeld && (isOwn ? unit.is_online : transmitter !== null)
  const details = isOwn ? unit.details : transmitter?.details
  return {
    id,
    name: (channel && transmitter && transmitterName(channel)) ?? unit.name,
    device_type,
    model: model ?? details?.model ?? null,
    manufacturer,
    battery_percentage: isOwn ? unit.battery : (transmitter?.battery ?? null),
    base_chassis: unit.receiver_id,
    channel: channel?.channel ?? null,
    slot: channel?.slot ?? null,
    status: onlineState(isThere, upstream),
    ...(details && { details }),
  }
}

export interface Performer {
  readonly id: number
  readonly name: string
  readonly notes: string
  /** A picture's address or data, as it was given. */
  readonly picture: string | null
}

/** Who wears which unit. Times in epoch milliseconds. */
export interface Assignment {
  readonly id: number
  readonly performer: number
  readonly wireless_unit: number
  readonly is_active: boolean
  readonly started_at: number
  readonly ended_at: number | null
}

/** What becomes of an assignment that is switched on or off; its times say when that was. */
export function setActive(assignment: Assignment, isActive: boolean, now: number): Assignment {
  if (isActive === assignment.is_active) return assignment
  return isActive
    ? { ...assignment, is_active: true, started_at: now, ended_at: null }
    : { ...assignment, is_active: false, ended_at: now }
}
