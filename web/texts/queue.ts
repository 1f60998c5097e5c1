/** The discovery queue. */

import type { ConflictType, QueueStatus } from '../../src/model/discovery.ts'

const statuses: Record<QueueStatus, string> = {
  pending: 'Pending',
  approved: 'Approved',
  rejected: 'Rejected',
  imported: 'Imported',
  duplicate: 'Duplicate',
}

const conflicts: Record<ConflictType, { readonly title: string; readonly says: (known: string) => string }> = {
  ip_conflict: {
    title: 'Address taken',
    says: (known) => `It was found at the address of ${known}, and is another device.`,
  },
  ip_changed: {
    title: 'Address changed',
    says: (known) => `It looks like ${known} at another address, and nothing proves that it is.`,
  },
  hardware_changed: {
    title: 'Hardware replaced',
    says: (known) => `It answers under the id of ${known} with another serial number or MAC address.`,
  },
  manufacturer_mismatch: {
    title: 'Known elsewhere',
    says: (known) => `Its serial number or MAC address belongs to ${known}, which is of another manufacturer.`,
  },
}

const devices = (count: number) => (count === 1 ? '1 device' : `${count} devices`)

export const queueTexts = {
  title: 'Discovery queue',
  intro:
    'Devices that conflict with what is known wait here, oldest first. None of them becomes a receiver before an ' +
    'administrator says so.',
  list: 'Entries of the queue',
  statuses,
  conflicts,
  filters: {
    status: 'Status',
    deviceType: 'Device type',
    isDuplicate: 'Duplicate',
    isIpConflict: 'Address conflict',
    after: 'Found from',
    before: 'Found before',
    receiver: 'Receiver',
    transmitter: 'Transmitter',
  },
  waiting: (count: number) => (count === 1 ? '1 device waits' : `${count} devices wait`),
  none: 'Nothing waits for a decision',
  noneNext:
    'A device that conflicts with a known receiver appears here by itself, as soon as a poll or a scan has found it.',
  noMatch: 'No entry fits',
  entry: (id: number) => `#${id}`,
  name: (id: number, device: string) => `entry ${id}, ${device}`,
  unnamed: 'Device without a name',
  someReceiver: 'a receiver that is gone by now',
  found: 'Found',
  foundSince: 'found',
  foundDevice: 'Found device',
  knownDevice: 'Known receiver',
  becameDevice: 'Receiver it became',
  differs: 'differs',
  comparison: (id: number) => `Entry ${id} beside the receiver it conflicts with`,
  fields: {
    name: 'Name',
    manufacturer: 'Manufacturer',
    serial_number: 'Serial number',
    mac_address: 'MAC address',
    ip: 'IP address',
    model: 'Model',
    api_device_id: 'Id in its system',
    location: 'Location',
    last_seen: 'Last seen',
  },
  metadata: 'Everything its system said',
  reviewed: (name: string) => `Decided by ${name}`,
  actions: {
    approve: {
      text: 'Approve',
      question: (count: number) => `Approve ${devices(count)}?`,
      follows:
        'They become receivers at once, with their channels on the next free positions. This cannot be undone here.',
    },
    reject: {
      text: 'Reject',
      question: (count: number) => `Reject ${devices(count)}?`,
      follows: 'They stay out, however often they are found, until somebody reopens them.',
    },
    duplicate: {
      text: 'Mark as duplicate',
      question: (count: number) => `Mark ${devices(count)} as duplicate?`,
      follows: 'They count as devices that are known, and stay out until somebody reopens them.',
    },
    reopen: {
      text: 'Reopen',
      question: (count: number) => `Reopen ${devices(count)}?`,
      follows: 'They wait for a decision again.',
    },
  },
} as const
