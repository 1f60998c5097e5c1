import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GuardLevel } from '../../contract/values.ts'
import { type Carrier, createCarrier, equipmentWithGuards, parseMhz } from './carrier.ts'
import { builtInProfiles, equipmentOf } from './profiles.ts'
import { type Suggestion, suggestCarriers, type WantedCarriers } from './suggest.ts'
import { checkByBruteForce } from './test-carriers.ts'

function wantedOf(id: string, level: GuardLevel, count: number, range: [number, number]): WantedCarriers {
  const profile = builtInProfiles.find((one) => one.id === id)
  if (profile === undefined) throw new Error(`There is no profile ${id}.`)
  return {
    profile: id,
    equipment: equipmentOf(profile, level),
    stepKhz: profile.step_khz,
    ranges: [{ fromKhz: range[0], toKhz: range[1] }],
    count,
  }
}

function toCarriers({ carriers }: Suggestion, wanted: readonly WantedCarriers[]): Carrier[] {
  return carriers.map(({ profile, mhz }, index) => {
    const { equipment } = wanted.find((one) => one.profile === profile) as WantedCarriers
    return createCarrier({ id: `new${index}`, khz: parseMhz(mhz) ?? 0 }, equipment)
  })
}

// Conformance: C-15.28.
it.each([
  ['6 MHz', 14, 476_000],
  ['8 MHz', 18, 478_000],
])('places ULX-D standard channels in %s at 350/75: %i', (_, count, toKhz) => {
  const wanted = [wantedOf('ulxd', 'standard', count, [470_000, toKhz])]
  const suggestion = suggestCarriers({ wanted })
  expect(suggestion.unplaced).toEqual([])
  expect(suggestion).not.toHaveProperty('timed_out')
  const carriers = toCarriers(suggestion, wanted)
  expect(carriers).toHaveLength(count)
  expect(checkByBruteForce(carriers)).toEqual([])
  for (const { khz } of carriers) {
    expect(khz % 25).toBe(0)
    expect(khz).toBeGreaterThanOrEqual(470_000)
    expect(khz).toBeLessThanOrEqual(toKhz)
  }
})

it('places mixed equipment beside carriers to keep', () => {
  const wanted = [
    wantedOf('ulxd', 'standard', 5, [470_000, 480_000]),
    wantedOf('psm1000', 'standard', 2, [470_000, 500_000]),
    wantedOf('ew_g4', 'standard', 2, [474_000, 500_000]),
  ]
  const keep = [472_500, 475_100, 479_700].map((khz, index) =>
    createCarrier({ id: `kept${index}`, khz }, equipmentWithGuards({ spacing: 350, '2t3o': 100 })),
  )
  const suggestion = suggestCarriers({ wanted, keep })
  expect(suggestion.unplaced).toEqual([])
  const names = suggestion.carriers.map(({ profile }) => profile)
  expect(names).toEqual([...names].sort((a, b) => profileIndex(a) - profileIndex(b)))
  expect(checkByBruteForce([...keep, ...toCarriers(suggestion, wanted)])).toEqual([])

  function profileIndex(id: string): number {
    return wanted.findIndex(({ profile }) => profile === id)
  }
})

// Conformance: C-15.8.
it('gives the same answer to the same request', () => {
  const request = { wanted: [wantedOf('ew_g4', 'robust', 6, [470_000, 478_000])] }
  expect(suggestCarriers(request)).toEqual(suggestCarriers(request))
})

describe('ranges', () => {
  const equipment = equipmentWithGuards({ spacing: 400 })
  const wanted = (fromKhz: number, toKhz: number, count: number) => [
    { profile: 'x', equipment, stepKhz: 25, ranges: [{ fromKhz, toKhz }], count },
  ]
  const mhzOf = ({ carriers }: Suggestion) => carriers.map(({ mhz }) => mhz)

  // Conformance: C-15.9.
  it('allows both ends of a range, and both ends of what to avoid', () => {
    expect(mhzOf(suggestCarriers({ wanted: wanted(500_000, 500_400, 2) }))).toEqual(['500.000', '500.400'])
    const avoid = [{ fromKhz: 500_000, toKhz: 500_400 }]
    expect(mhzOf(suggestCarriers({ wanted: wanted(500_000, 500_400, 2), avoid }))).toEqual(['500.000', '500.400'])
    expect(suggestCarriers({ wanted: wanted(500_025, 500_375, 1), avoid }).unplaced).toEqual([
      { profile: 'x', count: 1 },
    ])
  })

  it('uses multiples of the step', () => {
    expect(mhzOf(suggestCarriers({ wanted: wanted(500_001, 500_030, 1) }))).toEqual(['500.025'])
  })

  it('leaves out what touches a TV channel in use or is outside the band', () => {
    const tvInUse = [{ fromKhz: 478_000, toKhz: 486_000 }]
    expect(mhzOf(suggestCarriers({ wanted: wanted(477_875, 478_500, 1), tvInUse }))).toEqual(['477.875'])
    expect(mhzOf(suggestCarriers({ wanted: wanted(477_900, 478_500, 1), tvInUse }))).toEqual([])
    const ulxd = [wantedOf('ulxd', 'standard', 1, [811_000, 824_000])]
    expect(mhzOf(suggestCarriers({ wanted: ulxd }))).toEqual(['823.000'])
  })

  it('returns what does not fit as unplaced', () => {
    const { carriers, unplaced } = suggestCarriers({ wanted: wanted(500_000, 501_000, 5) })
    expect(carriers).toHaveLength(3)
    expect(unplaced).toEqual([{ profile: 'x', count: 2 }])
  })

  it('never suggests a frequency twice, even without a guard', () => {
    const free = [{ ...wanted(500_000, 500_050, 9)[0], equipment: equipmentWithGuards({}) } as WantedCarriers]
    expect(mhzOf(suggestCarriers({ wanted: free }))).toEqual(['500.000', '500.025', '500.050'])
  })
})

