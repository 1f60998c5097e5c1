/** The review queue, movements, and the results of reviewing them. */

import Type from 'typebox'
import {
  type Body,
  flag,
  listOf,
  named,
  oneOf,
  orNull,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from '../described.ts'
import { conflictTypes, deviceTypes, queueStatuses } from '../values.ts'
import { id, ip, manufacturer } from './common.ts'
import { LocationReference, location } from './locations.ts'
import { summaryFields } from './receivers.ts'

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

export const Review = named('Review', 'Result of an action on several records.', {
  message: text('Message for users.'),
  updated: whole('Number of changed records.'),
  failed: listOf(Type.Object({ id, error: text('Why it was not changed.') }), 'Records that were not changed.'),
})
export type ReviewBody = Body<typeof Review>
