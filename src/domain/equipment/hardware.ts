/**
 * Chassis (the API's name for a receiver as a physical device), units (transmitters and in-ear packs), performers and
 * assignments.
 */

import type { TransmitterDetails } from '../../contract/channels.ts'
import type { ChassisBody, SiteUnitBody, UnitBody } from '../../contract/hardware.ts'
import type { Location } from '../../contract/locations.ts'
import type { OnlineState, UnitType, UpstreamStatus } from '../../contract/values.ts'
import { isIngestedId } from '../identity/ingested-receivers.ts'
import { toLocationReference } from './location.ts'
import {
  type Channel,
  changedFields,
  type DeviceReport,
  mergeDetails,
  type Receiver,
  reportedName,
} from './receiver.ts'
import { unitTypeOf } from './unit-type.ts'

/**
 * A transmitter or in-ear pack.
 * - A channel unit is or was received on a channel. While it is received, its live values are the channel's.
 * - A device unit is reported as a device of its own, such as a pack docked in a charger, and has its own values.
 */
export interface Unit {
  readonly id: number
  readonly manufacturer: string
  /** The channel that receives the unit, or received it last; null once that channel receives another one. */
  readonly channel_id: number | null
  /** The receiver of that channel, or the device that reports the unit, such as its charger. */
  readonly receiver_id: number | null
  /** Null for a channel unit. */
  readonly api_device_id: string | null
  /** The last reported name. */
  readonly name: string | null
  readonly model: string | null
  readonly serial_number: string | null
  /** The last reported slot of a channel unit. */
  readonly upstream_slot: number | null
  readonly device_type: UnitType
  /** The next three fields apply only to device units. */
  readonly battery: number | null
  readonly details: TransmitterDetails | null
  readonly is_online: boolean
}

export type UnitDraft = Omit<Unit, 'id'>

export interface UnitIndex {
  ofDevice(manufacturer: string, apiDeviceId: string): Unit | undefined
  /** Units that this receiver or charger reports as devices of their own, ordered by id. */
  reportedBy(receiverId: number): readonly Unit[]
}

/** Returns a unit for the transmitter that the channel receives. */
export function draftChannelUnit(receiver: Receiver, channel: Channel): UnitDraft {
  return {
    manufacturer: receiver.manufacturer,
    channel_id: channel.id,
    receiver_id: receiver.id,
    api_device_id: null,
    name: reportedName(channel),
    model: channel.transmitter?.details?.model ?? null,
    serial_number: null,
    upstream_slot: channel.transmitter?.upstream_slot ?? null,
    device_type: unitTypeOf(receiver.device_type),
    battery: null,
    details: null,
    is_online: true,
  }
}

export interface ReportedUnits {
  readonly drafts: readonly UnitDraft[]
  readonly changed: readonly Unit[]
}

/** True if the report describes a device unit, or contains units such as the packs docked in a charger. */
export function reportsUnits({ kind, units }: DeviceReport): boolean {
  return kind === 'transmitter' || units !== undefined
}

interface UnitReports {
  readonly manufacturer: string
  /** Reports for which `reportsUnits` is true. */
  readonly reports: readonly DeviceReport[]
  /** Devices that their system has not listed recently. */
  readonly missing: readonly string[]
  receiverOf(apiDeviceId: string): number | undefined
}

const none: ReportedUnits = { drafts: [], changed: [] }

/** Finds new, changed and missing device units. A unit that another device now reports has moved and is not missing. */
export function planReportedUnits(known: UnitIndex, input: UnitReports): ReportedUnits {
  const { manufacturer, reports, missing, receiverOf } = input
  if (reports.length === 0 && missing.length === 0) return none
  const drafts = new Map<string, UnitDraft>()
  const changed = new Map<string, Unit>()
  const addOrUpdate = (report: DeviceReport, receiver?: number) => {
    const unit = known.ofDevice(manufacturer, report.id)
    const fields = { ...reportedUnitFields(report, unit), ...(receiver !== undefined && { receiver_id: receiver }) }
    if (unit === undefined) drafts.set(report.id, { ...emptyUnit, manufacturer, api_device_id: report.id, ...fields })
    else update(unit, fields)
  }
  const update = (unit: Unit, fields: Partial<Unit>) => {
    const changes = changedFields<Unit>(unit, fields)
    if (Object.keys(changes).length > 0) changed.set(unit.api_device_id ?? '', { ...unit, ...changes })
  }
  for (const report of reports) {
    if (report.kind === 'transmitter') addOrUpdate(report)
    const receiver = receiverOf(report.id)
    // A device that is pending review or rejected is hidden, and so are its units.
    if (report.units === undefined || receiver === undefined) continue
    for (const unit of report.units) addOrUpdate(unit, receiver)
    const presentIds = new Set([...report.units.map(({ id }) => id), ...changed.keys()])
    const removed = known.reportedBy(receiver).filter(({ api_device_id }) => !presentIds.has(api_device_id ?? ''))
    for (const unit of removed) update(unit, { receiver_id: null, is_online: false })
  }
  for (const id of missing) {
    const unit = known.ofDevice(manufacturer, id)
    if (unit?.is_online && !reports.some((report) => report.id === id)) update(unit, { is_online: false })
  }
  return { drafts: [...drafts.values()], changed: [...changed.values()] }
}

