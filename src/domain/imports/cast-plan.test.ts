import { describe, expect, it } from 'vitest'
import type { Performer } from '../../contract/performers.ts'
import type { Assignment } from '../equipment/hardware.ts'
import type { Placeholder } from '../equipment/slots.ts'
import type { CastRow } from './cast-columns.ts'
import { type CastPlan, type CastState, planCast } from './cast-plan.ts'

const performer = (id: number, name: string): Performer => ({ id, name, notes: '', picture: null })

function assignment(id: number, performerId: number, unit: number, role: string | null = null): Assignment {
  const times = { is_active: true, started_at: 0, ended_at: null }
  return { id, performer: performerId, wireless_unit: unit, role, ...times }
}

const microphone = (id: number, name: string | null) =>
  ({ id, name, channel_id: 100 + id, device_type: 'mic_transmitter' }) as const

const lectern: Placeholder = {
  id: 30,
  slot: 8,
  name: 'Lectern',
  kind: 'wired',
  frequency: null,
  note: 'Stage left',
  created_at: 0,
}

/** Slots 1 to 4, and a placeholder in slot 8; slot 4 has no unit. Unit 9 is an in-ear pack. */
function stateOf(performers: readonly Performer[] = [], assignments: readonly Assignment[] = []): CastState {
  return {
    performers,
    assignments,
    units: [
      microphone(1, 'Pack A'),
      microphone(2, 'Pack B'),
      microphone(3, 'Pack B'),
      { id: 9, name: 'IEM 1', channel_id: null, device_type: 'iem_receiver' },
    ],
    slots: new Map([1, 2, 3, 4].map((slot) => [slot, 100 + slot])),
    placeholders: new Map([[lectern.slot, lectern]]),
  }
}

function rowsOf(...rows: readonly Partial<CastRow>[]): CastRow[] {
  const empty = { slot: '', name: '', role: '', note: '', photo: '', pack: '' }
  return rows.map((row, index) => ({ ...empty, row: index + 1, ...row }))
}

function plan(state: CastState, ...rows: readonly Partial<CastRow>[]): CastPlan {
  const planned = planCast(rowsOf(...rows), state)
  if ('unknownSlot' in planned) throw new Error(`unknown slot ${planned.unknownSlot}`)
  return planned
}

const nora = performer(1, 'Nora')
const ada = performer(2, 'Ada')

