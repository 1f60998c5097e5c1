import { expect, test } from 'vitest'
import type { Assignment, Unit } from './equipment/hardware.ts'
import { emptyChannel, type Receiver } from './equipment/receiver.ts'
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
  const planned = planSlots(
    [receiverWithSlots(...slots)],
    new Map(Object.entries(requested).map(([id, slot]) => [Number(id), slot])),
  )
  expect(Object.fromEntries(planned.map(({ id, slot }) => [id, slot]))).toEqual(moves)
})

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
    started_at: 0,
    ended_at: null,
  }
  const installation: Installation = {
    ...{ manufacturers: [], settings: [], locations: [], groups: [] },
    performers: [{ id: 2, name: 'Ann', notes: '', picture: null }],
    receivers: [receiverWithSlots()],
    units: [pack],
    assignments: [assignment],
  }
  expect(toInstallationFile(installation, { withSecrets: false }).assignments).toEqual([
    {
      ...{ performer: 'Ann', manufacturer: 'sennheiser', serial_number: '105', api_device_id: 'ssc1:pack:105' },
      since: '1970-01-01T00:00:00.000Z',
    },
  ])
})