const emptyUnit: Omit<UnitDraft, 'manufacturer' | 'api_device_id'> = {
  channel_id: null,
  receiver_id: null,
  name: null,
  model: null,
  serial_number: null,
  upstream_slot: null,
  device_type: 'mic_transmitter',
  battery: null,
  details: null,
  is_online: true,
}

/** The words of faults belong to the reported fault. */
function mergeUnitDetails(before: TransmitterDetails | undefined, reported: TransmitterDetails | undefined) {
  const isNewFault = before?.faults !== undefined && reported?.fault !== undefined && reported.faults === undefined
  if (!isNewFault) return mergeDetails(before, reported)
  const { faults: _, ...known } = before
  return mergeDetails(known, reported)
}

function reportedUnitFields(report: DeviceReport, before: Unit | undefined): Partial<Unit> {
  const reading = report.channels?.find(({ transmitter }) => transmitter?.battery !== undefined)
  const battery = reading?.transmitter?.battery ?? report.battery
  const details = mergeUnitDetails(before?.details ?? undefined, report.details)
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

/**
 * Equipment that was last online is `unknown` while its manufacturer's systems cannot be polled, because its state may
 * be outdated.
 */
function onlineState(isOnline: boolean, upstream: UpstreamStatus): OnlineState {
  if (!isOnline) return 'offline'
  return upstream === 'unhealthy' || upstream === 'disabled' || upstream === 'unconfigured' ? 'unknown' : 'online'
}

/** A receiver that scripts report does not depend on a system. */
function upstreamOf(receiver: Receiver | undefined, upstream: UpstreamStatus): UpstreamStatus {
  return isIngestedId(receiver?.api_device_id ?? null) ? 'healthy' : upstream
}

export function toChassisBody(
  receiver: Receiver,
  upstream: UpstreamStatus,
  locations: readonly Location[],
): ChassisBody {
  const { id, name, model, manufacturer, serial_number, mac_address, ip, firmware_version } = receiver
  const status = onlineState(receiver.is_active, upstreamOf(receiver, upstream))
  const location = toLocationReference(locations, receiver.location)
  return { id, name, model, manufacturer, serial_number, mac_address, ip, status, firmware_version, location }
}

/** `receiver` is the device that receives or holds the unit. */
export function toUnitBody(unit: Unit, receiver: Receiver | undefined, upstream: UpstreamStatus): UnitBody {
  const { id, device_type, model, manufacturer } = unit
  const channel = receiver?.channels.find(({ id }) => id === unit.channel_id)
  const transmitter = channel?.transmitter ?? null
  const isDeviceUnit = unit.api_device_id !== null
  const isHostOnline = receiver?.is_active ?? unit.receiver_id === null
  const isOnline = isHostOnline && (isDeviceUnit ? unit.is_online : transmitter !== null)
  const charging = transmitter === null ? channel?.details?.charging : null
  const docked: TransmitterDetails | undefined = charging ? { charging } : undefined
  const details = isDeviceUnit ? unit.details : (transmitter?.details ?? docked)
  return {
    id,
    name: (channel && transmitter && reportedName(channel)) ?? unit.name,
    device_type,
    model: isDeviceUnit ? (model ?? details?.model ?? null) : (details?.model ?? model),
    manufacturer,
    battery_percentage: isDeviceUnit ? unit.battery : (transmitter?.battery ?? null),
    base_chassis: unit.receiver_id,
    channel: channel?.channel ?? null,
    slot: channel?.slot ?? null,
    status: onlineState(isOnline, upstreamOf(receiver, upstream)),
    ...(details && { details }),
  }
}

export function listSiteUnits(receiver: Receiver, upstream: UpstreamStatus): SiteUnitBody[] {
  return receiver.channels
    .filter(({ transmitter }) => transmitter !== null)
    .map((channel) => {
      const unit = { ...draftChannelUnit(receiver, channel), id: 0 }
      return { ...toUnitBody(unit, receiver, upstream), id: null }
    })
}

/** Times are epoch milliseconds. */
export interface Assignment {
  readonly id: number
  readonly performer: number
  readonly wireless_unit: number
  readonly role: string | null
  readonly is_active: boolean
  readonly started_at: number
  readonly ended_at: number | null
}

export function setActive(assignment: Assignment, isActive: boolean, now: number): Assignment {
  if (isActive === assignment.is_active) return assignment
  return isActive
    ? { ...assignment, is_active: true, started_at: now, ended_at: null }
    : { ...assignment, is_active: false, ended_at: now }
}
