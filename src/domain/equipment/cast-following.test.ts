import { describe, expect, it } from 'vitest'
import { planCast } from './cast-following.ts'

const [nora, ben] = [1, 2]
const nothing = { ended: [], started: [], changed: [], entered: [] }

interface Cast {
  readonly slots?: Readonly<Record<number, number>>
  readonly units: Readonly<Record<number, number>>
  readonly active?: readonly (readonly [number, number])[]
  /** The previous performers of edited slots. */
  readonly edited?: Readonly<Record<number, number | null>>
}

/**
 * `slots`: the performers by slot, `units`: the units by slot, `active`: pairs of unit and performer. The ids of channels
 * are 10 times their slots.
 */
function plan(received: readonly number[], { slots = {}, units, active = [], edited = {} }: Cast) {
  const slotOfUnit = (unit: number) => Object.keys(units).find((slot) => units[Number(slot)] === unit)
  const state = {
    slots: Object.entries(slots).map(([slot, performer]) => {
      const unit = units[Number(slot)] ?? null
      return { slot: Number(slot), channel: Number(slot) * 10, unit, performer, role: `Role ${slot}` }
    }),
    assignments: active.map(([wireless_unit, performer]) => {
      const slot = slotOfUnit(wireless_unit)
      const role = slots[Number(slot)] === performer ? `Role ${slot}` : 'Old'
      const channel_id = slot === undefined ? null : Number(slot) * 10
      return { id: wireless_unit, performer, wireless_unit, role, channel_id }
    }),
  }
  const packs = received.map((slot) => ({ slot, channel: slot * 10, unit: units[slot] ?? 0 }))
  const edits = Object.entries(edited).map(([slot, former]) => {
    return { channel: Number(slot) * 10, unit: units[Number(slot)] ?? null, former }
  })
  const { ended, ...changes } = planCast(state, packs, edits)
  return { ended: ended.map(({ id }) => id), ...changes }
}

const started = (wireless_unit: number, performer: number, slot: number) => ({
  ...{ wireless_unit, performer, role: `Role ${slot}` },
})

describe('the performer of a slot', () => {
  it('is assigned to the pack that is received there', () => {
    expect(plan([1], { slots: { 1: nora }, units: { 1: 7 } })).toEqual({ ...nothing, started: [started(7, nora, 1)] })
    expect(plan([1], { slots: { 1: nora }, units: { 1: 7 }, active: [[7, nora]] })).toEqual(nothing)
    expect(plan([], { slots: { 1: nora }, units: { 1: 7 } })).toEqual(nothing)
  })

  // Conformance: C-21.11.
  it('follows another pack, also when two slots exchange theirs', () => {
    expect(plan([1], { slots: { 1: nora }, units: { 1: 8 }, active: [[7, nora]] })).toEqual({
      ...nothing,
      ended: [7],
      started: [started(8, nora, 1)],
    })
    const active = [
      [7, nora],
      [8, ben],
    ] as const
    expect(plan([1, 2], { slots: { 1: nora, 2: ben }, units: { 1: 8, 2: 7 }, active })).toEqual({
      ...nothing,
      ended: [7, 8],
      started: [started(8, nora, 1), started(7, ben, 2)],
    })
  })

  it('keeps the packs in other slots of the performer, and one for each slot that lacks its pack', () => {
    const slots = { 1: nora, 2: nora }
    const active = [
      [6, nora],
      [7, nora],
    ] as const
    expect(plan([2], { slots, units: { 1: 7, 2: 8 }, active })).toEqual({
      ...nothing,
      ended: [6],
      started: [started(8, nora, 2)],
    })
    expect(plan([2], { slots, units: { 2: 8 }, active })).toEqual({
      ...nothing,
      ended: [6],
      started: [started(8, nora, 2)],
    })
  })

  it('stays with the pack while nothing or another slot receives it', () => {
    expect(plan([2], { slots: { 1: nora }, units: { 2: 7 }, active: [[7, nora]] })).toEqual(nothing)
  })

  it('keeps a pack that a higher slot receives for its own performer', () => {
    const active = [[7, nora]] as const
    expect(plan([2], { slots: { 1: nora, 2: ben }, units: { 2: 7 }, active })).toEqual(nothing)
    expect(plan([1], { slots: { 1: ben, 2: nora }, units: { 1: 7 }, active })).toEqual({
      ...nothing,
      ended: [7],
      started: [started(7, ben, 1)],
    })
  })

  it('is that of a pack that was assigned in no slot', () => {
    const entered = [{ channel: 20, performer: ben, role: 'Old' }]
    expect(
      plan([2], {
        slots: { 1: nora },
        units: { 1: 7, 2: 8 },
        active: [
          [7, nora],
          [8, ben],
        ],
      }),
    ).toEqual({ ...nothing, entered })
  })
})

describe('an edit of a slot', () => {
  it('gives its pack to the new performer at once, and ends the assignment of the former one', () => {
    const active = [[7, nora]] as const
    expect(plan([], { slots: { 1: ben }, units: { 1: 7 }, active, edited: { 1: nora } })).toEqual({
      ...nothing,
      ended: [7],
      started: [started(7, ben, 1)],
    })
    // The pack of the slot is received in another one.
    expect(plan([], { slots: {}, units: { 2: 7 }, active, edited: { 1: nora } })).toEqual({ ...nothing, ended: [7] })
  })

  it('changes the role, and leaves the other slots of the performer alone', () => {
    const active = [[7, nora]] as const
    const role = { id: 7, performer: nora, wireless_unit: 7, role: 'Role 1', channel_id: 10 }
    const packs = { slots: { 1: nora }, units: { 1: 7 }, edited: { 1: nora } }
    expect(plan([], { ...packs, active })).toEqual(nothing)
    const state = { slots: [{ slot: 1, channel: 10, unit: 7, performer: nora, role: 'Role 1' }] }
    const assignments = [{ ...role, role: 'Old' }]
    expect(planCast({ ...state, assignments }, [], [{ channel: 10, unit: 7, former: nora }])).toEqual({
      ...nothing,
      changed: [role],
    })
    expect(plan([], { slots: { 1: nora }, units: { 1: 7, 2: 8 }, active, edited: { 2: nora } })).toEqual(nothing)
  })

  it('exchanges the performers of two slots', () => {
    const active = [
      [7, nora],
      [8, ben],
    ] as const
    const edited = { 1: nora, 2: ben }
    expect(plan([], { slots: { 1: ben, 2: nora }, units: { 1: 7, 2: 8 }, active, edited })).toEqual({
      ...nothing,
      ended: [7, 8],
      started: [started(7, ben, 1), started(8, nora, 2)],
    })
  })
})
