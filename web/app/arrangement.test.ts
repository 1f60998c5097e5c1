import { describe, expect, it } from 'vitest'
import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import type { SlotHolder } from '../../src/domain/equipment/slots.ts'
import { buildGroup } from '../../test/support/builders.ts'
import {
  type Arrangement,
  type Edit,
  firstFreeSlot,
  formatTarget,
  hasConflict,
  isAnnounced,
  parseTarget,
  placeholderFor,
  planDrop,
  positionsToShow,
  slotOf,
  type Target,
  thingIn,
  undoOf,
} from './arrangement.ts'

const channel = (slot: number): SlotHolder => ({ kind: 'channel', id: slot + 100, slot })
const holders: readonly SlotHolder[] = [channel(1), channel(2), { kind: 'placeholder', id: 9, slot: 3 }, channel(5)]
const band = buildGroup(7, { title: 'Band', slots: [1, 2, 5] })
const wired: PlaceholderBody = { id: 9, slot: 3, name: 'Keys', kind: 'wired', frequency: null, note: '', version: 1 }
const arrangement = (shown: Group | null): Arrangement => ({ holders, placeholders: [wired], groups: [band], shown })
const thingFrom = (slot: number) => thingIn(slot, holders.find((holder) => holder.slot === slot) ?? null)

/** Returns the slots before and after the moves of a drop: `1>3 3>1`. */
function movesOf(from: number | readonly number[], to: number, placing: 'swap' | 'insert'): string | null {
  const edit = planDrop(arrangement(null), [from].flat().map(thingFrom), { kind: 'slot', slot: to }, placing)
  if (edit === null) return null
  return edit.type === 'move' ? edit.moves.map((move) => `${move.from}>${move.to}`).join(' ') : edit.type
}

function order(slots: number | readonly number[], target: Target, group = band): readonly number[] | null {
  const edit = planDrop(arrangement(group), [slots].flat().map(thingFrom), target, 'swap')
  return edit?.type === 'change_group' ? edit.after.slots : null
}

describe('all slots', () => {
  it('moves a channel or a placeholder to a free slot, whatever the way of placing', () => {
    for (const placing of ['swap', 'insert'] as const) {
      expect(movesOf(1, 4, placing)).toBe('1>4')
      expect(movesOf(3, 9, placing)).toBe('3>9')
    }
  })

  it('swaps with the channel or the placeholder of a used slot', () => {
    expect(planDrop(arrangement(null), ['channel 101'], { kind: 'slot', slot: 3 }, 'swap')).toEqual({
      type: 'move',
      moves: [
        { kind: 'channel', id: 101, from: 1, to: 3 },
        { kind: 'placeholder', id: 9, from: 3, to: 1 },
      ],
      requested: 1,
    })
  })

  // Conformance: C-21.41.
  it('puts a channel on a wireless or in-ear placeholder, unless it is inserted', () => {
    for (const kind of ['wireless', 'iem'] as const) {
      const placeholders = [{ ...wired, kind }]
      const drop = (thing: string, slot: number, placing: 'swap' | 'insert' = 'swap') =>
        planDrop({ ...arrangement(null), placeholders }, [thing], { kind: 'slot', slot }, placing)
      expect(drop('channel 101', 3)).toEqual({
        type: 'move',
        moves: [{ kind: 'channel', id: 101, from: 1, to: 3 }],
        requested: 1,
        merged: [9],
      })
      for (const edit of [drop('channel 101', 3, 'insert'), drop('placeholder 9', 1)]) {
        expect(edit?.type).toBe('move')
        expect(edit).not.toHaveProperty('merged')
      }
      expect(placeholderFor('placeholder 9', placeholders, 3)).toBe(undefined)
    }
  })

  it('moves a channel from its present slot, and nothing that is gone', () => {
    const moved = holders.map((holder) => (holder.slot === 1 ? { ...holder, slot: 8 } : holder))
    const drop = (thing: string) =>
      planDrop({ ...arrangement(null), holders: moved }, [thing], { kind: 'slot', slot: 4 }, 'swap')
    expect(drop('channel 101')).toMatchObject({ moves: [{ id: 101, from: 8, to: 4 }] })
    expect(drop('placeholder 77')).toBe(null)
    expect([slotOf('slot 12', holders), slotOf('placeholder 9', holders)]).toEqual([12, 3])
  })

  it('inserts before a used slot, and shifts the others only up to the first free slot', () => {
    expect(movesOf(5, 1, 'insert')).toBe('5>1 1>2 2>3 3>4')
    expect(movesOf(3, 1, 'insert')).toBe('3>1 1>2 2>3')
    expect(movesOf(1, 3, 'insert')).toBe('1>3 3>2 2>1')
    expect(movesOf(1, 5, 'insert')).toBe('1>5 5>4')
  })

  // Conformance: C-21.71.
  it('moves several to consecutive slots, and swaps or shifts what is there', () => {
    expect(movesOf([5, 1], 7, 'swap')).toBe('1>7 5>8')
    expect(movesOf([1, 2], 3, 'swap')).toBe('1>3 2>4 3>1')
    expect(movesOf([1, 2], 2, 'swap')).toBe('1>2 2>3 3>1')
    expect(movesOf([3, 5], 1, 'insert')).toBe('3>1 5>2 1>3 2>4')
    expect(movesOf([1, 2], 5, 'insert')).toBe('1>4 2>5 5>3 3>2')
    // There is no room below slot 2.
    expect(movesOf([1, 3, 5], 2, 'insert')).toBe('1>2 5>4 2>5')
    expect(movesOf([1, 2], 65_535, 'swap')).toBe(null)
    expect(movesOf([1, 9], 4, 'swap')).toBe('1>4')
  })

  it('puts several channels on as many placeholders', () => {
    const reserved = [6, 7].map((slot) => ({ ...wired, kind: 'wireless', id: slot, slot }) as const)
    const all = [...holders, ...reserved.map(({ id, slot }) => ({ kind: 'placeholder', id, slot }) as const)]
    const things = ['channel 102', 'channel 101', 'placeholder 9']
    const edit = planDrop(
      { ...arrangement(null), holders: all, placeholders: [wired, ...reserved] },
      things,
      { kind: 'slot', slot: 6 },
      'swap',
    )
    expect(edit).toMatchObject({
      moves: [
        { id: 101, to: 6 },
        { id: 102, to: 7 },
        { id: 9, to: 8 },
      ],
      merged: [6, 7],
    })
  })

  it('returns null for an empty slot or an unchanged position', () => {
    expect(movesOf(9, 1, 'swap')).toBe(null)
    expect(movesOf(1, 1, 'insert')).toBe(null)
    expect(planDrop(arrangement(null), ['channel 101'], { kind: 'end' }, 'swap')).toBe(null)
  })
})

