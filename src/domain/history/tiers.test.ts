import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RequestError } from '../errors.ts'
import { chooseTier, tierSteps } from './tiers.ts'

const hour = 3600
const from = 1_777_658_400

// Conformance: C-12.3.
it.each([
  ['ten minutes in 600 points', 600, 600, { tier: 1, step: 1, points: 600 }],
  ['one second more', 601, 600, { tier: 10, step: 10, points: 61 }],
  ['three hours in 600 points', 3 * hour, 600, { tier: 60, step: 60, points: 180 }],
  ['a day in 600 points', 24 * hour, 600, { tier: 600, step: 600, points: 144 }],
  ['a month in 600 points', 30 * 24 * hour, 600, { tier: 3600, step: 2 * hour, points: 360 }],
  ['a day in one point', hour, 1, { tier: 3600, step: hour, points: 1 }],
])('chooses the step for %s', (_, seconds, maxPoints, expected) => {
  expect(chooseTier({ from, to: from + seconds, maxPoints }, tierSteps)).toMatchObject(expected)
})

it('rounds the start down to the step and counts the points from there', () => {
  expect(chooseTier({ from: from + 59, to: from + 661, maxPoints: 12 }, tierSteps)).toEqual({
    tier: 60,
    step: 60,
    from,
    points: 12,
  })
  expect(chooseTier({ from: from + 59, to: from + 661, maxPoints: 11 }, tierSteps)).toMatchObject({
    tier: 600,
    points: 2,
  })
})

it('skips tiers in which nothing of the range is left', () => {
  expect(chooseTier({ from, to: from + 60, maxPoints: 600 }, [10, 60, 600, 3600])).toMatchObject({ tier: 10 })
  expect(chooseTier({ from, to: from + 60, maxPoints: 600 }, [])).toMatchObject({ tier: 1 })
})

it('finds the smallest multiple of an hour that fits', () => {
  fc.assert(
    fc.property(
      fc.nat(2e9),
      fc.integer({ min: 1, max: 400 * 86_400 }),
      fc.integer({ min: 1, max: 600 }),
      (start, length, maxPoints) => {
        const range = { from: start, to: start + length, maxPoints }
        const choice = chooseTier(range, tierSteps)
        expect(choice.points).toBeLessThanOrEqual(maxPoints)
        expect(choice.from).toBeLessThanOrEqual(start)
        expect(choice.from % choice.step).toBe(0)
        if (choice.step <= hour) return
        const smaller = choice.step - hour
        const first = Math.floor(start / smaller) * smaller
        expect(Math.ceil((range.to - first) / smaller)).toBeGreaterThan(maxPoints)
      },
    ),
  )
})

it('fits ranges before 1970, except for one step across its beginning', () => {
  expect(chooseTier({ from: 0, to: from, maxPoints: 1 }, tierSteps)).toMatchObject({ from: 0, points: 1 })
  expect(chooseTier({ from: -from, to: 0, maxPoints: 1 }, tierSteps)).toMatchObject({ points: 1 })
  expect(chooseTier({ from: -from, to: from, maxPoints: 2 }, tierSteps)).toMatchObject({ points: 2 })
  expect(() => chooseTier({ from: -1, to: from, maxPoints: 1 }, tierSteps)).toThrow(RequestError)
})
