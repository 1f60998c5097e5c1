import { describe, expect, it } from 'vitest'
import { type Carrier, createCarrier, equipmentWithGuards, type Guards } from './carrier.ts'
import { type CheckedChannel, checkCarriers, recheckCarriers, toCheckedCarriers } from './check.ts'
import type { CheckResult } from './conflict.ts'
import { carriersAt, toLines } from './test-carriers.ts'

const c10 = [
  534, 534.475, 535.2, 536.75, 538.5, 540.6, 541.425, 544, 545.65, 548.125, 551.625, 556.475, 606, 606.375, 607,
  608.375, 616.1, 621.7, 625.4, 630.7, 633.85, 646.2, 648.075, 656.025,
]
const t3 = [485, 486.625, 488.175, 488.725, 490.125, 495.025, 498.475, 499.875]
const t4 = [
  470.125, 470.475, 470.9, 471.25, 471.75, 472.1, 472.525, 472.875, 473.45, 473.875, 474.225, 474.65, 475.35, 475.725,
  476.175, 476.925,
]

function totalsOf({ totals }: CheckResult): Record<string, number> {
  return Object.fromEntries(Object.entries(totals).filter(([, count]) => count > 0))
}

function checkAt(mhz: readonly number[], guards: Partial<Guards>, zones?: readonly string[]): CheckResult {
  return checkCarriers(carriersAt(mhz, guards, zones))
}

// Conformance: C-15.21.
describe('T1: the products of three carriers in the guide of Shure', () => {
  const sources = [200, 195, 187]

  /** Returns the products, each found as a hit at offset 0 on a carrier placed there. */
  function productsOf(kind: keyof Guards): number[] {
    const products: number[] = []
    for (let mhz = 120; mhz <= 260; mhz++) {
      if (sources.includes(mhz)) continue
      const carriers = [
        ...carriersAt(sources, {}),
        createCarrier({ id: 'victim', khz: mhz * 1000 }, equipmentWithGuards({ [kind]: 1 })),
      ]
      const { conflicts } = checkCarriers(carriers)
      if (conflicts.some(({ generators }) => !generators.includes('victim'))) products.push(mhz)
    }
    return products
  }

  it.each([
    ['3t3o', [182, 192, 208]],
    ['2t3o', [174, 179, 190, 203, 205, 213]],
    ['2t5o', [161, 171, 185, 210, 211, 226]],
    ['2t7o', [148, 163, 180, 215, 219, 239]],
    ['2t9o', [135, 155, 175, 220, 227, 252]],
  ] as const)('finds the products of order %s', (kind, expected) => {
    expect(productsOf(kind)).toEqual(expected)
  })

  it('finds no product within 2 MHz of a third carrier', () => {
    expect(totalsOf(checkAt(sources, { '2t3o': 2000, '3t3o': 2000, '2t5o': 2000 }))).toEqual({})
  })
})

