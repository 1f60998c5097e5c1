import { describe, expect, it } from 'vitest'
import type { Performer } from '../../contract/performers.ts'
import type { CastRow } from './cast-columns.ts'
import { type CastOptions, type CastPlan, type CastSlot, type CastState, planCast } from './cast-plan.ts'

const performer = (id: number, name: string): Performer => ({ id, name, notes: '', picture: null, version: 1 })
const nora = performer(1, 'Nora')
const ada = performer(2, 'Ada')

type Held = Partial<Pick<CastSlot, 'performer' | 'role'>>

/**
 * Channels in the slots 1 to 4, a placeholder in slot 8, an in-ear channel in slot 9, and a channel of a site in slot
 * 12. The units 1, 2 and 3 are received in their slots, unit 5 in none.
 */
function stateOf(performers: readonly Performer[] = [], held: Readonly<Record<number, Held>> = {}): CastState {
  const slots = [1, 2, 3, 4, 8, 9, 12].map(
    (slot): CastSlot => ({
      slot,
      holder: { kind: slot === 8 ? 'placeholder' : 'channel', id: 100 + slot },
      isInEar: slot === 9,
      site: slot === 12 ? 'Opera' : null,
      ...{ performer: null, role: null, ...held[slot] },
    }),
  )
  return {
    performers,
    slots: new Map(slots.map((slot) => [slot.slot, slot])),
    units: [
      { id: 1, name: 'Pack A', slot: 1 },
      { id: 2, name: 'Pack B', slot: 2 },
      { id: 3, name: 'Pack B', slot: 3 },
      { id: 5, name: 'Spare', slot: null },
    ],
    wearers: new Map(),
  }
}

function plan(state: CastState, rows: readonly Partial<CastRow>[], options?: CastOptions): CastPlan {
  const empty = { slot: '', name: '', role: '', note: '', photo: '', pack: '' }
  return planCast(
    rows.map((row, index) => ({ ...empty, row: index + 1, ...row })),
    state,
    options,
  )
}

/** Lists the slots that change, with the name and the role of their performers. */
const castOf = ({ slots, performers }: CastPlan) =>
  slots.map(({ slot, performer, role }) => [slot, performers.get(performer ?? '')?.name ?? null, role])
const reasonsOf = ({ skipped }: CastPlan) => skipped.map(({ row, reason }) => [row, reason])

