/** Checks and suggestions of frequencies that need seconds of processor time. */

import { describe, expect, it } from 'vitest'
import type { GuardLevel } from '../../contract/values.ts'
import { type Carrier, createCarrier, equipmentWithGuards, isInBand, isInRange, parseMhz } from './carrier.ts'
import { checkCarriers } from './check.ts'
import { findReading, stateOf } from './measured.ts'
import { builtInProfiles, equipmentOf } from './profiles.ts'
import { createRandom } from './random.ts'
import { type Suggestion, type SuggestRequest, suggestCarriers, type WantedCarriers } from './suggest.ts'
import { checkByBruteForce, checkPeaksByBruteForce, createMixedRequest, measuredWith, scanOf } from './test-carriers.ts'

// Comparing all pairs with all pairs would take an hour.
it('checks 1,000 carriers on one frequency', () => {
  const equipment = equipmentWithGuards({ spacing: 350, '2t3o': 75, '3t3o': 50, '2t5o': 90 })
  const carriers = Array.from(
    { length: 1000 },
    (_, index): Carrier => createCarrier({ id: `c${index}`, khz: 500_000 }, equipment),
  )
  const { totals } = checkCarriers(carriers)
  expect(Object.entries(totals).filter(([, count]) => count > 0)).toEqual([['duplicate', 499_500]])
})

it('gives the same answer to a request that takes seconds', () => {
  const profile = builtInProfiles.find(({ id }) => id === 'ew_g4')
  if (profile === undefined) throw new Error('There is no profile ew_g4.')
  const ranges = [{ fromKhz: 470_000, toKhz: 478_000 }]
  const equipment = equipmentOf(profile, 'robust')
  const request = { wanted: [{ profile: profile.id, equipment, stepKhz: profile.step_khz, ranges, count: 9 }] }
  expect(suggestCarriers(request)).toEqual(suggestCarriers(request))
})

function wantedOf(id: string, level: GuardLevel, count: number, fromKhz: number, toKhz: number): WantedCarriers {
  const profile = builtInProfiles.find((one) => one.id === id)
  if (profile === undefined) throw new Error(`There is no profile ${id}.`)
  const equipment = equipmentOf(profile, level)
  return { profile: id, equipment, stepKhz: profile.step_khz, ranges: [{ fromKhz, toKhz }], count }
}

function toCarriers({ carriers }: Pick<Suggestion, 'carriers'>, { wanted }: SuggestRequest): Carrier[] {
  return carriers.map(({ profile, mhz, zone = null, groups = [] }) => {
    const { equipment } = wanted.find((one) => one.profile === profile) as WantedCarriers
    return createCarrier({ id: `new:${mhz} ${zone}`, khz: parseMhz(mhz) ?? 0, zone, groups }, equipment)
  })
}

// Conformance: C-23.101.
describe('as many carriers as before', () => {
  // The sets of EasyHF: 3T3O, placed with 2T5O, without it, and by EasyHF.
  it.each([
    [200, 25, 27, 27],
    [150, 29, 30, 29],
    [100, 36, 37, 37],
    [75, 36, 38, 37],
    [50, 45, 46, 46],
    [25, 54, 57, 57],
  ])('a guard for 3T3O of %i kHz: %i, without 2T5O %i, of EasyHF %i', (threeThird, hard, without, easyHf) => {
    const requestWith = (twoFifth: number): SuggestRequest => ({
      wanted: [
        {
          ...{ profile: 'x', stepKhz: 25, ranges: [{ fromKhz: 470_100, toKhz: 693_900 }], count: 80 },
          equipment: equipmentWithGuards({ spacing: 300, '2t3o': 200, '3t3o': threeThird, '2t5o': twoFifth }),
        },
      ],
    })
    const placedOf = (request: SuggestRequest) => suggestCarriers(request).carriers.length
    expect(placedOf(requestWith(90))).toBeGreaterThanOrEqual(hard)
    expect(placedOf(requestWith(0))).toBeGreaterThanOrEqual(without)
    const request = { ...requestWith(90), soft: ['2t5o'] as const }
    const suggestion = suggestCarriers(request)
    expect(suggestion.carriers.length).toBeGreaterThanOrEqual(easyHf)
    // Exactly the marked carriers have conflicts, of this kind only.
    const { victims, totals } = checkCarriers(toCarriers(suggestion, request))
    const marked = suggestion.carriers.filter(({ soft }) => soft.length > 0)
    expect(marked.map(({ mhz }) => `new:${mhz} null`).sort()).toEqual(Object.keys(victims).sort())
    expect(Object.entries(totals).filter(([, count]) => count > 0)).toEqual([['2t5o', expect.any(Number)]])
    expect(suggestion.unplaced).toMatchObject([{ reason: { kind: '3t3o' } }])
  })

  it.each([
    ['ulxd', 'standard', 470_125, 534_000, 40, 40],
    ['ulxd', 'standard', 470_125, 534_000, 60, 60],
    ['ulxd', 'standard', 470_125, 534_000, 80, 72],
    ['ulxd', 'standard', 470_125, 534_000, 120, 72],
    ['ulxd', 'robust', 470_125, 607_875, 80, 80],
    ['ulxd', 'robust', 470_125, 607_875, 120, 83],
    ['ewdx', 'standard', 470_200, 550_000, 120, 120],
    ['psm1000', 'standard', 470_000, 542_000, 40, 30],
    ['ew_g4', 'standard', 566_000, 608_000, 40, 15],
  ] as const)('%s %s from %i to %i kHz: of %i at least %i', (id, level, fromKhz, toKhz, count, expected) => {
    const request = { wanted: [wantedOf(id, level, count, fromKhz, toKhz)] }
    const suggestion = suggestCarriers(request)
    expect(suggestion.carriers.length).toBeGreaterThanOrEqual(expected)
    expect(checkCarriers(toCarriers(suggestion, request)).conflicts).toEqual([])
  })
})

