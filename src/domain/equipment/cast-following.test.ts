import { describe, expect, it } from 'vitest'
import { type CastState, planCast } from './cast-following.ts'
import { emptyFields } from './slot-entry.ts'

const [nora, ben] = [1, 2]
const nothing = { ended: [], started: [], entered: [] }

/**
 * `slots`: the performers by slot, `units`: the units by slot, `active`: pairs of unit and performer. The ids of channels
 * are 10 times their slots; unit 99 is a device unit.
 */
function plan(
  received: readonly number[],
  {
    slots = {},
    units,
    active = [],
  }: {
    slots?: Readonly<Record<number, number>>
    units: Readonly<Record<number, number>>
    active?: readonly (readonly [number, number])[]
  },
) {
  const entries = Object.entries(slots).map(([slot, performer]) => ({
    ...emptyFields,
    ...{ id: 1, channel_id: Number(slot) * 10, placeholder_id: null, version: 1 },
    ...{ performer, role: `Role ${slot}` },
  }))
  const assignments = active.map(([wireless_unit, performer]) => ({
    ...{ id: wireless_unit, performer, wireless_unit, role: 'Old' },
    ...{ is_active: true, started_at: 0, ended_at: null },
  }))
  const slotOfUnit = (unit: number) => Object.keys(units).find((slot) => units[Number(slot)] === unit)
  const state: CastState = {
    entries,
    assignments,
    slotOf: (channel) => channel / 10,
    unitOf: (channel) => units[channel / 10],
    channelOf(unit) {
      if (unit === 99) return undefined
      const slot = slotOfUnit(unit)
      return slot === undefined ? null : Number(slot) * 10
    },
  }
  const packs = received.map((slot) => ({ slot, channel: slot * 10, unit: units[slot] ?? 0 }))
  const { ended, started, entered } = planCast(packs, state)
  return { ended: ended.map(({ id }) => id), started, entered }
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

  it('keeps the packs in other slots of the performer, and packs that report themselves', () => {
    const slots = { 1: nora, 2: nora }
    const active = [
      [6, nora],
      [7, nora],
      [99, nora],
    ] as const
    expect(plan([2], { slots, units: { 1: 7, 2: 8 }, active })).toEqual({
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
