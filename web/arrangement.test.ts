import { describe, expect, it } from 'vitest'
import type { Group } from '../src/contract/resources/groups.ts'
import { type Edit, planDrop, positionsToShow, type Scene, undoOf } from './arrangement.ts'
import type { ChannelFacts } from './channel-state.ts'

const cards = [1, 2, 5].map((slot) => ({ slot, channelId: slot + 100 })) as unknown as readonly ChannelFacts[]
const band: Group = { id: 7, title: 'Band', slots: [1, 2, 5], hide_charts: false, manufacturer: null }
const scene = (shown: Group | null): Scene => ({ cards, groups: [band], shown })

function order(slot: number, target: Parameters<typeof planDrop>[2], group = band): readonly number[] | null {
  const edit = planDrop(scene(group), slot, target)
  return edit?.type === 'change_group' ? edit.after.slots : null
}

describe('all slots', () => {
  it('moves a channel to a free slot', () => {
    expect(planDrop(scene(null), 1, { kind: 'place', slot: 3 })).toEqual({
      ...{ type: 'move', channelId: 101, from: 1, to: 3 },
    })
  })

  it('swaps with the channel of a used slot', () => {
    const swap = planDrop(scene(null), 1, { kind: 'place', slot: 5 })
    expect(swap).toEqual({ type: 'swap', a: { channelId: 101, slot: 1 }, b: { channelId: 105, slot: 5 } })
  })

  it('returns null for an empty slot or an unchanged position', () => {
    expect(planDrop(scene(null), 9, { kind: 'place', slot: 1 })).toBe(null)
    expect(planDrop(scene(null), 1, { kind: 'place', slot: 1 })).toBe(null)
    expect(planDrop(scene(null), 1, { kind: 'end' })).toBe(null)
  })
})

describe('a group', () => {
  it('moves a slot forwards, backwards and to the end', () => {
    expect(order(5, { kind: 'place', slot: 1 })).toEqual([5, 1, 2])
    expect(order(1, { kind: 'place', slot: 5 })).toEqual([2, 5, 1])
    expect(order(1, { kind: 'end' })).toEqual([2, 5, 1])
  })

  it('adds a slot from outside', () => {
    expect(order(9, { kind: 'place', slot: 2 })).toEqual([1, 9, 2, 5])
    expect(order(9, { kind: 'end' })).toEqual([1, 2, 5, 9])
    expect(planDrop(scene(null), 9, { kind: 'group', id: 7 })).toMatchObject({ after: { slots: [1, 2, 5, 9] } })
  })

  it('returns null when nothing changes', () => {
    expect(order(5, { kind: 'end' })).toBe(null)
    expect(planDrop(scene(null), 5, { kind: 'group', id: 7 })).toBe(null)
    expect(planDrop(scene(null), 5, { kind: 'group', id: 8 })).toBe(null)
  })
})

it('undoes every edit, and redoes it by undoing the undo', () => {
  const edits: Edit[] = [
    { type: 'move', channelId: 1, from: 2, to: 3 },
    { type: 'swap', a: { channelId: 1, slot: 2 }, b: { channelId: 3, slot: 4 } },
    { type: 'change_group', before: band, after: { ...band, title: 'Choir' } },
    { type: 'create_group', group: band },
    { type: 'delete_group', group: band },
  ]
  for (const edit of edits) expect(undoOf(undoOf(edit))).toEqual(edit)
  expect(undoOf(edits[1] as Edit)).toEqual({
    ...{ type: 'swap', a: { channelId: 1, slot: 4 }, b: { channelId: 3, slot: 2 } },
  })
})

it('lists the free slots between used ones and two after them, and shortens long runs', () => {
  expect(positionsToShow(cards)).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(positionsToShow([{ slot: 100 }])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 100, 101, 102])
})
