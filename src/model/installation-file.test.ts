import { expect, test } from 'vitest'
import type { Assignment, Unit } from './hardware.ts'
import { findRepeatedCode, type Installation, planSlots, toInstallationFile } from './installation-file.ts'
import { emptyChannel, type Receiver } from './receiver.ts'

/** Channels 11, 12 … at these positions. */
function receiverAt(...slots: number[]): Receiver {
  const channels = slots.map((slot, at) => emptyChannel(11 + at, at + 1, slot))
  return { id: 1, channels } as unknown as Receiver
}

test.each([
  ['nobody is spoken of', [1, 2], {}, {}],
  ['it stands there already', [1, 2], { 11: 1 }, {}],
  ['a free position', [1, 2], { 11: 9 }, { 11: 9 }],
  ['two change places', [1, 2], { 11: 2, 12: 1 }, { 11: 2, 12: 1 }],
  ['somebody makes room, and takes what is left', [1, 2, 3], { 11: 2 }, { 11: 2, 12: 1 }],
  ['room is not made where somebody else will stand', [1, 2, 3], { 11: 2, 13: 1 }, { 11: 2, 12: 3, 13: 1 }],
] as const)('%s', (_name, slots, wanted, moves) => {
  const planned = planSlots(
    [receiverAt(...slots)],
    new Map(Object.entries(wanted).map(([id, slot]) => [Number(id), slot])),
  )
  expect(Object.fromEntries(planned.map(({ id, slot }) => [id, slot]))).toEqual(moves)
})

test.each([
  [['shure', 'sennheiser'], null],
  [['a', 'b', 'b', 'a'], { key: '2.code', problem: 'expected every code once; b is there already' }],
])('of %j the first code that was there before is named', (codes, repeated) => {
  expect(findRepeatedCode(codes.map((code) => ({ code })))).toEqual(repeated)
})

test('a pack that somebody wears goes by its own id, though a charger holds it', () => {
  const held = { id: 4, manufacturer: 'sennheiser', channel_id: null, receiver_id: 1 }
  const pack: Unit = {
    ...{ ...held, api_device_id: 'ssc1:pack:105', name: 'EW-DX SK, bay 1', model: 'EW-DX SK', serial_number: '105' },
    ...{ device_type: 'mic_transmitter', battery: 64, details: null, is_online: true },
  }
  const worn: Assignment = { id: 1, performer: 2, wireless_unit: 4, is_active: true, started_at: 0, ended_at: null }
  const runtime: Installation = {
    ...{ manufacturers: [], settings: [], locations: [], groups: [] },
    performers: [{ id: 2, name: 'Ann', notes: '', picture: null }],
    receivers: [receiverAt()],
    units: [pack],
    assignments: [worn],
  }
  expect(toInstallationFile(runtime, { withSecrets: false }).assignments).toEqual([
    {
      ...{ performer: 'Ann', manufacturer: 'sennheiser', serial_number: '105', api_device_id: 'ssc1:pack:105' },
      since: '1970-01-01T00:00:00.000Z',
    },
  ])
})
