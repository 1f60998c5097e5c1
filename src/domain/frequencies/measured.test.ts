import { describe, expect, it } from 'vitest'
import type { Carrier } from './carrier.ts'
import { checkCarriers } from './check.ts'
import type { Conflict } from './conflict.ts'
import { findPeaks, findReading, type Measured, measureCarriers, stateOf, withoutCarriers } from './measured.ts'
import { createRandom } from './random.ts'
import { suggestCarriers } from './suggest.ts'
import { carriersAt, checkPeaksByBruteForce, measuredWith, scanOf } from './test-carriers.ts'

const at = (mhz: number) => carriersAt([mhz], {})[0] as Carrier
const stateAt = (mhz: number, measured: Measured) => stateOf(findReading(measured, at(mhz)), measured)
const kindsOf = (mhz: readonly number[], measured: Measured) =>
  checkCarriers(carriersAt(mhz, {}), { measured }).conflicts.map(({ kind, victim }) => `${kind} ${victim}`)

// Conformance: C-23.1, C-23.11.
describe('the state of a carrier', () => {
  it.each([
    ['at the edge of the window', 499.9, -80, 'occupied'],
    ['beyond the window', 499.875, -80, 'unmeasured'],
    ['exactly at the threshold', 500, -85, 'occupied'],
    ['below the threshold', 500, -85.1, 'free'],
    ['nowhere near', 494, -80, 'unmeasured'],
  ])('with a reading %s', (_, mhz, dbm, state) => {
    expect(stateAt(500, measuredWith([scanOf(1, [[mhz, dbm]])]))).toBe(state)
  })

  it('is free if the readings beyond the window are strong, and those within it are not', () => {
    const readings = [
      [499.875, -80],
      [499.9, -100],
      [500.1, -100],
      [500.125, -80],
    ] as const
    expect(stateAt(500, measuredWith([scanOf(1, readings)]))).toBe('free')
  })

  it('depends on the strongest of several scans', () => {
    const measured = measuredWith([scanOf(1, [[500, -100]]), scanOf(2, [[500.05, -70]])])
    expect(findReading(measured, at(500))).toEqual({ scanId: 2, khz: 500_050, dbm: -70 })
  })

  it('considers half of the width of a carrier, and half of a step', () => {
    const measured = measuredWith([scanOf(1, [[502, -70]])])
    expect(stateOf(findReading(measured, { khz: 500_000, occupiedKhz: 4000 }), measured)).toBe('occupied')
    expect(stateAt(500, measuredWith([scanOf(1, [[500.4, -70]], 800)]))).toBe('occupied')
  })

  it('is unmeasured without scans', () => {
    expect([...measureCarriers(null, [at(500)]).values()]).toEqual(['unmeasured'])
  })
})

it('names the reading that occupies a carrier', () => {
  const measured = measuredWith([scanOf(7, [[499.95, -81.5]])])
  expect(checkCarriers([at(500)], { measured }).conflicts).toEqual([
    {
      ...{ victim: '500.000', kind: 'occupied', product_mhz: null, offset_khz: null, guard_khz: null, generators: [] },
      ...{ scan_id: 7, dbm: -81.5, mhz: '499.950' },
    },
  ])
})

// Conformance: C-23.12.
describe('peaks', () => {
  const run = scanOf(1, [
    [500, -59],
    [500.025, -58],
    [500.05, -59],
    [500.075, -90],
  ])

  it('are the strongest reading of a run', () => {
    expect(findPeaks(measuredWith([run]))).toEqual([{ scanId: 1, khz: 500_025, dbm: -58, stepKhz: 25 }])
  })

  it('of two scans are one if they are closer than 100 kHz', () => {
    const other = (mhz: number) => scanOf(2, [[mhz, -50]])
    const khzOf = (mhz: number) => findPeaks(measuredWith([run, other(mhz)])).map(({ khz }) => khz)
    expect(khzOf(500.124)).toEqual([500_124])
    expect(khzOf(500.125)).toEqual([500_125, 500_025])
  })

  it('end where the scan has a gap', () => {
    expect(
      findPeaks(
        measuredWith([
          scanOf(1, [
            [500, -50],
            [503, -50],
          ]),
        ]),
      ),
    ).toHaveLength(2)
  })

  it('conflict with carriers that are closer than the spacing', () => {
    expect(kindsOf([500.8], measuredWith([run]))).toEqual(['peak 500.800'])
    expect(kindsOf([500.825], measuredWith([run]))).toEqual([])
  })

  it('in the window of a carrier are that carrier', () => {
    expect(kindsOf([500.1, 500.5], measuredWith([run]))).toEqual(['occupied 500.100'])
  })

  it('generate third-order products with half the spacing', () => {
    const measured = measuredWith([
      scanOf(1, [
        [500, -50],
        [506, -50],
      ]),
    ])
    const isRefused = (mhz: number) => kindsOf([mhz], measured).length > 0
    expect([512, 494, 512.399, 511.601, 494.399].map(isRefused)).toEqual([true, true, true, true, true])
    expect([512.4, 511.6, 494.4, 493.6, 503].map(isRefused)).toEqual([false, false, false, false, false])
    expect(checkCarriers([at(512.1)], { measured }).conflicts).toMatchObject([
      { kind: '2t3o', offset_khz: -100, guard_khz: 400, generators: ['peak:506.000', 'peak:500.000'] },
    ])
    expect(kindsOf([512], { ...measured, hasPeakProducts: false })).toEqual([])
  })
})