// Conformance: C-23.102.
it('places 120 mixed carriers beside two scans, or names the reason for each', () => {
  const request = createMixedRequest()
  const suggestion = suggestCarriers(request)
  const unplaced = suggestion.unplaced.reduce((sum, { count }) => sum + count, 0)
  expect(suggestion.carriers.length + unplaced).toBe(120)
  for (const { reason } of suggestion.unplaced) expect(reason.by.length, reason.kind).toBeGreaterThan(0)
  const { conflicts } = checkCarriers(toCarriers(suggestion, request), { measured: request.measured ?? null })
  expect(conflicts).toEqual([])
  const withoutScans = suggestCarriers({ ...request, measured: null })
  expect(withoutScans.carriers.length).toBeGreaterThanOrEqual(112)
})

// Conformance: C-23.92.
it('finds Golomb rulers of the shortest length, and none that is shorter', () => {
  const placedIn = (steps: number, count: number) => {
    const equipment = equipmentWithGuards({ spacing: 25, '2t3o': 25, '3t3o': 25 })
    const ranges = [{ fromKhz: 500_000, toKhz: 500_000 + 25 * steps }]
    return suggestCarriers({ wanted: [{ profile: 'x', equipment, stepKhz: 25, ranges, count }] }).carriers.length
  }
  expect([placedIn(6, 4), placedIn(11, 5), placedIn(17, 6)]).toEqual([4, 5, 6])
  expect([placedIn(5, 4), placedIn(10, 5), placedIn(16, 6)]).toEqual([3, 4, 5])
})

const neverOnTogether = [
  ['act 1', 'act 2'],
  ['act 2', 'act 3', 4],
]

/** A request with every rule: mixed equipment, zones, groups, locked carriers, spares, peaks, TV and bands. */
function createRequest(seed: number): Required<SuggestRequest> {
  const random = createRandom(seed)
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
  const createEquipment = () => ({
    ...equipmentWithGuards({
      spacing: pick([0, 200, 350]),
      '2t3o': pick([0, 75, 150]),
      '3t3o': pick([0, 0, 60]),
      '2t5o': pick([0, 50]),
    }),
    windowKhz: pick([null, null, 1500]),
    isGenerator: pick([true, true, true, false]),
    ranges: pick([[], [{ fromKhz: 500_500, toKhz: 503_000 }]]),
  })
  const zone = () => pick([undefined, undefined, 'A'])
  const groups = () => pick([[], ['act 1'], ['act 2'], [4], ['act 1', 'act 3'], ['other']])
  const khz = () => 500_000 + 25 * Math.floor(random() * 120)
  const keep = [1, 2, 3].map((id) =>
    createCarrier({ id: `kept${id}`, khz: khz(), zone: zone() ?? null, groups: groups() }, createEquipment()),
  )
  const strong = new Set([khz(), khz()].slice(0, Math.floor(random() * 3)))
  const weak = khz()
  const readings = Array.from({ length: 121 }, (_, step) => {
    const at = 500_000 + 25 * step
    // A peak beside another one is one with it.
    const isPeak = strong.has(at) && !strong.has(at - 25)
    return [at / 1000, isPeak ? -50 : at === weak ? -80 : -100] as const
  })
  const wanted = [0, 1].map((index): WantedCarriers => {
    const [fromKhz, inZone] = [khz(), zone()]
    return {
      profile: `p${index}`,
      equipment: createEquipment(),
      stepKhz: 25,
      ranges: [{ fromKhz, toKhz: Math.min(503_000, fromKhz + 1500) }],
      ...{ count: 1 + Math.floor(random() * 4), groups: groups(), priority: pick([0, 0, 1]), spares: pick([0, 0, 2]) },
      ...(inZone !== undefined && { zone: inZone }),
    }
  })
  return {
    ...{ wanted, keep, neverOnTogether, soft: [], avoid: [] },
    tvInUse: pick([[], [{ fromKhz: 501_000, toKhz: 501_500 }]]),
    measured: pick([null, measuredWith([scanOf(1, readings)], { peakSpacingKhz: pick([300, 150]) })]),
  }
}