// Conformance: C-15.21.
describe('T2: cases that were run in Wireless Workbench', () => {
  const guards = { spacing: 350, '2t3o': 200, '2t5o': 90, '3t3o': 100 }

  it('C01: two carriers do not conflict', () => {
    expect(totalsOf(checkAt([500, 510], guards))).toEqual({})
  })

  it('C02: finds both products of the second carrier and its neighbours', () => {
    const result = checkAt([500, 506, 494], guards)
    expect(totalsOf(result)).toEqual({ '2t3o': 2 })
    expect(result.conflicts).toEqual([
      {
        victim: '506.000',
        kind: '2t3o',
        product_mhz: '506.000',
        offset_khz: 0,
        guard_khz: 200,
        generators: ['500.000', '494.000'],
      },
      {
        victim: '494.000',
        kind: '2t3o',
        product_mhz: '494.000',
        offset_khz: 0,
        guard_khz: 200,
        generators: ['500.000', '506.000'],
      },
    ])
  })

  it('C03: a product at the guard is compatible', () => {
    expect(totalsOf(checkAt([500, 506, 494.2], guards))).toEqual({})
    expect(totalsOf(checkAt([500, 506, 494.2], { ...guards, '2t3o': 201 }))).toEqual({ '2t3o': 2 })
  })

  it('C04: finds a product of three carriers on each of four', () => {
    const result = checkAt([500, 505.3, 508.4, 513.7], guards)
    expect(totalsOf(result)).toEqual({ '3t3o': 4 })
    expect(result.victims).toEqual({ '500.000': 1, '505.300': 1, '508.400': 1, '513.700': 1 })
    expect(result.conflicts.every(({ offset_khz }) => offset_khz === 0)).toBe(true)
  })

  it('C05: finds a product of fifth order', () => {
    const { conflicts, totals } = checkAt([500, 500.8, 498.4], guards)
    expect(totals['2t5o']).toBe(1)
    expect(conflicts).toMatchObject([{ kind: '2t5o', victim: '498.400', generators: ['500.000', '500.800'] }])
  })

  it('C06: finds the products of eight equidistant carriers', () => {
    const mhz = Array.from({ length: 8 }, (_, index) => 500 + 0.8 * index)
    const result = checkAt(mhz, guards)
    expect(totalsOf(result)).toEqual({ '2t3o': 24, '3t3o': 88, '2t5o': 14 })
    expect(result.conflicts.every(({ offset_khz }) => offset_khz === 0)).toBe(true)
    expect(Object.keys(result.victims)).toHaveLength(8)
    const higher = checkAt(mhz, { ...guards, '2t7o': 90, '2t9o': 90 })
    expect(totalsOf(higher)).toEqual({ '2t3o': 24, '3t3o': 88, '2t5o': 14, '2t7o': 8, '2t9o': 6 })
  })

  it('C09: finds no products across zones', () => {
    expect(totalsOf(checkAt([500, 506, 494], guards, ['1', '1', '2']))).toEqual({})
  })

  it('checks the spacing across zones', () => {
    expect(checkAt([500, 500.1], guards, ['1', '2']).conflicts).toEqual([
      {
        victim: '500.100',
        kind: 'spacing',
        product_mhz: null,
        offset_khz: -100,
        guard_khz: 350,
        generators: ['500.000'],
      },
    ])
  })

  it('checks the spacing within a zone', () => {
    expect(totalsOf(checkAt([500, 500.3], guards))).toEqual({ spacing: 1 })
    expect(totalsOf(checkAt([500, 500.6], guards))).toEqual({})
    expect(totalsOf(checkAt([500, 500.35], guards))).toEqual({})
  })

  it.each([
    [200, 90, 100, {}],
    [201, 91, 101, { '2t3o': 6, '3t3o': 96 }],
    [250, 150, 150, { '2t3o': 6, '2t5o': 9, '3t3o': 120 }],
  ])('C10: 24 carriers with the guards %i, %i and %i', (twoThird, twoFifth, threeThird, expected) => {
    expect(totalsOf(checkAt(c10, { spacing: 350, '2t3o': twoThird, '2t5o': twoFifth, '3t3o': threeThird }))).toEqual(
      expected,
    )
  })
})

// Conformance: C-15.21.
describe('T3: eight carriers', () => {
  const all = { '2t3o': 200, '3t3o': 100, '2t5o': 90, '2t7o': 90, '2t9o': 90 }

  it.each([
    [{ '2t3o': 75 }, { '2t3o': 2 }],
    [{ '2t3o': 150 }, { '2t3o': 4 }],
    [
      { '2t3o': 200, '3t3o': 50 },
      { '2t3o': 4, '3t3o': 4 },
    ],
    [all, { '2t3o': 4, '3t3o': 8, '2t5o': 1, '2t7o': 2 }],
  ])('counts the hits with %j', (guards, expected) => {
    expect(totalsOf(checkAt(t3, guards))).toEqual(expected)
  })

  it('finds one hit if alternate carriers are in two zones', () => {
    const result = checkAt(t3, all, ['A', 'B'])
    expect(totalsOf(result)).toEqual({ '2t7o': 1 })
    expect(result.conflicts).toMatchObject([{ victim: '495.025', generators: ['488.725', '486.625'] }])
  })

  it('names the generators of every hit', () => {
    expect(toLines(checkAt(t3, all))).toEqual(
      [
        '2t3o 488.175 75 486.625,485.000',
        '2t3o 485.000 75 486.625,488.175',
        '2t3o 499.875 50 495.025,490.125',
        '2t3o 490.125 50 495.025,499.875',
        '3t3o 495.025 -50 486.625,498.475,490.125',
        '3t3o 490.125 -50 486.625,498.475,495.025',
        '3t3o 498.475 50 490.125,495.025,486.625',
        '3t3o 486.625 50 490.125,495.025,498.475',
        '3t3o 498.475 0 488.725,499.875,490.125',
        '3t3o 490.125 0 488.725,499.875,498.475',
        '3t3o 499.875 0 490.125,498.475,488.725',
        '3t3o 488.725 0 490.125,498.475,499.875',
        '2t5o 488.175 -50 495.025,498.475',
        '2t7o 499.875 25 488.725,485.000',
        '2t7o 495.025 0 488.725,486.625',
      ].sort(),
    )
  })
})

