import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GuardLevel } from '../../contract/values.ts'
import { type Carrier, createCarrier, equipmentWithGuards, type Guards, parseMhz } from './carrier.ts'
import { builtInProfiles, equipmentOf } from './profiles.ts'
import { type Suggestion, type SuggestRequest, suggestCarriers, type WantedCarriers } from './suggest.ts'
import { carriersAt, checkByBruteForce, measuredWith, scanOf } from './test-carriers.ts'

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
      { profile: 'x', count: 1, reason: { kind: 'outside_band', by: [] } },
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
    expect(unplaced).toMatchObject([{ profile: 'x', count: 2, reason: { kind: 'spacing' } }])
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
  expect(suggestCarriers({ wanted, avoid }).carriers).toEqual([
    { profile: 'ulxd', mhz: '399.999', soft: [], measured: 'unmeasured' },
  ])
  expect(suggestCarriers({ wanted }).carriers).toEqual([
    { profile: 'ulxd', mhz: '0.002', soft: [], measured: 'unmeasured' },
  ])
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

/** Wanted carriers on any of these frequencies. */
function wantedAt(mhz: readonly number[], guards: Partial<Guards>, properties: Partial<WantedCarriers> = {}) {
  const ranges = mhz.map((value) => ({ fromKhz: Math.round(value * 1000), toKhz: Math.round(value * 1000) }))
  return { profile: 'x', equipment: equipmentWithGuards(guards), stepKhz: 1, ranges, count: mhz.length, ...properties }
}

function mhzOf({ carriers }: Suggestion): string[] {
  return carriers.map(({ mhz }) => mhz)
}

// Conformance: C-23.93.
describe('carriers that are never on together', () => {
  const neverOnTogether = [['act 1', 'act 2']]
  const acts = (groups: readonly string[]) =>
    groups.map((group) => wantedAt([500, 500.1], { spacing: 400 }, { count: 1, groups: [group] }))

  it('may be on one frequency', () => {
    const { carriers, unplaced } = suggestCarriers({ wanted: acts(['act 1', 'act 2']), neverOnTogether })
    expect(carriers).toMatchObject([
      { mhz: '500.000', groups: ['act 1'] },
      { mhz: '500.000', groups: ['act 2'] },
    ])
    expect(unplaced).toEqual([])
    expect(mhzOf(suggestCarriers({ wanted: acts(['act 1', 'act 1']), neverOnTogether }))).toEqual(['500.000'])
  })

  it('do not block each other, and neither do those to keep', () => {
    const keep = carriersAt([500, 506], { '2t3o': 75 }).map((carrier) => ({ ...carrier, groups: ['act 1'] }))
    const wanted = (groups: string[]) => [wantedAt([494], { spacing: 350, '2t3o': 75 }, { groups })]
    expect(mhzOf(suggestCarriers({ wanted: wanted(['act 2']), keep, neverOnTogether }))).toEqual(['494.000'])
    expect(suggestCarriers({ wanted: wanted(['act 1']), keep, neverOnTogether }).unplaced).toEqual([
      {
        ...{ profile: 'x', groups: ['act 1'], count: 1 },
        reason: { kind: '2t3o', by: ['500.000', '506.000'] },
      },
    ])
  })
})

// Conformance: C-23.94.
it('counts products within zones only, and the spacing between them', () => {
  const guards = { spacing: 350, '2t3o': 75 }
  const wanted = (zone: string) => [
    wantedAt([500, 506], guards, { zone: 'A' }),
    wantedAt([494, 506.1], guards, { zone, count: 1 }),
  ]
  expect(suggestCarriers({ wanted: wanted('B') })).toMatchObject({
    carriers: [{ mhz: '500.000' }, { mhz: '506.000', zone: 'A' }, { mhz: '494.000', zone: 'B' }],
    unplaced: [],
  })
  const { unplaced } = suggestCarriers({ wanted: wanted('A') })
  expect(unplaced).toHaveLength(1)
  expect(unplaced[0]).toMatchObject({ zone: 'A', count: 1 })
})

// Conformance: C-23.95.
it('places the greatest priority first', () => {
  const wanted = [1, 3, 2].map((priority) =>
    wantedAt([500, 500.4], { spacing: 400 }, { profile: `p${priority}`, count: 1, priority }),
  )
  const { carriers, unplaced } = suggestCarriers({ wanted })
  expect(carriers.map(({ profile, mhz }) => `${profile} ${mhz}`)).toEqual(['p3 500.000', 'p2 500.400'])
  expect(unplaced).toMatchObject([{ profile: 'p1', count: 1 }])
})

// Conformance: C-23.96.
describe('spares', () => {
  it('are free against all carriers and each other, whatever their zones and groups', () => {
    const guards = { spacing: 350, '2t3o': 75 }
    const keep = carriersAt([500, 506], guards, ['A']).map((carrier) => ({ ...carrier, groups: ['act 1'] }))
    const wanted = [wantedAt([494, 500, 512.5, 520], guards, { zone: 'B', groups: ['act 2'], count: 1, spares: 5 })]
    const { carriers, spares, unplaced } = suggestCarriers({ wanted, keep, neverOnTogether: [['act 1', 'act 2']] })
    expect(carriers).toMatchObject([{ mhz: '494.000' }])
    // 494 MHz has a product with the carriers of zone A, and 500 MHz is used there.
    expect(spares).toEqual([
      { profile: 'x', mhz: '512.500' },
      { profile: 'x', mhz: '520.000' },
    ])
    expect(unplaced).toEqual([])
  })

  it('leave the frequencies to carriers', () => {
    const wanted = [
      wantedAt([500], {}, { profile: 'a', count: 1, spares: 1, priority: 1 }),
      wantedAt([500, 501, 502], { spacing: 400 }, { profile: 'b', count: 2, spares: 3 }),
    ]
    const { carriers, spares } = suggestCarriers({ wanted })
    expect(carriers.map(({ profile, mhz }) => `${profile} ${mhz}`)).toEqual(['a 500.000', 'b 501.000', 'b 502.000'])
    expect(spares).toEqual([])
  })
})