describe('a cast list', () => {
  // Conformance: C-16.5, C-16.9.
  it('adds performers and assigns them to their slots, with or without a pack', () => {
    const planned = plan(stateOf(), [
      { slot: '1', name: 'Nora', role: 'Elphaba', note: 'left', photo: '/nora.png' },
      { slot: '04', name: 'Ada' },
      { slot: '8', name: 'Bo' },
    ])
    expect([...planned.performers.values()]).toMatchObject([
      { stored: null, name: 'Nora', note: 'left', photo: '/nora.png', photoRow: 1 },
      { stored: null, name: 'Ada', note: '', photo: '' },
      { stored: null, name: 'Bo' },
    ])
    expect(castOf(planned)).toEqual([
      [1, 'Nora', 'Elphaba'],
      [4, 'Ada', null],
      [8, 'Bo', null],
    ])
    expect([planned.units, planned.skipped]).toEqual([[], []])
  })

  // Conformance: C-16.5.
  it('changes nothing that is already as in the list, and keeps what its empty cells leave open', () => {
    const state = stateOf([nora], { 1: { performer: 1, role: 'Elphaba' } })
    for (const row of [
      { slot: '1', name: 'nora', role: 'Elphaba' },
      { slot: '1', name: 'NÓRA' },
    ]) {
      expect(castOf(plan(state, [row]))).toEqual([])
    }
    expect(castOf(plan(state, [{ slot: '1', name: 'Nora', role: 'Glinda' }]))).toEqual([[1, 'Nora', 'Glinda']])
  })

  // Conformance: C-16.5.
  it('moves performers, who take their role along, and swaps them', () => {
    const state = stateOf([nora, ada], { 1: { performer: 1, role: 'Elphaba' }, 2: { performer: 2 } })
    const swap = [
      { slot: '1', name: 'Ada' },
      { slot: '2', name: 'Nora' },
    ]
    expect(castOf(plan(state, swap))).toEqual([
      [1, 'Ada', null],
      [2, 'Nora', 'Elphaba'],
    ])
    expect(castOf(plan(state, [{ slot: '3', name: 'Nora' }]))).toEqual([
      [1, null, null],
      [3, 'Nora', 'Elphaba'],
    ])
  })

  it('keeps an in-ear slot, and several slots that a performer already has', () => {
    const state = stateOf([nora], { 1: { performer: 1 }, 9: { performer: 1 } })
    expect(castOf(plan(state, [{ slot: '2', name: 'Nora' }]))).toEqual([
      [1, null, null],
      [2, 'Nora', null],
    ])
    const both = [
      { slot: '1', name: 'Nora', role: 'Elphaba' },
      { slot: '9', name: 'Nora' },
    ]
    expect(castOf(plan(stateOf([nora]), both))).toHaveLength(2)
    const twice = stateOf([nora], { 1: { performer: 1 }, 2: { performer: 1 } })
    const kept = plan(twice, [
      { slot: '1', name: 'Nora' },
      { slot: '2', name: 'Nora' },
    ])
    expect([castOf(kept), kept.skipped]).toEqual([[], []])
  })

  it('prefers the same spelling, then the performer of the slot', () => {
    const others = [nora, performer(7, 'Nora'), performer(8, 'Nóra')]
    expect(castOf(plan(stateOf(others, { 1: { performer: 7 } }), [{ slot: '1', name: 'Nora' }]))).toEqual([])
    const { performers } = plan(stateOf(others), [{ slot: '1', name: 'Nóra' }])
    expect([...performers.values()]).toMatchObject([{ stored: { id: 8 } }])
  })

  // Conformance: C-16.7.
  it('selects slots by the name or the slot of a pack, and a pack in no slot itself', () => {
    const planned = plan(stateOf(), [
      { pack: 'pack a', name: 'Nora' },
      { pack: '2', name: 'Ada' },
      { pack: 'Pack B', name: 'Bo' },
      { pack: 'Pack Z', name: 'Cy' },
      { pack: 'spare', name: 'Di' },
    ])
    expect(castOf(planned).map(([slot]) => slot)).toEqual([1, 2])
    expect(planned.units).toMatchObject([{ unit: 5, role: null }])
    expect(reasonsOf(planned)).toEqual([
      [3, 'Several packs have the name Pack B.'],
      [4, 'There is no pack with the name Pack Z.'],
    ])
  })

  // Conformance: C-21.60.
  it.each(['Spare', 'Pack A', 'Pack B', 'Pack Z', '2'])(
    'assigns the slot of a row that also has the pack %s',
    (pack) => {
      const planned = plan(stateOf(), [{ slot: '4', pack, name: 'Nora' }])
      expect([castOf(planned), planned.units, planned.skipped]).toEqual([[[4, 'Nora', null]], [], []])
    },
  )

  // Conformance: C-16.6, C-21.60.
  it('skips single rows, with the reasons', () => {
    const planned = plan(stateOf(), [
      { slot: '1', name: 'Nora', photo: 'nora.jpg' },
      {},
      { slot: '2' },
      { name: 'Ada' },
      { slot: 'TBD', name: 'Ada' },
      { slot: '0', name: 'Ada' },
      { slot: '70000', name: 'Ada' },
      { slot: '5', name: 'Ada' },
      { slot: '1', name: 'Ada' },
      { slot: '2', name: 'nórà' },
      { slot: '2', name: 'A'.repeat(256) },
      { slot: '12', name: 'Ada' },
      { slot: '3', name: 'Cy', photo: 'https://example.com/cy.png' },
      {},
    ])
    expect(reasonsOf(planned)).toEqual([
      [1, 'The photo is not an address, so it is not imported.'],
      [2, 'The row is empty.'],
      [3, 'The row has no name.'],
      [4, 'The row has no slot and no pack.'],
      [5, 'TBD is not a slot from 1 to 65535.'],
      [6, '0 is not a slot from 1 to 65535.'],
      [7, '70000 is not a slot from 1 to 65535.'],
      [8, 'There is no slot 5.'],
      [9, 'Row 1 already assigns slot 1.'],
      [10, 'Row 1 already has this name.'],
      [11, 'The name is longer than 255 characters.'],
      [12, 'Slot 12 is monitored by the site Opera. Change its performer there.'],
      [13, 'The photo is a web address. Turn on fetching of photos to import it.'],
    ])
    expect(planned.skipped[4]).toEqual({ row: 5, slot: null, name: 'Ada', reason: expect.any(String) })
    expect(planned.skipped[7]).toMatchObject({ row: 8, slot: 5 })
    expect(castOf(planned)).toEqual([
      [1, 'Nora', null],
      [3, 'Cy', null],
    ])
  })

  // Conformance: C-21.60.
  it('adds slots and photos only if it is asked to', () => {
    const row = { slot: '40', name: 'Nora', photo: 'http://example.com/nora.png' }
    const { slots, performers, skipped } = plan(stateOf(), [row], { createSlots: true, fetchPhotos: true })
    expect(slots).toMatchObject([{ slot: 40, before: null }])
    expect([[...performers.values()][0]?.photo, skipped]).toEqual([row.photo, []])
  })

  it('assigns a repeated name to every slot if it is asked to', () => {
    const rows = [
      { slot: '1', name: 'Nora' },
      { slot: '2', name: 'Nora' },
    ]
    expect(castOf(plan(stateOf(), rows, { allowsRepeatedNames: true }))).toHaveLength(2)
  })
})