// Conformance: C-15.21.
describe('T4: sixteen carriers', () => {
  it.each([
    ['2t3o', 75, 0],
    ['2t3o', 76, 42],
    ['2t3o', 100, 42],
    ['2t3o', 101, 46],
    ['2t3o', 150, 56],
    ['2t3o', 200, 92],
    ['3t3o', 25, 136],
    ['3t3o', 50, 216],
    ['3t3o', 100, 512],
    ['2t5o', 50, 14],
    ['2t5o', 90, 38],
  ] as const)('with a guard for %s of %i kHz', (kind, guard, hits) => {
    // The carriers are also tested for 2T3O without a hit, so that 3T3O alone does not count the residues of 2T3O.
    expect(checkAt(t4, { '2t3o': 1, [kind]: guard }).totals[kind]).toBe(hits)
  })

  it('counts the victims', () => {
    expect(Object.keys(checkAt(t4, { '2t3o': 1, '3t3o': 25 }).victims)).toHaveLength(15)
    expect(Object.keys(checkAt(t4, { '2t5o': 50 }).victims)).toHaveLength(10)
  })
})

// Conformance: C-23.92.
it.each([
  [[0, 1, 4, 6], {}],
  [[0, 1, 4, 9, 11], {}],
  [[0, 1, 4, 10, 12, 17], {}],
  [[0, 1, 2], { '2t3o': 2 }],
] as const)('the marks %j of a Golomb ruler have no product of third order within a step', (marks, expected) => {
  const mhz = marks.map((mark) => 500 + 0.025 * mark)
  expect(totalsOf(checkAt(mhz, { '2t3o': 25, '3t3o': 25 }))).toEqual(expected)
})

// Conformance: C-15.21.
it.each([
  ['T3', t3, { '2t3o': 56, '3t3o': 168, '2t5o': 56 }],
  ['T4', t4, { '2t3o': 240, '3t3o': 1680, '2t5o': 240 }],
  ['C10', c10, { '2t3o': 552, '3t3o': 6072, '2t5o': 552 }],
] as const)('%s: finds every product', (_, mhz, products) => {
  // The carrier makes no products, and every product is within these guards.
  const guards = { '2t3o': 1_000_000, '3t3o': 1_000_000, '2t5o': 1_000_000 }
  const victim = createCarrier({ id: 'victim', khz: 1_234_567 }, { ...equipmentWithGuards(guards), isGenerator: false })
  const { totals, conflicts } = checkCarriers([...carriersAt(mhz, {}), victim], { limit: 10_000 })
  expect(totals).toMatchObject(products)
  const distances = conflicts.map(({ offset_khz }) => Math.abs(offset_khz ?? 0))
  expect(Math.min(...distances)).toBeGreaterThan(8000)
  expect(distances).toEqual(distances.toSorted((a, b) => a - b))
})

