/** Converts entries of the review queue, movements and discovered devices to bodies of the interface. */

import type {
  DiscoveredDevice,
  ExistingDevice,
  MovementBody,
  PendingBody,
  QueueEntryBody,
  ScanBody,
} from '../../contract/discovery.ts'
import type { Location } from '../../contract/locations.ts'
import { type KnownReceivers, reconcile } from '../identity/reconcile.ts'
import { toTimestamp } from '../timestamp.ts'
import type { DiscoveredRecord, MovementDetails, QueueEntry, ReviewedEntry } from './discovery.ts'
import { toLocationReference } from './location.ts'
import type { Receiver } from './receiver.ts'

type ScannedDevice = ScanBody['devices'][number]

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

/** Omits devices that match a known receiver or were excluded by an administrator. */
export function toDiscoveredDevices(records: readonly DiscoveredRecord[], known: KnownReceivers): DiscoveredDevice[] {
  const unknownDevices = records.filter(({ manufacturer, api_device_id: id, serial_number, mac_address, ip }) => {
    const outcome = reconcile(known, manufacturer, { id, kind: 'receiver', serial_number, mac_address, ip })
    return outcome.kind === 'new' || outcome.kind === 'conflict'
  })
  return unknownDevices.map((device) => ({
    ...toScannedDevice(device),
    id: device.id,
    manufacturer: device.manufacturer,
    discovered_at: toTimestamp(device.discovered_at),
  }))
}

export function toScannedDevice(
  device: Pick<DiscoveredRecord, 'ip' | 'device_type' | 'channels' | 'manufacturer' | 'model' | 'address'>,
): Omit<ScannedDevice, 'heard_on'> {
  const { ip, device_type, channels, manufacturer, model, address } = device
  return {
    ...{ ip, device_type, channels },
    ...(model !== null && { model }),
    ...(address !== null && { manufacturer, address }),
  }
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