// Conformance: C-23.97.
describe('soft kinds', () => {
  const guards = { spacing: 350, '2t5o': 90 }
  const soft = ['2t5o'] as const

  it('are ignored only where a carrier cannot be placed otherwise', () => {
    const keep = carriersAt([500, 500.8], guards)
    const wanted = (mhz: readonly number[]) => [wantedAt(mhz, guards, { count: 1 })]
    expect(suggestCarriers({ wanted: wanted([498.4, 510]), keep, soft }).carriers).toEqual([
      { profile: 'x', mhz: '510.000', soft: [], measured: 'unmeasured' },
    ])
    expect(mhzOf(suggestCarriers({ wanted: wanted([498.4]), keep }))).toEqual([])
    expect(suggestCarriers({ wanted: wanted([498.4]), keep, soft })).toEqual({
      carriers: [{ profile: 'x', mhz: '498.400', soft: ['2t5o'], measured: 'unmeasured' }],
      spares: [],
      unplaced: [],
    })
  })

  it('mark a carrier that generates a product on one to keep', () => {
    const keep = carriersAt([500, 498.4], guards)
    const wanted = [wantedAt([500.8], { spacing: 350 })]
    expect(suggestCarriers({ wanted, keep, soft }).carriers).toMatchObject([{ mhz: '500.800', soft: ['2t5o'] }])
  })

  it('may be TV channels, readings, peaks and the spacing', () => {
    const measured = measuredWith([
      scanOf(1, [
        [501, -50],
        [511.3, -80],
      ]),
    ])
    const tvInUse = [{ fromKhz: 520_000, toKhz: 526_000 }]
    const keep = carriersAt([530], { spacing: 350 })
    const wanted = [wantedAt([500.5, 511.3, 521, 530.1], { spacing: 350 })]
    const request = { wanted, keep, tvInUse, measured }
    expect(mhzOf(suggestCarriers(request))).toEqual([])
    const { carriers } = suggestCarriers({ ...request, soft: ['tv', 'occupied', 'peak', 'spacing'] })
    expect(carriers.map(({ mhz, soft: kinds }) => [mhz, ...kinds])).toEqual([
      ['500.500', 'peak'],
      ['511.300', 'occupied'],
      ['521.000', 'tv'],
      ['530.100', 'spacing'],
    ])
  })
})

// Conformance: C-23.98.
describe('the reason why a carrier is not placed', () => {
  const reasonOf = (wanted: WantedCarriers, request: Omit<SuggestRequest, 'wanted'> = {}) =>
    suggestCarriers({ ...request, wanted: [wanted] }).unplaced[0]?.reason

  it('is the kind that blocks most frequencies, and names the carriers, peaks or scans', () => {
    const guards = { spacing: 350, '2t3o': 75 }
    const keep = carriersAt([500, 506, 494.1], guards)
    expect(reasonOf(wantedAt([494, 499.9, 500, 512], guards), { keep })).toEqual({
      kind: 'spacing',
      by: ['500.000', '494.100'],
    })
    const measured = measuredWith([scanOf(7, [[500, -80]])])
    expect(reasonOf(wantedAt([500], guards), { measured })).toEqual({ kind: 'occupied', by: ['scan:7'] })
    const strong = measuredWith([scanOf(7, [[500.5, -50]])])
    expect(reasonOf(wantedAt([500], guards), { measured: strong })).toEqual({ kind: 'peak', by: ['peak:500.500'] })
    const tvInUse = [{ fromKhz: 494_000, toKhz: 502_000 }]
    expect(reasonOf(wantedAt([500], guards), { tvInUse })).toEqual({ kind: 'tv', by: [] })
    const equipment = { ...equipmentWithGuards(guards), ranges: [{ fromKhz: 600_000, toKhz: 610_000 }] }
    expect(reasonOf(wantedAt([500], guards, { equipment }))).toEqual({ kind: 'outside_band', by: [] })
  })

  it('names carriers of the suggestion by their frequency', () => {
    const placed = { spacing: 350, '2t3o': 75 }
    expect(reasonOf(wantedAt([500, 506, 512, 494], placed))).toEqual({
      kind: 'spacing',
      by: ['new:494.000', 'new:500.000', 'new:512.000'],
    })
    const wanted = [wantedAt([500, 506], placed), wantedAt([512, 494], placed, { profile: 'y', priority: -1 })]
    expect(suggestCarriers({ wanted }).unplaced).toMatchObject([
      { profile: 'y', reason: { kind: '2t3o', by: ['new:500.000', 'new:506.000'] } },
    ])
  })

  it('is of two equally frequent kinds the first one, and no soft one', () => {
    const keep = carriersAt([500], { spacing: 350 })
    const tvInUse = [{ fromKhz: 494_000, toKhz: 502_000 }]
    const wanted = wantedAt([500.1], { spacing: 350 })
    expect(reasonOf(wanted, { keep, tvInUse })).toEqual({ kind: 'spacing', by: ['500.000'] })
    expect(reasonOf(wanted, { keep, tvInUse, soft: ['spacing'] })).toEqual({ kind: 'tv', by: [] })
  })

  it('is the time if none was tried', () => {
    const { unplaced } = suggestCarriers({ wanted: [wantedAt([500], {})] }, () => true)
    expect(unplaced).toMatchObject([{ count: 1, reason: { kind: 'time', by: [] } }])
  })
})