describe('exclusions', () => {
  // Conformance: C-15.22.
  it('T5: counts only products with all generators in the window of the victim', () => {
    const carriers = carriersAt([470, 560, 650], { '2t3o': 75 })
    expect(totalsOf(checkCarriers(carriers))).toEqual({ '2t3o': 2 })
    expect(totalsOf(checkCarriers(carriers.map((carrier) => ({ ...carrier, windowKhz: 100_000 }))))).toEqual({})
    expect(totalsOf(checkCarriers(carriers.map((carrier) => ({ ...carrier, windowKhz: 180_000 }))))).toEqual({
      '2t3o': 2,
    })
  })

  // Conformance: C-15.22.
  it('counts only products with all generators in the fixed filter that is nearest to the victim', () => {
    const filter = { windowKhz: 28_000, filterCentresKhz: [482_000, 506_000] }
    const kindsWith = (mhz: readonly number[]) => {
      const [a, b, v] = carriersAt(mhz, { '2t3o': 75 }) as [Carrier, Carrier, Carrier]
      return totalsOf(checkCarriers([a, b, { ...v, ...filter }]))
    }
    // The filter passes 454 to 510 MHz; a window around the carrier would pass 462 to 518.
    expect(kindsWith([473, 456, 490])).toEqual({ '2t3o': 2 })
    expect(kindsWith([501, 512, 490])).toEqual({ '2t3o': 1 })
  })

  // Conformance: C-15.22.
  it('T6: uses the guard of the victim', () => {
    const [a, b] = carriersAt([500, 506], {}) as [Carrier, Carrier]
    const [v] = carriersAt([494.05], { '2t3o': 75 }) as [Carrier]
    const { conflicts } = checkCarriers([a, b, v])
    expect(conflicts).toMatchObject([{ kind: '2t3o', victim: '494.050', offset_khz: -50 }])
  })

  // Conformance: C-15.23.
  it('reports A + B - V on V only if neither A nor B is tested for 2T3O', () => {
    const [a, b] = carriersAt([506, 494], {}) as [Carrier, Carrier]
    const [v] = carriersAt([500], { '3t3o': 50 }) as [Carrier]
    expect(checkCarriers([a, b, v]).conflicts).toMatchObject([
      { kind: '3t3o', victim: '500.000', generators: ['506.000', '494.000', '500.000'] },
    ])
    const tested = { ...a, guards: { ...a.guards, '2t3o': 10 } }
    expect(totalsOf(checkCarriers([tested, b, v]))).toEqual({ '2t3o': 1 })
  })

  // Conformance: C-15.22.
  it('counts no products of carriers that are not generators', () => {
    const [a, b, v] = carriersAt([500, 506, 494], { '2t3o': 75 }) as [Carrier, Carrier, Carrier]
    expect(totalsOf(checkCarriers([{ ...a, isGenerator: false }, b, v]))).toEqual({})
  })

  // Conformance: C-23.90.
  it('counts neither spacing nor products of carriers that are never on together', () => {
    const exclusions = { neverOnTogether: [['act 1', 'act 2', 'act 3']] }
    const check = (...groups: readonly string[][]) => {
      const carriers = carriersAt([500, 506, 494, 500.1], { spacing: 350, '2t3o': 75 })
      const grouped = carriers.map((carrier, index) => ({ ...carrier, groups: groups[index] ?? [] }))
      return toLines(checkCarriers(grouped, exclusions))
    }
    const all = ['2t3o 494.000 0 500.000,506.000', '2t3o 506.000 0 500.000,494.000', 'spacing 500.100 -100 500.000']
    expect(check()).toEqual(all)
    expect(check(['act 1'], [], [], ['act 2'])).toEqual(all.slice(0, 2))
    // One of the three carriers of each product is never on with another one.
    expect(check([], ['act 1'], ['act 2'])).toEqual(all.slice(2))
    // Every pair of groups must be exclusive, and a carrier without groups can always be on.
    expect(check(['act 1'], [], [], ['act 1', 'act 2'])).toEqual(all)
    expect(check(['act 1'], [], [], ['act 2', 'act 3'])).toEqual(all.slice(0, 2))
    expect(check(['act 1'], [], [], ['act 2', 'other'])).toEqual(all)
    expect(check(['other'], [], [], ['act 1'])).toEqual(all)
  })

  // Conformance: C-23.90.
  it('counts carriers that are never on together, on one frequency, as two', () => {
    const carriers = carriersAt([500, 500, 506, 494], { spacing: 350, '2t3o': 75 }).map((carrier, index) => ({
      ...carrier,
      ...{ id: String(index), groups: [['act 1'], ['act 2']][index] ?? [] },
    }))
    expect(toLines(checkCarriers(carriers, { neverOnTogether: [['act 1', 'act 2']] }))).toEqual([
      '2t3o 2 0 0,3',
      '2t3o 2 0 1,3',
      '2t3o 3 0 0,2',
      '2t3o 3 0 1,2',
    ])
  })

  it('a carrier shared by channels of several groups is on with each of them', () => {
    const channel = (id: string, groups: string[], sharedBy: number | null): CheckedChannel => ({
      ...{ id, khz: 500_000, secondKhz: null, zone: null, groups, hasForeignRf: false, sharedBy },
      equipment: equipmentWithGuards({}),
    })
    const groupsOf = (channels: readonly CheckedChannel[]) => toCheckedCarriers(channels).map(({ groups }) => groups)
    expect(groupsOf([channel('a', ['act 1'], 7), channel('b', ['act 2'], 7)])).toEqual([['act 1', 'act 2']])
    expect(groupsOf([channel('a', ['act 1'], 7), channel('b', [], 7)])).toEqual([[]])
    expect(groupsOf([channel('a', ['act 1'], null), channel('b', ['act 2'], null)])).toEqual([['act 1'], ['act 2']])
  })

  // Conformance: C-15.24, C-23.91.
  it('reports two carriers on one frequency once, with no product of both', () => {
    const carriers = carriersAt([500, 500, 506, 494], { spacing: 350, '2t3o': 75, '3t3o': 75 }).map(
      (carrier, index) => ({ ...carrier, id: String(index) }),
    )
    expect(toLines(checkCarriers(carriers))).toEqual([
      '2t3o 2 0 0,3',
      '2t3o 2 0 1,3',
      '2t3o 3 0 0,2',
      '2t3o 3 0 1,2',
      'duplicate 1 0 0',
    ])
  })
})

