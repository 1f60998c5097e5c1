import { describe, expect, it } from 'vitest'
import type { SlotMove } from '../../contract/channels.ts'
import { RequestError } from '../errors.ts'
import { describeHolder, listBlankSlots, planMoves, planSlots, type SlotHolder, toPlaceholderInData } from './slots.ts'

const holders: readonly SlotHolder[] = [
  { kind: 'channel', id: 11, slot: 1 },
  { kind: 'channel', id: 12, slot: 2 },
  { kind: 'channel', id: 13, slot: 3 },
  { kind: 'placeholder', id: 11, slot: 7 },
]
const channel = (channel_id: number, slot: number): SlotMove => ({ channel_id, slot })
const placeholder = (placeholder_id: number, slot: number): SlotMove => ({ placeholder_id, slot })

/** Returns the changed slots by holder, or the error's status and details. */
function plan(...moves: readonly SlotMove[]) {
  try {
    return Object.fromEntries(planMoves(moves, holders).map(({ holder, slot }) => [describeHolder(holder), slot]))
  } catch (error) {
    return error instanceof RequestError ? `${error.status} ${error.details}` : error
  }
}

describe('planMoves', () => {
  it.each([
    ['nothing for no moves', [], {}],
    ['nothing for what stays where it is', [channel(11, 1)], {}],
    ['a move to a free slot', [channel(11, 9)], { 'channel 11': 9 }],
    ['a swap', [channel(11, 2), channel(12, 1)], { 'channel 11': 2, 'channel 12': 1 }],
    ['a swap with a placeholder', [channel(11, 7), placeholder(11, 1)], { 'channel 11': 7, 'placeholder 11': 1 }],
    [
      'an insertion that shifts the following channels',
      [placeholder(11, 1), channel(11, 2), channel(12, 3), channel(13, 4)],
      { 'placeholder 11': 1, 'channel 11': 2, 'channel 12': 3, 'channel 13': 4 },
    ],
    ['a move to a slot that becomes free', [channel(11, 3), channel(13, 50)], { 'channel 11': 3, 'channel 13': 50 }],
  ] as const)('returns %s', (_name, moves, expected) => {
    expect(plan(...moves)).toEqual(expected)
  })

  // Conformance: C-13.2.
  it.each([
    ['neither id', [{ slot: 1 }], '400 moves.0: expected either a channel_id or a placeholder_id'],
    ['both ids', [{ channel_id: 11, placeholder_id: 11, slot: 1 }], '400 moves.0: expected either'],
    ['an unknown channel', [channel(11, 9), channel(99, 8)], '400 moves.1: there is no channel 99'],
    ['an unknown placeholder', [placeholder(12, 8)], '400 moves.0: there is no placeholder 12'],
    ['the same channel twice', [channel(11, 8), channel(11, 9)], '400 moves.1: channel 11 is already in an earlier'],
    ['a slot of a channel that is not moved', [channel(11, 2)], '409 slot: already used by channel 12'],
    ['a slot of a placeholder that is not moved', [channel(11, 7)], '409 slot: already used by placeholder 11'],
    ['two to one free slot', [channel(11, 9), channel(12, 9)], '409 slot: already used by channel 11'],
    ['an unknown id rather than a taken slot', [channel(11, 2), channel(99, 8)], '400 moves.1'],
    // Both would be in slot 2, although one of them is already there.
    ['one that stays in the slot of another', [channel(12, 2), channel(11, 2)], '409 slot: already used by channel 12'],
  ] as const)('rejects %s', (_name, moves, expected) => {
    expect(plan(...moves)).toEqual(expect.stringContaining(expected))
  })
})

describe('planSlots', () => {
  /** Returns the new slots by holder. */
  function planned(
    slots: Readonly<Record<string, number>>,
    requested: Readonly<Record<string, number>>,
    reserved: readonly number[] = [],
  ) {
    const present = Object.entries(slots).map(([name, slot]) => {
      const [kind = '', id] = name.split(' ')
      return { kind, id: Number(id), slot } as SlotHolder
    })
    const moves = planSlots(present, new Map(Object.entries(requested)), new Set(reserved))
    return Object.fromEntries(moves.map(({ holder, slot }) => [describeHolder(holder), slot]))
  }
  const two = { 'channel 11': 1, 'channel 12': 2 }
  const three = { ...two, 'channel 13': 3 }

  it.each([
    ['nothing for no request', two, {}, {}],
    ['nothing if the channel is already there', two, { 'channel 11': 1 }, {}],
    ['a move to a free slot', two, { 'channel 11': 9 }, { 'channel 11': 9 }],
    ['a swap', two, { 'channel 11': 2, 'channel 12': 1 }, { 'channel 11': 2, 'channel 12': 1 }],
    ['a move to the slot that becomes free', three, { 'channel 11': 2 }, { 'channel 11': 2, 'channel 12': 1 }],
    [
      'a move to a slot that is not requested',
      ...[three, { 'channel 11': 2, 'channel 13': 1 }, { 'channel 11': 2, 'channel 12': 3, 'channel 13': 1 }],
    ],
    [
      'a swap of a placeholder with a channel',
      ...[{ 'channel 11': 1, 'placeholder 11': 2 }, { 'placeholder 11': 1 }, { 'placeholder 11': 1, 'channel 11': 2 }],
    ],
  ] as const)('plans %s', (_name, slots, requested, moves) => {
    expect(planned(slots, requested as Record<string, number>)).toEqual(moves)
  })

  it('moves placeholders away from requested slots, and channels away from reserved slots', () => {
    const slots = { ...two, 'placeholder 21': 4, 'placeholder 22': 5 }
    const moves = { 'channel 11': 4, 'channel 12': 1, 'placeholder 21': 3 }
    expect(planned(slots, { 'channel 11': 4 }, [2, 5])).toEqual(moves)
  })
})

// Conformance: C-13.7.
it('has the condition unmonitored, which needs no attention', () => {
  const body = { id: 3, slot: 9, name: 'Pit piano', kind: 'wired', frequency: null, note: '', version: 1 } as const
  expect(toPlaceholderInData({ ...body, created_at: Date.UTC(2026, 10, 23) })).toEqual({
    ...body,
    condition: {
      ...{ state: 'unmonitored', severity: 'ok', attention: false, since_known: true, flags: [] },
      since: '2026-11-23T00:00:00.000Z',
    },
  })
})

// Conformance: C-13.8.
it('replaces the empty slots of groups from 65001 up, each once', () => {
  const groups = [{ slots: [65_003, 1, 65_001, 65_000] }, { slots: [65_001, 65_002, 65_535] }]
  expect(listBlankSlots(groups, [{ slot: 65_002 }, { slot: 1 }])).toEqual([65_001, 65_003, 65_535])
})