describe('a group', () => {
  it('moves a slot forwards, backwards and to the end', () => {
    expect(order(5, { kind: 'slot', slot: 1 })).toEqual([5, 1, 2])
    expect(order(1, { kind: 'slot', slot: 5 })).toEqual([2, 5, 1])
    expect(order(1, { kind: 'end' })).toEqual([2, 5, 1])
  })

  // Conformance: C-21.71.
  it('moves several slots together, in the order of the group', () => {
    const group = { ...band, slots: [5, 1, 2, 9, 3] }
    expect(order([1, 5], { kind: 'slot', slot: 9 }, group)).toEqual([2, 9, 5, 1, 3])
    expect(order([3, 9], { kind: 'slot', slot: 1 }, group)).toEqual([5, 9, 3, 1, 2])
    expect(order([1, 9], { kind: 'end' }, group)).toEqual([5, 2, 3, 1, 9])
    expect(order([7, 1], { kind: 'slot', slot: 2 }, group)).toEqual([5, 2, 1, 7, 9, 3])
    expect(order([5, 1], { kind: 'slot', slot: 1 }, group)).toBe(null)
    const edit = planDrop(arrangement(null), [3, 1, 9].map(thingFrom), { kind: 'group', id: 7 }, 'swap')
    expect(edit).toMatchObject({ after: { slots: [1, 2, 5, 3, 9] } })
  })

  it('adds a slot from outside', () => {
    expect(order(9, { kind: 'slot', slot: 2 })).toEqual([1, 9, 2, 5])
    expect(order(9, { kind: 'end' })).toEqual([1, 2, 5, 9])
    const edit = planDrop(arrangement(null), ['slot 9'], { kind: 'group', id: 7 }, 'swap')
    expect(edit).toMatchObject({ after: { slots: [1, 2, 5, 9] } })
  })

  it('returns null when nothing changes', () => {
    expect(order(5, { kind: 'end' })).toBe(null)
    expect(planDrop(arrangement(null), ['channel 105'], { kind: 'group', id: 7 }, 'swap')).toBe(null)
    expect(planDrop(arrangement(null), ['channel 105'], { kind: 'group', id: 8 }, 'swap')).toBe(null)
  })
})