// Conformance: C-15.25.
describe('conflicts of a single carrier', () => {
  const carrier = createCarrier({ id: 'c1', khz: 478_100 }, equipmentWithGuards({}))

  it('reports a carrier that touches a TV channel in use', () => {
    const tvInUse = [{ fromKhz: 470_000, toKhz: 478_000 }]
    expect(checkCarriers([carrier], { tvInUse }).conflicts).toEqual([
      { victim: 'c1', kind: 'tv', product_mhz: null, offset_khz: null, guard_khz: null, generators: [] },
    ])
    expect(totalsOf(checkCarriers([{ ...carrier, khz: 478_101 }], { tvInUse }))).toEqual({})
  })

  it('reports a carrier outside the band of its equipment, and foreign RF', () => {
    const ranges = [{ fromKhz: 470_000, toKhz: 478_000 }]
    expect(totalsOf(checkCarriers([{ ...carrier, ranges, hasForeignRf: true }]))).toEqual({
      foreign: 1,
      outside_band: 1,
    })
    expect(totalsOf(checkCarriers([{ ...carrier, ranges, khz: 478_000 }]))).toEqual({})
  })

  // Conformance: C-15.31.
  it('keeps the guard of a narrowband carrier from the edge of a wideband one', () => {
    const wide = { ...carrier, occupiedKhz: 8000 }
    const narrow = createCarrier({ id: 'c2', khz: 482_599 }, equipmentWithGuards({ spacing: 500 }))
    expect(checkCarriers([wide, narrow]).conflicts).toMatchObject([{ kind: 'spacing', guard_khz: 4500 }])
    expect(totalsOf(checkCarriers([wide, { ...narrow, khz: 482_600 }]))).toEqual({})
  })

  it('requires that wideband carriers do not overlap', () => {
    const wide = { ...carrier, occupiedKhz: 8000 }
    expect(totalsOf(checkCarriers([wide, { ...wide, id: 'c2', khz: 486_000 }]))).toEqual({ spacing: 1 })
    expect(totalsOf(checkCarriers([wide, { ...wide, id: 'c2', khz: 486_100 }]))).toEqual({})
  })
})

describe('the list of conflicts', () => {
  const mhz = Array.from({ length: 40 }, (_, index) => 500 + 0.4 * index + 0.025 * (index % 3))
  const guards = { spacing: 450, '2t3o': 100, '3t3o': 75, '2t5o': 50 }

  // Conformance: C-15.7.
  it('contains the smallest offsets, and the totals are complete', () => {
    const carriers = carriersAt(mhz, guards)
    const [all, first] = [checkCarriers(carriers, { limit: 1_000_000 }), checkCarriers(carriers)]
    expect(all.conflicts.length).toBeGreaterThan(5000)
    expect(first.conflicts).toEqual(all.conflicts.slice(0, 1000))
    expect(first.totals).toEqual(all.totals)
    expect(first.victims).toEqual(all.victims)
    const distances = first.conflicts.map(({ offset_khz }) => Math.abs(offset_khz ?? 0))
    expect(distances).toEqual([...distances].sort((a, b) => a - b))
  })

  it('is the same after a recheck, even if it was cut', () => {
    const carriers = carriersAt(mhz, guards)
    const changed = carriers.with(7, { ...(carriers[7] as Carrier), khz: 599_000 })
    const id = carriers[7]?.id ?? ''
    expect(recheckCarriers(checkCarriers(carriers), changed, [id])).toEqual(checkCarriers(changed))
  })
})