it('returns the best plan so far when the time is up', () => {
  let calls = 0
  const request = { wanted: [wantedOf('ulxd', 'standard', 40, [470_000, 478_000])] }
  const suggestion = suggestCarriers(request, () => ++calls > 2000)
  expect(suggestion.timed_out).toBe(true)
  expect(suggestion.carriers.length).toBeGreaterThan(10)
  expect(checkByBruteForce(toCarriers(suggestion, request.wanted))).toEqual([])
  expect(suggestCarriers(request, () => true)).toMatchObject({ carriers: [], timed_out: true })
})

// Conformance: C-15.8.
it('considers every frequency for every entry, however fine their steps are', () => {
  const entry = (profile: string, range: [number, number]) => ({
    ...{ profile, equipment: equipmentWithGuards({ spacing: 350, '2t3o': 75 }), stepKhz: 1, count: 2 },
    ranges: [{ fromKhz: range[0], toKhz: range[1] }],
  })
  const wanted = [entry('a', [470_000, 694_000]), entry('b', [470_000, 694_000])]
  const keep = [createCarrier({ id: 'kept', khz: 580_000 }, equipmentWithGuards({ spacing: 109_000 }))]
  const suggestion = suggestCarriers({ wanted, keep })
  expect(suggestion.unplaced).toEqual([])
  expect(suggestion).not.toHaveProperty('timed_out')
  expect(checkByBruteForce([...keep, ...toCarriers(suggestion, wanted)])).toEqual([])
})

it('takes every second step where there are too many', () => {
  const wanted = [{ ...wantedOf('ulxd', 'standard', 1, [1, 400_001]), equipment: equipmentWithGuards({}), stepKhz: 1 }]
  const avoid = [{ fromKhz: 0, toKhz: 399_999 }]
  expect(suggestCarriers({ wanted, avoid }).carriers).toEqual([{ profile: 'ulxd', mhz: '399.999' }])
  expect(suggestCarriers({ wanted }).carriers).toEqual([{ profile: 'ulxd', mhz: '0.002' }])
})

// Conformance: C-15.8.
it('suggests only sets in which a brute force finds no conflict', () => {
  const equipment = fc
    .record({
      spacing: fc.constantFrom(0, 200, 350),
      '2t3o': fc.constantFrom(0, 75, 150),
      '3t3o': fc.constantFrom(0, 0, 60),
      '2t5o': fc.constantFrom(0, 50),
    })
    .chain((guards) =>
      fc
        .record({ windowKhz: fc.constantFrom(null, 1500), isGenerator: fc.constantFrom(true, true, false) })
        .map((others) => ({ ...equipmentWithGuards(guards), ...others })),
    )
  const wanted = fc.array(fc.record({ equipment, count: fc.integer({ min: 1, max: 4 }) }), {
    minLength: 1,
    maxLength: 3,
  })
  const kept = fc.uniqueArray(
    fc.record({ khz: fc.integer({ min: 0, max: 20 }), equipment, zone: fc.constantFrom(null, null, 'B') }),
    { maxLength: 4, selector: ({ khz }) => khz },
  )
  let beside = 0
  fc.assert(
    fc.property(wanted, kept, fc.nat(100), (entries, others, offset) => {
      const request = entries.map(({ equipment: one, count }, index) => ({
        ...{ profile: `p${index}`, equipment: one, stepKhz: 25, count },
        ranges: [{ fromKhz: 500_000 + 25 * offset, toKhz: 505_000 + 25 * offset }],
      }))
      const keep = others.map(({ khz, zone, equipment: one }, index) =>
        createCarrier({ id: `kept${index}`, khz: 500_000 + 25 * offset + 260 * khz, zone }, one),
      )
      let calls = 0
      const placed = toCarriers(
        suggestCarriers({ wanted: request, keep }, () => ++calls > 5000),
        request,
      )
      const conflictsOf = (carriers: readonly Carrier[]) => new Set(checkByBruteForce(carriers))
      // The carriers to keep may conflict with each other.
      expect(conflictsOf([...keep, ...placed])).toEqual(conflictsOf(keep))
      if (keep.length > 0) beside += placed.length
    }),
    { numRuns: 20 },
  )
  expect(beside).toBeGreaterThan(20)
})