it('undoes every edit, and redoes it by undoing the undo', () => {
  const edits: Edit[] = [
    { type: 'move', moves: [{ kind: 'channel', id: 1, from: 2, to: 3 }], requested: 1 },
    { type: 'move', moves: [{ kind: 'channel', id: 1, from: 2, to: 3 }], requested: 1, merged: [9] },
    { type: 'add_placeholder', placeholder: wired },
    { type: 'change_placeholder', before: wired, after: { ...wired, slot: 8 } },
    { type: 'delete_placeholder', placeholder: wired },
    { type: 'change_group', before: band, after: { ...band, title: 'Choir' } },
    { type: 'create_group', group: band },
    { type: 'delete_group', group: band },
  ]
  for (const edit of edits) expect(undoOf(undoOf(edit))).toEqual(edit)
  expect(undoOf(edits[0] as Edit)).toMatchObject({ moves: [{ kind: 'channel', id: 1, from: 3, to: 2 }] })
})

// Conformance: C-21.72.
it('finds fields that two people have changed to different values', () => {
  const fields = { title: 'Band', zone: null as string | null, version: 1 }
  expect(hasConflict(fields, { ...fields, title: 'Choir' }, { ...fields, zone: 'A', version: 2 })).toBe(false)
  expect(hasConflict(fields, { ...fields, title: 'Choir' }, { ...fields, title: 'Choir', version: 2 })).toBe(false)
  expect(hasConflict(fields, { ...fields, title: 'Choir' }, { ...fields, title: 'Strings', version: 2 })).toBe(true)
})

it('lists the free slots between used ones and two after them, and shortens long runs', () => {
  expect(positionsToShow(holders)).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(positionsToShow([{ slot: 100 }])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 100, 101, 102])
  expect(positionsToShow([{ slot: 65_535 }]).at(-1)).toBe(65_535)
  expect(firstFreeSlot(holders)).toBe(4)
})

it('parses the text of every target', () => {
  const targets: Target[] = [{ kind: 'slot', slot: 3 }, { kind: 'end' }, { kind: 'group', id: 7 }]
  for (const target of targets) expect(parseTarget(formatTarget(target))).toEqual(target)
  expect(parseTarget(null)).toBe(null)
})

describe('an edit is announced', () => {
  const placeholders = [wired]
  const announced = (edit: Edit, changed: object = {}) =>
    isAnnounced(edit, { holders, groups: [band], placeholders, ...changed })

  it('when its channels and placeholders have left their slots, wherever others have moved them since', () => {
    const edit: Edit = { type: 'move', moves: [{ kind: 'placeholder', id: 9, from: 8, to: 2 }], requested: 1 }
    expect(announced(edit)).toBe(true)
    expect(announced({ ...edit, moves: [{ kind: 'placeholder', id: 9, from: 3, to: 8 }] })).toBe(false)
  })

  it('when the placeholder of a merge is gone, or restored', () => {
    const move = { kind: 'channel', id: 101, from: 8, to: 1 } as const
    const merge: Edit = { type: 'move', moves: [move], requested: 1, merged: [9] }
    expect([announced(merge), announced(merge, { placeholders: [] })]).toEqual([false, true])
    const moved = [{ ...channel(1), slot: 8 }]
    expect(announced(undoOf(merge), { holders: moved })).toBe(true)
    expect(announced(undoOf(merge), { holders: moved, placeholders: [] })).toBe(false)
  })

  it('when its group or placeholder has the new version, or a later one', () => {
    const edit: Edit = { type: 'change_group', before: band, after: { ...band, slots: [1, 2, 5, 6], version: 4 } }
    const versions = [1, 3, 4, 5].map((version) => announced(edit, { groups: [{ ...band, version }] }))
    expect(versions).toEqual([false, false, true, true])
    expect([4, 5].map((version) => announced(undoOf(edit), { groups: [{ ...band, version }] }))).toEqual([false, true])
    const renamed: Edit = { type: 'change_placeholder', before: wired, after: { ...wired, name: 'Piano', version: 2 } }
    expect([announced(renamed), announced(renamed, { placeholders: [{ ...wired, version: 2 }] })]).toEqual([
      false,
      true,
    ])
  })

  it('when its group or placeholder was added or deleted', () => {
    const edits: readonly Edit[] = [
      { type: 'create_group', group: band },
      { type: 'add_placeholder', placeholder: wired },
    ]
    for (const edit of edits) {
      expect([announced(edit), announced(undoOf(edit))]).toEqual([true, false])
      expect(announced(undoOf(edit), { groups: [], placeholders: [] })).toBe(true)
    }
  })
})
