/** Complete records for tests. Each builder sets plain values; a test states the fields that matter to it. */

import type { AlertBody } from '../../src/contract/alerts.ts'
import type { Group } from '../../src/contract/groups.ts'
import type { SlotRecord } from '../../src/contract/slots.ts'
import { noData, noResponse } from '../../src/domain/alerts/alert.ts'
import type { QueueEntry } from '../../src/domain/equipment/discovery.ts'
import type { Receiver } from '../../src/domain/equipment/receiver.ts'
import { emptyFields } from '../../src/domain/equipment/slot-entry.ts'

/** Builds an online receiver without channels. */
export function buildReceiver(id: number, fields: Partial<Receiver> = {}): Receiver {
  return {
    id,
    manufacturer: 'shure',
    api_device_id: `api-${id}`,
    name: 'Rack',
    device_type: 'ulxd',
    model: null,
    serial_number: null,
    mac_address: null,
    ip: null,
    subnet_mask: null,
    gateway: null,
    network_mode: null,
    interface_id: null,
    description: null,
    firmware_version: null,
    hosted_firmware_version: null,
    is_active: true,
    last_seen: 0,
    location: null,
    is_named_by_hand: false,
    channels: [],
    ...fields,
  }
}

/** Builds a pending entry of the review queue: device S9 has the IP address of receiver 1. */
export function buildQueueEntry(fields: Partial<QueueEntry> = {}): QueueEntry {
  return {
    id: 1,
    manufacturer: 'shure',
    identity_key: 'serial:s9',
    api_device_id: 'api-9',
    serial_number: 'S9',
    mac_address: null,
    ip: '10.0.0.1',
    device_type: 'receiver',
    status: 'pending',
    conflict_type: 'ip_conflict',
    is_duplicate: false,
    is_ip_conflict: true,
    existing_device: 1,
    discovered_at: 0,
    metadata: null,
    ...fields,
  }
}

/** Builds an open alert about a low battery, without a response. */
export function buildAlert(fields: Partial<AlertBody> = {}): AlertBody {
  return {
    id: 4,
    manufacturer: 'shure',
    kind: 'battery_low',
    state: 'raised',
    severity: 'warning',
    message: 'Battery low',
    channel_id: 1,
    receiver_id: 1,
    raised_at: '2026-11-20T19:00:00.000Z',
    cleared_at: null,
    ...noResponse,
    silenced: false,
    site: null,
    data: noData,
    ...fields,
  }
}

/** Builds the record of a slot that holds the channel with the number of the slot. */
export function buildSlotRecord(slot: number, fields: Partial<SlotRecord> = {}): SlotRecord {
  return {
    ...{ slot, title: null, title_from: null, kind: 'wireless', ...emptyFields, spares: [], performer: null },
    ...{ channel_id: slot, placeholder_id: null, unit_id: null, version: 0 },
    ...fields,
  }
}

/** Builds a group without slots. */
export function buildGroup(id: number, fields: Partial<Group> = {}): Group {
  return { id, title: '', slots: [], hide_charts: false, zone: null, manufacturer: null, version: 1, ...fields }
}