/** Returns all conflicts of the carriers with each other and with peaks. */
function checkAll(carriers: readonly Carrier[], { measured, keep }: Required<SuggestRequest>): readonly string[] {
  const found = checkByBruteForce(carriers, neverOnTogether)
  return measured === null
    ? found
    : [...found, ...checkPeaksByBruteForce(carriers, measured, { neverOnTogether, own: keep })]
}

/** Returns the kinds of conflicts that a carrier at a frequency has or causes. */
function kindsAt(khz: number, wanted: WantedCarriers, present: readonly Carrier[], request: Required<SuggestRequest>) {
  const { zone = null, groups = [], equipment } = wanted
  const carrier = createCarrier({ id: 'tried', khz, zone, groups }, equipment)
  const involved = checkAll([...present, carrier], request).filter((line) => /\btried\b/.test(line))
  const kinds = new Set(involved.map((line) => (line.split(' ')[0] ?? '').replace('duplicate', 'spacing')))
  const { measured, tvInUse } = request
  if (!isInBand(equipment, khz)) kinds.add('outside_band')
  const touches = tvInUse.some((range) => isInRange(khz, { fromKhz: range.fromKhz - 100, toKhz: range.toKhz + 100 }))
  if (touches) kinds.add('tv')
  if (measured !== null && stateOf(findReading(measured, carrier), measured) === 'occupied') kinds.add('occupied')
  return kinds
}

const order = ['spacing', '2t3o', '3t3o', '2t5o', '2t7o', '2t9o', 'occupied', 'peak', 'tv', 'outside_band']

// Conformance: C-23.103.
it('agrees with a brute force on random sets', () => {
  const counts = { placed: 0, spares: 0, unplaced: 0 }
  for (let seed = 1; seed <= 60; seed++) {
    const request = createRequest(seed)
    const suggestion = suggestCarriers(request)
    const carriers = [...request.keep, ...toCarriers(suggestion, request)]
    // The carriers to keep may conflict with each other.
    const ofKept = checkAll(request.keep, request)
    expect(checkAll(carriers, request), `seed ${seed}`).toEqual(ofKept)
    for (const zone of [null, 'A']) {
      const spares = suggestion.spares.map((spare) => ({ ...spare, soft: [], measured: 'free' as const }))
      const placed = toCarriers({ carriers: spares }, request).map((carrier) => ({ ...carrier, zone }))
      const named = placed.map((carrier, index) => ({ ...carrier, id: `spare${index}` }))
      expect(checkAll([...carriers, ...named], request), `spares of seed ${seed}`).toEqual(ofKept)
    }
    for (const { profile, reason } of suggestion.unplaced) {
      const wanted = request.wanted.find((one) => one.profile === profile) as WantedCarriers
      const { fromKhz, toKhz } = wanted.ranges[0] ?? { fromKhz: 0, toKhz: 0 }
      const tried = Array.from({ length: (toKhz - fromKhz) / 25 + 1 }, (_, step) =>
        kindsAt(fromKhz + 25 * step, wanted, carriers, request),
      )
      expect(
        tried.every(({ size }) => size > 0),
        `seed ${seed}`,
      ).toBe(true)
      const frequencies = order.map((kind) => tried.filter((kinds) => kinds.has(kind)).length)
      expect(reason.kind, `seed ${seed}`).toBe(order[frequencies.indexOf(Math.max(...frequencies))])
      counts.unplaced++
    }
    counts.placed += suggestion.carriers.length
    counts.spares += suggestion.spares.length
  }
  expect(counts.placed).toBeGreaterThan(100)
  expect(counts.spares).toBeGreaterThan(10)
  expect(counts.unplaced).toBeGreaterThan(10)
})
