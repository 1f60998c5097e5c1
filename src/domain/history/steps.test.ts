import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ColumnName, columnNames, noValue, stateLetters } from './columns.ts'
import { createSteps, findRecorded, foldSteps, type MutableSteps, mergeSteps } from './steps.ts'

/** Values that are not given are empty. */
function stepsOf(from: number, values: Partial<Record<ColumnName, readonly number[]>>, id = 1): MutableSteps {
  const count = Math.max(...Object.values(values).map((list) => list.length))
  const steps = createSteps(from, count, [id])
  for (const [name, list] of Object.entries(values)) steps.columns[name as ColumnName].set(list)
  return steps
}

const letters = (text: string) => [...text].map((letter) => (stateLetters as readonly string[]).indexOf(letter))

// Conformance: C-12.1.
describe('foldSteps', () => {
  it('keeps extremes and last values, adds weak milliseconds, and combines flags', () => {
    const fine = stepsOf(20, {
      state: letters('1111'),
      rows: [1, 0, 4, 0],
      rf_min: [-60, -97, -60, noValue],
      rf_max: [-50, -51, -40, noValue],
      audio_max: [-20, -6, noValue, -30],
      audio_last: [-30, -40, noValue, noValue],
      quality_min: [80, 20, 90, 100],
      battery: [50, 49, noValue, noValue],
      minutes: [noValue, noValue, noValue, noValue],
      weak_ms: [0, 200, 1000, 0],
    })
    const { columns, ...rest } = foldSteps(fine, 1, 10)
    expect(rest).toEqual({ from: 20, count: 1, channelIds: [1] })
    expect(Object.fromEntries(columnNames.map((name) => [name, columns[name][0]]))).toEqual({
      state: stateLetters.indexOf('1'),
      rows: 5,
      rf_min: -97,
      rf_max: -40,
      audio_max: -6,
      audio_last: -40,
      quality_min: 20,
      battery: 49,
      minutes: noValue,
      weak_ms: 1200,
    })
  })

  it.each([
    ['1111m', '1'],
    ['----x', 'x'],
    ['1m', 'm'],
    ['1m0', '0'],
    ['1m0x', 'x'],
    ['11m0x', '1'],
    ['-----', '-'],
  ])('folds the states %s to %s', (fine, coarse) => {
    const { state } = foldSteps(stepsOf(0, { state: letters(fine) }), 1, 10).columns
    expect([...state]).toEqual(letters(coarse))
  })

  it('aligns steps to multiples of their length', () => {
    const fine = stepsOf(57, { rf_min: [-1, -2, -3, -4, -5, -6] })
    const { from, columns } = foldSteps(fine, 1, 60)
    expect(from).toBe(0)
    expect([...columns.rf_min]).toEqual([-3, -6])
  })

  it('folds in two passes to the same extremes and sums as in one', () => {
    const value = fc.oneof(fc.constant(noValue), fc.integer({ min: -120, max: 0 }))
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), fc.nat(1000), (values, from) => {
        const fine = stepsOf(from, {
          rf_min: values,
          rf_max: values,
          audio_last: values,
          weak_ms: values.map(Math.abs),
        })
        const once = foldSteps(fine, 1, 60)
        const twice = foldSteps(foldSteps(fine, 1, 10), 10, 60)
        for (const name of ['rf_min', 'rf_max', 'audio_last'] as const) {
          expect(twice.columns[name]).toEqual(once.columns[name])
        }
      }),
    )
  })
})

describe('mergeSteps', () => {
  // Conformance: C-12.2.
  it('merges the two parts of a second that was recorded twice', () => {
    const target = stepsOf(100, {
      state: letters('1-'),
      rf_min: [-60, noValue],
      audio_last: [-20, -21],
      weak_ms: [900, 1],
    })
    mergeSteps(
      target,
      stepsOf(99, { state: letters('xm'), rf_min: [-99, -70], audio_last: [0, -30], weak_ms: [9, 200] }),
      1,
    )
    expect([...target.columns.state]).toEqual(letters('m-'))
    expect([...target.columns.rf_min]).toEqual([-70, noValue])
    expect([...target.columns.audio_last]).toEqual([-30, -21])
    expect([...target.columns.weak_ms]).toEqual([1000, 1])
  })

  it('changes nothing when longer steps are merged with themselves', () => {
    const steps = stepsOf(0, { state: letters('1m'), rows: [3, 0], rf_min: [-60, -70], weak_ms: [1200, 0] })
    const merged = structuredClone(steps)
    mergeSteps(merged, steps, 600)
    expect(merged).toEqual(steps)
  })

  it('ignores other channels and other times', () => {
    const target = createSteps(0, 2, [1])
    mergeSteps(target, stepsOf(0, { rf_min: [-1, -2] }, 2), 1)
    mergeSteps(target, stepsOf(2, { rf_min: [-1, -2] }), 1)
    mergeSteps(target, stepsOf(-2, { rf_min: [-1, -2] }), 1)
    expect(target).toEqual(createSteps(0, 2, [1]))
  })
})

it('finds the first and the last recorded step', () => {
  expect(findRecorded(createSteps(0, 5, [1, 2]), 10)).toBeNull()
  expect(findRecorded(stepsOf(100, { state: letters('-1x--') }), 10)).toEqual({ first: 110, last: 120 })
})
