import { expect, test } from 'vitest'
import type { Assignment, Unit } from './equipment/hardware.ts'
import { emptyChannel, type Receiver } from './equipment/receiver.ts'
import { listSlotHolders, type SlotHolder } from './equipment/slots.ts'
import { findRepeatedCode, type Installation, planSlots, toInstallationFile } from './installation-file.ts'

/** Creates a receiver with the channels 11, 12 … in these slots. */
function receiverWithSlots(...slots: number[]): Receiver {
  const channels = slots.map((slot, index) => emptyChannel(11 + index, index + 1, slot))
  return { id: 1, channels } as unknown as Receiver
}

test.each([
  ['nothing for no request', [1, 2], {}, {}],
  ['nothing if the channel is already there', [1, 2], { 11: 1 }, {}],
  ['a move to a free slot', [1, 2], { 11: 9 }, { 11: 9 }],
  ['a swap of two slots', [1, 2], { 11: 2, 12: 1 }, { 11: 2, 12: 1 }],
  ['a move of another channel to the slot that becomes free', [1, 2, 3], { 11: 2 }, { 11: 2, 12: 1 }],
  ['a move of another channel to a slot that is not requested', [1, 2, 3], { 11: 2, 13: 1 }, { 11: 2, 12: 3, 13: 1 }],
] as const)('planSlots plans %s', (_name, slots, requested, moves) => {
  expect(planned(listSlotHolders([receiverWithSlots(...slots)], []), requested)).toEqual(moves)
})

test('planSlots moves placeholders away from requested slots, and channels away from slots of placeholders', () => {
  const holders = listSlotHolders(
    [receiverWithSlots(1, 2)],
    [
      { id: 21, slot: 4 },
      { id: 22, slot: 5 },
    ],
  )
  expect(planned(holders, { 11: 4 }, [2, 5])).toEqual({ 11: 4, 12: 1, 21: 3 })
})

function planned(holders: readonly SlotHolder[], requested: object, placeholderSlots: readonly number[] = []) {
  const slots = new Map(Object.entries(requested).map(([id, slot]) => [Number(id), slot]))
  const moves = planSlots(holders, slots, new Set(placeholderSlots))
  return Object.fromEntries(moves.map(({ holder, slot }) => [holder.id, slot]))
}

test.each([
  [['shure', 'sennheiser'], null],
  [['a', 'b', 'b', 'a'], { key: '2.code', problem: 'expected every code once; b is repeated' }],
])('findRepeatedCode in %j returns the first repeated code', (codes, repeated) => {
  expect(findRepeatedCode(codes.map((code) => ({ code })))).toEqual(repeated)
})

test('toInstallationFile identifies a docked pack by its own id', () => {
  const ids = { id: 4, manufacturer: 'sennheiser', channel_id: null, receiver_id: 1 }
  const pack: Unit = {
    ...{ ...ids, api_device_id: 'ssc1:pack:105', name: 'EW-DX SK, bay 1', model: 'EW-DX SK', serial_number: '105' },
    ...{ device_type: 'mic_transmitter', battery: 64, details: null, is_online: true },
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
    performers: [{ id: 2, name: 'Ann', notes: '', picture: null }],
    receivers: [receiverWithSlots()],
    units: [pack],
    assignments: [assignment],
    placeholders: [],
    shows: [],
    silences: [],
    markers: [],
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
  const none = { channels: [], groups: [], kinds: [], until: 1000, reason: '', by: 'ann', created_at: 0 }
  const installation: Installation = {
    ...{ manufacturers: [], settings: [], locations: [], performers: [], receivers: [], units: [], assignments: [] },
    ...{ placeholders: [], shows: [], markers: [] },
    groups: [{ id: 3, title: 'Band', slots: [], hide_charts: false, manufacturer: null }],
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
