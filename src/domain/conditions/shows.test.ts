import { expect, test } from 'vitest'
import { listShowsOfSlot } from '../shows.ts'

const groups = [
  { id: 1, slots: [1, 2] },
  { id: 2, slots: [2, 3] },
]

test.each([
  [1, [{ id: 7, group_ids: [1] }], [7]],
  [3, [{ id: 7, group_ids: [1] }], []],
  [3, [{ id: 7, group_ids: [1, 2] }], [7]],
  [9, [{ id: 7, group_ids: [] }], [7]],
  [
    2,
    [
      { id: 7, group_ids: [1] },
      { id: 8, group_ids: [2] },
    ],
    [7, 8],
  ],
  [1, [{ id: 7, group_ids: [99] }], []],
  [1, [], []],
])('slot %i of the shows %j belongs to %j', (slot, shows, expected) => {
  expect(listShowsOfSlot(slot, shows, groups)).toEqual(expected)
})
