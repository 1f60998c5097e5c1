import { expect, test } from 'vitest'
import { planSlots } from './house-file.ts'
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
