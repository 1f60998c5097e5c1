import { describe, expect, it } from 'vitest'
import { type BatteryObservation, type Discharge, isComparable, isUsedUp, observe } from './discharge.ts'

const minute = 60_000
const kind = { manufacturer: 'shure', model: 'ULXD2', batteryType: 'alkaline cells', name: 'Nora' }
const at = (percent: number, fields: Partial<BatteryObservation> = {}): BatteryObservation => ({
  ...kind,
  percent,
  ...fields,
})

/** Observes these values at the given minutes; null is a transmitter that is off. */
function record(...observations: readonly (readonly [minutes: number, BatteryObservation | null])[]): Discharge {
  let known: Discharge | null = null
  for (const [minutes, observation] of observations) known = observe(known, observation, minutes * minute)
  if (known === null) throw new Error('nothing was observed')
  return known
}

describe('a discharge', () => {
  it('records when each level was first reported, in time during which the transmitter was on', () => {
    const known = record([0, at(100)], [10, at(99)], [20, at(99)], [25, null], [45, null], [50, at(98)], [60, at(97)])
    expect(known.steps.map(([percent, onMs]) => [percent, onMs / minute])).toEqual([
      [100, 0],
      [99, 10],
      [98, 25],
      [97, 35],
    ])
    expect(known).toMatchObject({ startedAt: 0, onMs: 35 * minute, isOn: true })
  })

  // Conformance: C-13.35.
  it('belongs to one battery until its level rises by 20 or more', () => {
    expect(record([0, at(60)], [10, at(40)], [20, at(59)]).startedAt).toBe(0)
    expect(record([0, at(60)], [10, at(40)], [20, at(60)])).toMatchObject({ startedAt: 20 * minute, steps: [[60, 0]] })
  })

  it('begins again with a reading that no battery can have a minute later, unless it is one step of a coarse gauge', () => {
    const isOther = (from: number, to: number, minutes = 1) =>
      record([0, at(from)], [minutes, at(to)]).startedAt === minutes * minute
    expect([isOther(96, 5), isOther(96, 80), isOther(96, 81), isOther(40, 56), isOther(96, 5, 2)]).toEqual([
      ...[true, true, false, true, false],
    ])
    expect([isOther(80, 60), isOther(70, 30), isOther(80, 40)]).toEqual([false, false, true])
  })

  it('is recorded every ten seconds while the same is reported, and at once when something changes', () => {
    const first = observe(null, at(60), 0)
    expect(observe(first, at(60), 9_999)).toBe(first)
    expect(observe(first, at(60), 10_000)).toMatchObject({ onMs: 10_000, observedAt: 10_000 })
    expect(observe(first, at(59), 5000)).toMatchObject({ percent: 59, onMs: 5000 })
    expect(observe(first, at(60, { name: 'Olga' }), 5000)).toMatchObject({ name: 'Olga', onMs: 5000 })
    expect(observe(first, null, 5000)).toMatchObject({ isOn: false, onMs: 5000 })
  })

  it('does not step up when a level fluctuates', () => {
    expect(record([0, at(60)], [10, at(59)], [11, at(60)], [12, at(59)]).steps).toHaveLength(2)
  })

  it('belongs to another battery with another model, or another name after the transmitter was off', () => {
    expect(record([0, at(60)], [10, at(60, { model: 'ULXD6' })]).startedAt).toBe(10 * minute)
    expect(record([0, at(60)], [10, at(60, { name: 'Nora K.' })]).startedAt).toBe(0)
    expect(record([0, at(60)], [5, null], [10, at(60, { name: 'Olga' })]).startedAt).toBe(10 * minute)
  })

  it('begins again after more than half an hour of which nothing is known', () => {
    expect(record([0, at(60)], [29, at(58)])).toMatchObject({ startedAt: 0, onMs: 29 * minute })
    expect(record([0, at(60)], [31, at(58)]).startedAt).toBe(31 * minute)
    expect(record([0, at(60)], [5, null], [300, at(58)])).toMatchObject({ startedAt: 0, onMs: 5 * minute })
  })

  it('can be compared with others after 20 minutes and a step, and is used up at 10% or at the last bar', () => {
    expect(isComparable(record([0, at(60)], [19, at(59)]))).toBe(false)
    expect(isComparable(record([0, at(60)], [20, at(60)]))).toBe(false)
    expect(isComparable(record([0, at(60)], [20, at(59)]))).toBe(true)
    const reached = (...levels: number[]) =>
      isUsedUp(record(...levels.map((level, index) => [index, at(level)] as const)))
    expect([reached(12, 11), reached(11, 10), reached(60, 40), reached(40, 20), reached(21, 20)]).toEqual([
      ...[false, true, false, true, false],
    ])
  })
})
