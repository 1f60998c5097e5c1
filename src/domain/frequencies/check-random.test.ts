/** Random sets of carriers: the check finds what a brute force finds. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Carrier, createCarrier, equipmentWithGuards } from './carrier.ts'
import { checkCarriers, recheckCarriers } from './check.ts'
import { carriersAt, checkByBruteForce, toLines } from './test-carriers.ts'

const neverOnTogether = [
  ['act 1', 'act 2'],
  ['act 2', 'act 3'],
]

/**
 * A small set that exercises every rule: zones, windows, mixed guards, duplicates, groups that are never on together
 * and carriers that are not generators.
 */
const carrierSet = fc
  .array(
    fc.record({
      khz: fc.integer({ min: 0, max: 160 }).map((step) => 500_000 + 25 * step),
      zone: fc.constantFrom(null, null, null, 'A'),
      groups: fc.constantFrom([], [], ['act 1'], ['act 2'], ['act 3'], ['act 1', 'act 2'], ['all']),
      isGenerator: fc.constantFrom(true, true, true, false),
      windowKhz: fc.constantFrom(null, null, 1500),
      guards: fc.record({
        spacing: fc.constantFrom(0, 125, 350),
        '2t3o': fc.constantFrom(0, 0, 75, 150),
        '3t3o': fc.constantFrom(0, 0, 50, 100),
        '2t5o': fc.constantFrom(0, 0, 90),
        '2t7o': fc.constantFrom(0, 0, 60),
        '2t9o': fc.constantFrom(0, 0, 40),
      }),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((set) =>
    set.map(({ guards, ...carrier }, index): Carrier => {
      const equipment = equipmentWithGuards(guards)
      return { ...createCarrier({ id: `c${index}`, khz: carrier.khz }, equipment), ...carrier }
    }),
  )

// Conformance: C-15.26, C-23.90.
it('finds what a brute force finds, in 10,000 random sets', () => {
  let conflicts = 0
  fc.assert(
    fc.property(carrierSet, (carriers) => {
      const found = toLines(checkCarriers(carriers, { neverOnTogether }))
      conflicts += found.length
      expect(found).toEqual(checkByBruteForce(carriers, neverOnTogether))
    }),
    { numRuns: 10_000 },
  )
  expect(conflicts).toBeGreaterThan(10_000)
})

it('finds what a brute force finds in larger sets with equal guards', () => {
  const guards = { spacing: 350, '2t3o': 75, '3t3o': 50, '2t5o': 90, '2t7o': 90, '2t9o': 90 }
  const grid = fc.uniqueArray(fc.integer({ min: 0, max: 1000 }), { minLength: 16, maxLength: 20 })
  fc.assert(
    fc.property(grid, (steps) => {
      const carriers = carriersAt(
        steps.map((step) => 470 + 0.025 * step),
        guards,
      )
      expect(toLines(checkCarriers(carriers, { limit: 100_000 }))).toEqual(checkByBruteForce(carriers))
    }),
    { numRuns: 30 },
  )
})

/** Sets of up to twelve carriers on at most four frequencies. */
const crowdedSet = fc
  .record({
    frequencies: fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 4 }),
    carriers: fc.array(fc.record({ at: fc.nat(3), guard: fc.constantFrom(0, 50, 100) }), { maxLength: 12 }),
  })
  .map(({ frequencies, carriers }) =>
    carriers.map(({ at, guard }, index): Carrier => {
      const khz = 500_000 + 25 * (frequencies[at % frequencies.length] as number)
      const equipment = equipmentWithGuards({ spacing: 0, '2t3o': guard, '3t3o': 75, '2t5o': guard })
      return createCarrier({ id: `c${index}`, khz }, equipment)
    }),
  )

it('finds what a brute force finds if many carriers are on few frequencies', () => {
  fc.assert(
    fc.property(crowdedSet, (carriers) => {
      expect(toLines(checkCarriers(carriers, { limit: 100_000 }))).toEqual(checkByBruteForce(carriers))
    }),
    { numRuns: 300 },
  )
})

// Conformance: C-15.27.
it('finds the same when carriers are changed, added or removed', () => {
  const options = { tvInUse: [{ fromKhz: 500_000, toKhz: 501_000 }], neverOnTogether }
  const change = fc.record({ khz: fc.integer({ min: 500_000, max: 504_000 }), at: fc.nat() })
  fc.assert(
    fc.property(carrierSet, change, (carriers, { khz, at }) => {
      const shifted = carriers.map((one, index) => (index % 2 === 0 ? { ...one, khz: one.khz + khz - 500_000 } : one))
      const shiftedIds = carriers.filter((_, index) => index % 2 === 0).map(({ id }) => id)
      expect(recheckCarriers(checkCarriers(carriers, options), shifted, shiftedIds, options)).toEqual(
        checkCarriers(shifted, options),
      )
      const index = at % carriers.length
      const without = carriers.toSpliced(index, 1)
      const moved = carriers.with(index, { ...(carriers[index] as Carrier), khz })
      const [all, id] = [checkCarriers(carriers, options), `c${index}`]
      expect(recheckCarriers(all, moved, [id], options)).toEqual(checkCarriers(moved, options))
      expect(recheckCarriers(all, without, [id], options)).toEqual(checkCarriers(without, options))
      expect(recheckCarriers(checkCarriers(without, options), carriers, [id], options)).toEqual(all)
    }),
    { numRuns: 2000 },
  )
})

it('does not depend on the order of the carriers, except for which carrier of a pair is the victim', () => {
  fc.assert(
    fc.property(carrierSet, (carriers) => {
      expect(checkCarriers(carriers.toReversed()).totals).toEqual(checkCarriers(carriers).totals)
    }),
    { numRuns: 500 },
  )
})