it('leaves out the readings of carriers that were on', () => {
  const scan = scanOf(1, [
    [499.875, -90],
    [499.9, -40],
    [500, -40],
    [500.1, -40],
    [500.125, -90],
  ])
  expect([...withoutCarriers(scan, [at(500)]).khz]).toEqual([499_875, 500_125])
})

/** Carriers, and a scan whose peaks are at least two steps from each other. */
function randomSet(seed: number) {
  const random = createRandom(seed)
  const khz = new Set<number>()
  while (khz.size < 12) khz.add(470_000 + 25 * Math.floor(random() * 1000))
  const carriers = carriersAt(
    [...khz].map((value) => value / 1000),
    {},
    seed % 3 === 0 ? ['A', 'B'] : [],
  ).map((carrier, index) => ({
    ...carrier,
    isGenerator: seed % 2 === 0 || index % 4 > 0,
    windowKhz: seed % 5 === 0 ? 9000 : null,
    groups: seed % 4 === 0 ? ([['act 1'], ['act 2'], []][index % 3] ?? []) : [],
  }))
  const readings = Array.from({ length: 1000 }, (_, step) => {
    const isPeak = step % 2 === 0 && random() < 0.03
    return [470.0125 + 0.025 * step, isPeak ? -59 + 30 * random() : -100] as const
  })
  const limits = { excludeAboveDbm: 0, peakSpacingKhz: [800, 101, 50][seed % 3] ?? 0 }
  return { carriers, measured: measuredWith([scanOf(1, readings)], limits) }
}

const toText = ({ kind, victim, offset_khz, generators }: Conflict) =>
  `${kind} ${victim} ${offset_khz} ${generators.join(',')}`

// Conformance: C-23.13.
it('finds the same conflicts with peaks as a comparison of all products with all carriers', { timeout: 60_000 }, () => {
  let count = 0
  for (let seed = 1; seed <= 12; seed++) {
    const { carriers, measured } = randomSet(seed)
    const neverOnTogether = [['act 1', 'act 2']]
    const expected = checkPeaksByBruteForce(carriers, measured, { neverOnTogether })
    const { conflicts, totals } = checkCarriers(carriers, { measured, neverOnTogether, limit: 100_000 })
    // The guards of the carriers are 0, so all products are those of peaks.
    const found = conflicts.filter(({ kind }) => kind !== 'spacing' && kind !== 'duplicate').map(toText)
    const written = found.map((text) => sortPair(text)).sort()
    expect(written, `seed ${seed}`).toEqual(expected.map(sortPair).sort())
    expect(totals['2t3o'] + totals['3t3o'] + totals.peak).toBe(expected.length)
    count += expected.length
  }
  expect(count).toBeGreaterThan(1000)
})

/** A and B of A + B - C have no order. */
function sortPair(text: string): string {
  const [kind, victim, offset, generators = ''] = text.split(' ')
  const [a = '', b = '', ...c] = generators.split(',')
  const pair = kind === '3t3o' ? [a, b].sort() : [a, b]
  return [kind, victim, offset, [...pair, ...c].join(',')].join(' ')
}

// Conformance: C-23.14.
describe('suggestions', () => {
  const guards = { spacing: 350, '2t3o': 75, '3t3o': 50 }
  const [{ id: _, khz: __, zone: ___, groups: ____, hasForeignRf: _____, ...equipment }] = carriersAt(
    [500],
    guards,
  ) as [Carrier]
  const wanted = (count: number, fromKhz: number, toKhz: number) => [
    { profile: 'x', equipment, stepKhz: 25, ranges: [{ fromKhz, toKhz }], count },
  ]

  it('prefer frequencies that are measured and free', () => {
    const measured = measuredWith([
      scanOf(1, [
        [500.5, -100],
        [500.525, -100],
        [500.55, -60.1],
      ]),
    ])
    const { carriers } = suggestCarriers({ wanted: wanted(2, 500_000, 501_000), measured })
    expect(carriers).toEqual([
      { profile: 'x', mhz: '500.000', soft: [], measured: 'unmeasured' },
      { profile: 'x', mhz: '500.400', soft: [], measured: 'free' },
    ])
    expect(suggestCarriers({ wanted: wanted(1, 500_000, 501_000) }).carriers).toEqual([
      { profile: 'x', mhz: '500.000', soft: [], measured: 'unmeasured' },
    ])
  })

  it('have no conflicts with peaks, readings and each other', () => {
    for (let seed = 1; seed <= 6; seed++) {
      const random = createRandom(seed)
      const readings = Array.from({ length: 2000 }, (_, step) => [470 + 0.025 * step, -100] as [number, number])
      for (let count = 0; count < 4; count++) {
        const step = Math.floor(random() * readings.length)
        readings[step] = [470 + 0.025 * step, -40]
      }
      const measured = measuredWith([scanOf(1, readings)])
      const keep = carriersAt([471.3, 480.075], guards)
      const { carriers } = suggestCarriers({ wanted: wanted(6, 470_000, 540_000), keep, measured })
      const all = [
        ...keep,
        ...carriersAt(
          carriers.map(({ mhz }) => Number(mhz)),
          guards,
        ),
      ]
      const victims = carriers.map(({ mhz }) => mhz)
      expect(carriers).toHaveLength(6)
      expect(checkCarriers(all, { measured, victims }).conflicts).toEqual([])
    }
  })
})
