/**
 * REST bodies of the review queue, the movement log and network scans. Field names follow the interface specification
 * (see docs/conformance.md).
 */

import { type DiscoveredDevice, toTimestamp } from './api.ts'
import type { DiscoveredRecord, MovementDetails, QueueEntry, ReviewedEntry } from './equipment/discovery.ts'
import type { SourceError } from './equipment/health.ts'
import { type Location, type LocationReference, toLocationReference } from './equipment/location.ts'
import type { Receiver } from './equipment/receiver.ts'
import { type Failure, RequestError } from './errors.ts'
import { type KnownReceivers, reconcile } from './identity/reconcile.ts'

/** Model and address are only present for a device that can be monitored individually and is not monitored yet. */
export type ScannedDevice = Pick<DiscoveredDevice, 'ip' | 'device_type' | 'channels' | 'model' | 'address'>

/** `POST /api/discover/`. */
export interface ScanBody {
  readonly discovered: number
  readonly devices: readonly ScannedDevice[]
  readonly errors?: readonly SourceError[]
}

/** An item of `GET /api/discovery/pending/`. */
export interface PendingBody
  extends Pick<QueueEntry, 'id' | 'manufacturer' | 'status' | 'conflict_type' | 'is_duplicate' | 'is_ip_conflict'> {
  readonly serial_number: string | null
  readonly ip: string | null
  readonly device_type: string
  readonly existing_device: number | null
  readonly discovered_at: string
}

/** The result of a review of several entries. */
export interface ReviewBody {
  readonly message: string
  readonly updated: number
  readonly failed: readonly Failure[]
}

/** Throws a `RequestError` if all of the requested ids failed. */
export function throwIfAllFailed(requested: readonly number[], failed: readonly Failure[]): void {
  if (failed.length === requested.length) throw new RequestError('none_changed', { details: failed[0]?.error, failed })
}

/** The existing receiver with which a queue entry is in conflict, for comparison. */
export interface ExistingDevice
  extends Pick<
    Receiver,
    'id' | 'name' | 'manufacturer' | 'api_device_id' | 'device_type' | 'model' | 'serial_number' | 'mac_address' | 'ip'
  > {
  readonly is_active: boolean
  readonly last_seen: string
  readonly location: LocationReference | null
}

/** An item of `GET /api/admin/discovery-queue/`: the entry, and the receiver with which it is in conflict. */
export interface QueueEntryBody
  extends Omit<ReviewedEntry, 'identity_key' | 'discovered_at' | 'reviewed_at' | 'metadata'> {
  readonly discovered_at: string
  readonly reviewed_at: string | null
  readonly metadata: unknown
  readonly existing: ExistingDevice | null
}

/** An item of the movement lists. */
export interface MovementBody
  extends Pick<MovementDetails, 'id' | 'manufacturer' | 'movement_type' | 'detected_by' | 'reason' | 'times_seen'> {
  readonly device: { readonly id: number; readonly name: string; readonly serial_number: string | null }
  readonly old_ip: string | null
  readonly new_ip: string | null
  readonly old_location: LocationReference | null
  readonly new_location: LocationReference | null
  readonly detected_at: string
  readonly acknowledged: boolean
  readonly acknowledged_by: string | null
}

export function toPendingBody(entry: QueueEntry): PendingBody {
  const { id, manufacturer, status, conflict_type, is_duplicate, is_ip_conflict, device_type, existing_device } = entry
  return {
    id,
    manufacturer,
    serial_number: entry.serial_number,
    ip: entry.ip,
    status,
    conflict_type,
    is_duplicate,
    is_ip_conflict,
    device_type,
    existing_device,
    discovered_at: toTimestamp(entry.discovered_at),
  }
}

export function toQueueEntryBody(
  entry: ReviewedEntry,
  existing: Receiver | undefined,
  locations: readonly Location[],
): QueueEntryBody {
  const { identity_key: _, discovered_at, reviewed_at, ...fields } = entry
  return {
    ...fields,
    discovered_at: toTimestamp(discovered_at),
    reviewed_at: reviewed_at === null ? null : toTimestamp(reviewed_at),
    existing: existing === undefined ? null : toExistingDevice(existing, locations),
  }
}

export function toMovementBody(movement: MovementDetails): MovementBody {
  const { id, manufacturer, receiver, movement_type, detected_by, reason, times_seen, acknowledged } = movement
  const { old_location, new_location, acknowledged_by } = movement
  return {
    id,
    manufacturer,
    device: receiver,
    old_ip: movement.old_ip,
    new_ip: movement.new_ip,
    old_location,
    new_location,
    movement_type,
    detected_at: toTimestamp(movement.detected_at),
    detected_by,
    reason,
    times_seen,
    acknowledged,
    acknowledged_by,
  }
}

/** Converts discovered devices, except those that match a known receiver or were excluded by an administrator. */
export function toDiscoveredDevices(records: readonly DiscoveredRecord[], known: KnownReceivers): DiscoveredDevice[] {
  const unknownDevices = records.filter(({ manufacturer, api_device_id: id, serial_number, mac_address, ip }) => {
    const outcome = reconcile(known, manufacturer, { id, kind: 'receiver', serial_number, mac_address, ip })
    return outcome.kind === 'new' || outcome.kind === 'conflict'
  })
  return unknownDevices.map(({ id, manufacturer, discovered_at, ...device }) => ({
    id,
    manufacturer,
    ...toScannedDevice(device),
    discovered_at: toTimestamp(discovered_at),
  }))
}

export function toScannedDevice(
  device: Pick<DiscoveredRecord, 'ip' | 'device_type' | 'channels' | 'model' | 'address'>,
): ScannedDevice {
  const { ip, device_type, channels, model, address } = device
  return { ip, device_type, channels, ...(model !== null && { model }), ...(address !== null && { address }) }
}

function toExistingDevice(receiver: Receiver, locations: readonly Location[]): ExistingDevice {
  const { id, name, manufacturer, api_device_id, device_type, model, serial_number, mac_address, ip } = receiver
  return {
    id,
    name,
    manufacturer,
    api_device_id,
    device_type,
    model,
    serial_number,
    mac_address,
    ip,
    is_active: receiver.is_active,
    last_seen: toTimestamp(receiver.last_seen),
    location: toLocationReference(locations, receiver.location),
  }
}
