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
  const request = { wanted: [wantedOf('ew_g4', 'robust', 9, [470_000, 478_000])] }
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
it('suggests only sets in which a brute force finds no conflict', () => {
  const guards = fc.record({
    spacing: fc.constantFrom(0, 200, 350),
    '2t3o': fc.constantFrom(0, 75, 150),
    '3t3o': fc.constantFrom(0, 0, 60),
    '2t5o': fc.constantFrom(0, 50),
  })
  const wanted = fc.array(fc.record({ guards, count: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(wanted, fc.nat(100), (entries, offset) => {
      const request = entries.map(({ guards: values, count }, index) => ({
        profile: `p${index}`,
        equipment: equipmentWithGuards(values),
        stepKhz: 25,
        ranges: [{ fromKhz: 500_000 + 25 * offset, toKhz: 505_000 + 25 * offset }],
        count,
      }))
      let calls = 0
      const suggestion = suggestCarriers({ wanted: request }, () => ++calls > 5000)
      expect(checkByBruteForce(toCarriers(suggestion, request))).toEqual([])
    }),
    { numRuns: 60 },
  )
})
