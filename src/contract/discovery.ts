/** Network scans, the review queue and movements. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { sourceErrors } from './health.ts'
import { LocationReference, location } from './locations.ts'
import { summaryFields } from './receivers.ts'
import {
  type Body,
  body,
  boundedText,
  countedOf,
  dayOrTime,
  flag,
  Ids,
  id,
  ip,
  listOf,
  localList,
  manufacturer,
  manufacturerFilter,
  named,
  oneOf,
  orNull,
  pagedOf,
  query,
  Review,
  Scope,
  ScopedList,
  sameValue,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { conflictTypes, deviceTypes, queueStatuses } from './values.ts'

const foundDeviceFields = {
  model: Type.Optional(text('Model; only present for devices that can be monitored individually.')),
  address: Type.Optional(
    text('Address to enter under `devices` in the configuration or, for a `system`, as `api_base_url`.'),
  ),
}

export const DiscoveredDevice = named(
  'DiscoveredDevice',
  'A device that a scan found and that is not a receiver yet.',
  {
    id,
    ip: text('IPv4 address.'),
    device_type: text('Model family.'),
    channels: whole('Number of channels.'),
    manufacturer,
    discovered_at: time('When it was first found.'),
    ...foundDeviceFields,
  },
)
export type DiscoveredDevice = Body<typeof DiscoveredDevice>

export const Scan = named('Scan', 'Result of a scan.', {
  discovered: whole('Number of devices.'),
  devices: listOf(
    Type.Object({
      ip: text('IPv4 address.'),
      device_type: text('Model family.'),
      channels: whole('Number of channels.'),
      manufacturer: Type.Optional(text('Code of the manufacturer; present if `address` is.')),
      ...foundDeviceFields,
      heard_on: Type.Optional(
        listOf(
          text('Such as `eth0`.'),
          'The interfaces of this machine on which its answers arrived; present if `address` is.',
        ),
      ),
    }),
    'Devices inside the subnet.',
  ),
  errors: sourceErrors,
})
export type ScanBody = Body<typeof Scan>

const ScanNetworks = Type.Array(text('CIDR form.'), {
  description: 'Networks of this machine that a scan accepts.',
})

const queueFields = {
  id,
  manufacturer,
  status: oneOf(queueStatuses, 'Review status.'),
  conflict_type: oneOf(conflictTypes, 'Why a review is needed.'),
  is_duplicate: flag('True if it appears to be a known device.'),
  is_ip_conflict: flag('True if its IP address belongs to another receiver.'),
  existing_device: wholeOrNull('Id of the receiver with which the device conflicts or as which it was imported.'),
  discovered_at: time('When it was discovered.'),
}

export const Pending = named('PendingDevice', 'A device that is waiting for review.', {
  ...queueFields,
  serial_number: textOrNull('Serial number.'),
  ip,
  device_type: text('`receiver` or `transmitter`.'),
})
export type PendingBody = Body<typeof Pending>

const ExistingDevice = named('ExistingDevice', 'The receiver with which an entry conflicts.', {
  ...summaryFields,
  api_device_id: textOrNull("The device's id in the manufacturer's system."),
  model: textOrNull("The manufacturer's model."),
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  ip,
  location,
})
export type ExistingDevice = Body<typeof ExistingDevice>

export const QueueEntry = named('QueueEntry', 'An entry of the review queue.', {
  ...queueFields,
  name: textOrNull('As shown on the device.'),
  model: textOrNull("The manufacturer's model."),
  api_device_id: text("The device's id in the manufacturer's system."),
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  ip,
  device_type: oneOf(deviceTypes, 'Type of the device.'),
  reviewed_by: textOrNull('Name of the reviewer.'),
  reviewed_at: timeOrNull('When it was reviewed.'),
  metadata: Type.Unknown({ description: "Device data from the manufacturer's system." }),
  existing: orNull(ExistingDevice, 'The receiver with which the device conflicts, for comparison.'),
})
export type QueueEntryBody = Body<typeof QueueEntry>

export const Movement = named('Movement', "A change of a receiver's IP address or location.", {
  id,
  manufacturer,
  device: Type.Object(
    { id, name: text('As shown on the device.'), serial_number: textOrNull('Serial number.') },
    { description: 'The receiver.' },
  ),
  old_ip: ip,
  new_ip: ip,
  old_location: orNull(LocationReference, 'Previous location.'),
  new_location: orNull(LocationReference, 'New location.'),
  movement_type: oneOf(['ip_only', 'location_only', 'ip_and_location'], 'What changed.'),
  detected_at: time('When it was noticed.'),
  detected_by: oneOf(['sync', 'manual'], '`sync`: detected by a poll; `manual`: entered by a user.'),
  reason: text('Reason, if one was given.'),
  times_seen: whole('How often the movement was detected before it was acknowledged.'),
  acknowledged: flag('Whether it has been acknowledged.'),
  acknowledged_by: textOrNull('Name of the user who acknowledged it.'),
})
export type MovementBody = Body<typeof Movement>

const ScanRequest = body({ scan_subnet: boundedText(1, 64) })

export const QueueQuery = query({
  status: oneOf(queueStatuses, sameValue),
  device_type: oneOf(deviceTypes, sameValue),
  is_duplicate: flag(sameValue),
  is_ip_conflict: flag(sameValue),
  discovered_after: dayOrTime('Discovered at or after this time'),
  discovered_before: dayOrTime('Discovered before this time'),
  manufacturer: manufacturerFilter,
  ...localList,
})

const MovementQuery = query({
  acknowledged: flag(sameValue),
  manufacturer: manufacturerFilter,
  ...localList,
})

const review = { body: Ids, response: { 200: Review, 409: ErrorResponse } }

export const discoveryOperations = operationsOf({
  scanNetwork: endpoint('POST', '/api/discover/', {
    ...about('Discovery', 'Scans a subnet for devices.'),
    querystring: Scope,
    body: ScanRequest,
    response: { 200: Scan, 404: ErrorResponse, 409: ErrorResponse },
  }),

  listScanNetworks: endpoint('GET', '/api/discover/networks/', {
    ...about('Discovery', 'The networks of the machine that runs Micwatch.'),
    response: { 200: ScanNetworks },
  }),

  listPendingDevices: endpoint('GET', '/api/discovery/pending/', {
    ...about('Discovery', 'Devices that are waiting for review.'),
    querystring: ScopedList,
    response: { 200: countedOf(Pending) },
  }),

  listUnacknowledgedMovements: endpoint('GET', '/api/movements/unacknowledged/', {
    ...about('Discovery', 'Unacknowledged movements.'),
    querystring: ScopedList,
    response: { 200: countedOf(Movement) },
  }),

  listQueueEntries: endpoint('GET', '/api/admin/discovery-queue/', {
    ...about('Review', 'The review queue; each entry contains the receiver with which it conflicts.'),
    querystring: QueueQuery,
    response: { 200: pagedOf(QueueEntry) },
  }),

  listMovements: endpoint('GET', '/api/admin/movements/', {
    ...about('Review', 'The movement log.'),
    querystring: MovementQuery,
    response: { 200: pagedOf(Movement) },
  }),

  acknowledgeMovements: endpoint('POST', '/api/admin/movements/acknowledge', {
    ...about('Review', 'Acknowledges movements.'),
    body: Ids,
    response: { 200: Review, 409: ErrorResponse },
  }),

  approveQueueEntries: endpoint('POST', '/api/admin/discovery-queue/approve', {
    ...about('Review', 'Approves entries and imports them as receivers.'),
    ...review,
  }),

  rejectQueueEntries: endpoint('POST', '/api/admin/discovery-queue/reject', {
    ...about('Review', 'Rejects entries: they are kept, but not imported automatically.'),
    ...review,
  }),

  markQueueEntriesDuplicate: endpoint('POST', '/api/admin/discovery-queue/mark-duplicate', {
    ...about('Review', 'Marks entries as duplicates of known devices.'),
    ...review,
  }),

  reopenQueueEntries: endpoint('POST', '/api/admin/discovery-queue/reopen', {
    ...about('Review', 'Returns rejected and duplicate entries to the review queue.'),
    ...review,
  }),
})