describe('a cast list', () => {
  // Conformance: C-16.5.
  it('adds performers and assigns the units of their slots', () => {
    const { performers, ended, assigned, skipped } = plan(
      stateOf(),
      { slot: '1', name: 'Nora', role: 'Elphaba', note: 'left' },
      { slot: '02', name: 'Ada' },
    )
    expect([...performers.values()]).toEqual([
      { stored: null, name: 'Nora', note: 'left', photo: '' },
      { stored: null, name: 'Ada', note: '', photo: '' },
    ])
    expect(assigned).toEqual([
      { unit: 1, performer: 'nora', role: 'Elphaba', changed: null },
      { unit: 2, performer: 'ada', role: null, changed: null },
    ])
    expect([ended, skipped]).toEqual([[], []])
  })

  // Conformance: C-16.5.
  it('changes nothing that is already as in the list, and keeps what its empty cells leave open', () => {
    const state = stateOf([nora], [assignment(5, 1, 1, 'Elphaba')])
    for (const row of [
      { slot: '1', name: 'nora', role: 'Elphaba' },
      { slot: '1', name: 'NORA' },
    ]) {
      const { ended, assigned } = plan(state, row)
      expect([ended, assigned]).toEqual([[], []])
    }
    expect(plan(state, { slot: '1', name: 'Nora', role: 'Glinda' }).assigned).toEqual([
      { unit: 1, performer: 'nora', role: 'Glinda', changed: assignment(5, 1, 1, 'Elphaba') },
    ])
  })

  // Conformance: C-16.5.
  it('moves performers, who take their role along, and swaps their units', () => {
    const state = stateOf([nora, ada], [assignment(5, 1, 1, 'Elphaba'), assignment(6, 2, 2)])
    const swap = plan(state, { slot: '1', name: 'Ada' }, { slot: '2', name: 'Nora' })
    expect(swap.ended.map(({ id }) => id)).toEqual([5, 6])
    expect(swap.assigned).toEqual([
      { unit: 1, performer: 'ada', role: null, changed: null },
      { unit: 2, performer: 'nora', role: 'Elphaba', changed: null },
    ])
    const move = plan(state, { slot: '3', name: 'Nora' })
    expect([move.ended.map(({ id }) => id), move.assigned.length]).toEqual([[5], 1])
  })

  it('keeps packs of another type, and several packs of one performer that are all in the list', () => {
    const state = stateOf([nora], [assignment(5, 1, 9), assignment(6, 1, 1)])
    expect(plan(state, { slot: '2', name: 'Nora' }).ended.map(({ id }) => id)).toEqual([6])
    const both = plan(state, { slot: '1', name: 'Nora' }, { slot: '2', name: 'Nora' })
    expect([both.ended, both.assigned.map(({ unit }) => unit), both.performers.size]).toEqual([[], [2], 1])
  })

  it('prefers the performer who has the unit among performers of the same name', () => {
    const state = stateOf([nora, performer(7, 'Nora')], [assignment(5, 7, 1)])
    expect(plan(state, { slot: '1', name: 'Nora' })).toMatchObject({ ended: [], assigned: [] })
  })

  // Conformance: C-16.7.
  it('selects units by the name or the slot of a pack', () => {
    const { assigned, skipped } = plan(
      stateOf(),
      { slot: '4', pack: 'pack a', name: 'Nora' },
      { pack: '2', name: 'Ada' },
      { pack: 'Pack B', name: 'Bo' },
      { pack: 'Pack Z', name: 'Cy' },
    )
    expect(assigned.map(({ unit }) => unit)).toEqual([1, 2])
    expect(skipped.map(({ row, reason }) => [row, reason])).toEqual([
      [3, 'Several packs have the name Pack B.'],
      [4, 'There is no pack with the name Pack Z.'],
    ])
  })

  // Conformance: C-16.9.
  it('renames the placeholders of its slots, and adds no performers for them', () => {
    const named = (...rows: readonly Partial<CastRow>[]) => plan(stateOf([nora], [assignment(5, 1, 1)]), ...rows)
    const { performers, ended, assigned, placeholders, skipped } = named({ slot: '8', name: 'Nora' })
    expect(placeholders).toMatchObject([{ before: lectern, after: { ...lectern, name: 'Nora' } }])
    expect([performers.size, ended, assigned, skipped]).toEqual([0, [], [], []])
    expect(named({ slot: '8', name: 'Lectern', note: 'Pit' }).placeholders[0]?.after.note).toBe('Pit')
    expect(named({ slot: '8', name: 'Lectern', note: 'Stage left' }).placeholders).toEqual([])
    expect(named({ pack: '8', name: 'Host' }).placeholders[0]?.after.name).toBe('Host')
    expect(named({ slot: '8', pack: 'pack a', name: 'Host' })).toMatchObject({
      placeholders: [],
      assigned: [{ unit: 1 }],
    })
    const partial = named({ slot: '8', name: 'Host', role: 'Speaker' }, { slot: '8', name: 'Guest' })
    expect(partial.placeholders.map(({ after }) => after.name)).toEqual(['Host'])
    expect(partial.skipped.map(({ row, reason }) => [row, reason])).toEqual([
      [1, 'A placeholder has no role and no photo, so they are not imported.'],
      [2, 'Row 1 already names this placeholder.'],
    ])
  })

  // Conformance: C-16.6.
  it('is skipped in part, with the reasons', () => {
    const { skipped, assigned } = plan(
      stateOf(),
      { slot: '1', name: 'Nora', photo: 'nora.jpg' },
      {},
      { slot: '2' },
      { name: 'Ada' },
      { slot: 'TBD', name: 'Ada' },
      { slot: '4', name: 'Ada' },
      { slot: '1', name: 'Ada' },
      { slot: '2', name: 'A'.repeat(256) },
      {},
    )
    expect(skipped).toEqual([
      { row: 1, name: 'Nora', reason: 'The photo is not an address, so it is not imported.' },
      { row: 2, name: null, reason: 'The row is empty.' },
      { row: 3, name: null, reason: 'The row has no name.' },
      { row: 4, name: 'Ada', reason: 'The row has no slot and no pack.' },
      { row: 5, name: 'Ada', reason: 'TBD is not a slot number.' },
      { row: 6, name: 'Ada', reason: 'No pack has been received in slot 4 yet.' },
      { row: 7, name: 'Ada', reason: 'Row 1 already assigns this pack.' },
      { row: 8, name: 'A'.repeat(256), reason: 'The name is longer than 255 characters.' },
    ])
    expect(assigned).toHaveLength(1)
  })

  // Conformance: C-16.6.
  it.each(['5', '0', '70000'])('is not imported at all if the slot %s does not exist', (slot) => {
    const rows = rowsOf({ slot: '1', name: 'Nora' }, { slot, name: 'Ada' })
    expect(planCast(rows, stateOf())).toEqual({ row: 2, unknownSlot: slot })
  })
})
