import { expect, test } from 'vitest'
import { buildGroup } from '../../../test/support/builders.ts'
import type { Assignment, Unit } from '../../domain/equipment/hardware.ts'
import { emptyChannel, type Receiver } from '../../domain/equipment/receiver.ts'
import type { Installation } from './export-installation.ts'
import { toInstallationFile } from './installation-file.ts'

/** Creates a receiver with the channels 11, 12 … in these slots. */
function receiverWithSlots(...slots: number[]): Receiver {
  const channels = slots.map((slot, index) => emptyChannel(11 + index, index + 1, slot))
  return { id: 1, channels } as unknown as Receiver
}

test('toInstallationFile identifies a docked pack by its own id', () => {
  const ids = { id: 4, manufacturer: 'sennheiser', channel_id: null, receiver_id: 1 }
  const pack: Unit = {
    ...{ ...ids, api_device_id: 'ssc1:pack:105', name: 'EW-DX SK, bay 1', model: 'EW-DX SK', serial_number: '105' },
    ...{ upstream_slot: null, device_type: 'mic_transmitter', battery: 64, details: null, is_online: true },
  }
  const assignment: Assignment = {
    id: 1,
    performer: 2,
    wireless_unit: 4,
    is_active: true,
    role: 'Elphaba',
    started_at: 0,
    ended_at: null,
  }
  const installation: Installation = {
    ...{ manufacturers: [], settings: [], locations: [], groups: [] },
    performers: [{ id: 2, name: 'Ann', notes: '', picture: null, version: 1 }],
    receivers: [receiverWithSlots()],
    units: [pack],
    assignments: [assignment],
    frequency_profiles: [],
    frequency_plans: [],
    placeholders: [],
    slots: [],
    shows: [],
    scenes: [],
    checks: [],
    silences: [],
    markers: [],
    notification_channels: [],
    notification_rules: [],
    planning_center: { token: null, service_types: [] },
  }
  expect(toInstallationFile(installation, { withSecrets: false }).assignments).toEqual([
    {
      ...{ performer: 'Ann', manufacturer: 'sennheiser', serial_number: '105', api_device_id: 'ssc1:pack:105' },
      role: 'Elphaba',
      since: '1970-01-01T00:00:00.000Z',
    },
  ])
})

// Conformance: C-11.14.
test('toInstallationFile leaves out a silence of which all channels or groups were removed', () => {
  const none = { channels: [], groups: [], kinds: [], until: 1000, reason: '', by: 'ann', created_at: 0, version: 1 }
  const installation: Installation = {
    ...{ manufacturers: [], settings: [], locations: [], performers: [], receivers: [], units: [], assignments: [] },
    ...{
      frequency_profiles: [],
      frequency_plans: [],
      placeholders: [],
      slots: [],
      shows: [],
      scenes: [],
      markers: [],
      checks: [],
    },
    notification_channels: [],
    notification_rules: [],
    planning_center: { token: null, service_types: [] },
    groups: [buildGroup(3, { title: 'Band' })],
    silences: [
      { ...none, id: 1, channels: [4711], kinds: ['stale'] },
      { ...none, id: 2, groups: [4711], kinds: ['stale'] },
      { ...none, id: 3, groups: [3, 4711] },
    ],
  }
  expect(toInstallationFile(installation, { withSecrets: false }).silences).toEqual([
    { groups: ['Band'], until: '1970-01-01T00:00:01.000Z', by: 'ann', since: '1970-01-01T00:00:00.000Z' },
  ])
})
