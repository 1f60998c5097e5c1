/**
 * The check of carriers, beside a check of every product against every carrier, and suggestions, beside the lowest
 * possible frequencies in turn.
 */

import {
  type Carrier,
  createCarrier,
  type Equipment,
  equipmentWithGuards,
  type KhzRange,
} from '../src/domain/frequencies/carrier.ts'
import { checkCarriers } from '../src/domain/frequencies/check.ts'
import type { Measured } from '../src/domain/frequencies/measured.ts'
import { builtInProfiles, equipmentOf, type Profile } from '../src/domain/frequencies/profiles.ts'
import { createRandom } from '../src/domain/frequencies/random.ts'
import { suggestCarriers } from '../src/domain/frequencies/suggest.ts'
import {
  carriersAt,
  checkByBruteForce,
  checkPeaksByBruteForce,
  createMixedRequest,
  measuredWith,
  scanOf,
} from '../src/domain/frequencies/test-carriers.ts'
import type { Bench, Figure } from './harness.ts'

const guards = { spacing: 350, '2t3o': 75, '3t3o': 50, '2t5o': 90 }
const windowMhz = 50
/** With more carriers, the reference takes minutes. */
const maxReferenceCarriers = 60
const counts = [20, 60, 100, 300] as const
const peakCounts = [60, 100, 300] as const
const peakCount = 40

/** Sets of carriers. All but the last one have the same guards. */
const sets: Readonly<Record<string, (count: number) => readonly Carrier[]>> = {
  random: (count) => carriersAt(randomMhz(count), guards),
  windowed: (count) =>
    carriersAt(randomMhz(count), guards).map((carrier) => ({ ...carrier, windowKhz: windowMhz * 1000 })),
  equidistant: (count) =>
    carriersAt(
      Array.from({ length: count }, (_, index) => 470 + 0.6 * index),
      guards,
    ),
  'mixed equipment': createMixedSet,
}

export const frequencies: Bench = {
  name: 'frequencies',
  runs: 3,
  async open() {
    const checks = Object.entries(sets).flatMap(([name, create]) =>
      counts.map((count) => ({ name: `check ${count} carriers, ${name}`, carriers: create(count) })),
    )
    for (const { carriers } of checks) checkCarriers(carriers)
    return {
      measure: async () => [
        ...checks.map(measureCheck),
        ...peakCounts.map(measurePeaks),
        ...measureSuggestion(14, 6),
        ...measureSuggestion(18, 8),
        ...easyHf.map(measureSoftSuggestion),
        ...measureMixedSuggestion(),
      ],
    }
  },
}

function measureCheck({ name, carriers }: { name: string; carriers: readonly Carrier[] }): Figure {
  const isReferenceShort = carriers.length <= maxReferenceCarriers
  return {
    ...{ name, unit: 'ms', ours: shortestMs(() => checkCarriers(carriers)) },
    reference: isReferenceShort ? measureMs(() => checkByBruteForce(carriers)) : null,
  }
}

/** Random carriers, and peaks on the other frequencies of a scan. All products have a peak. */
function measurePeaks(count: number): Figure {
  const carriers = carriersAt(randomMhz(count), { spacing: 350 })
  const taken = new Set(carriers.map(({ khz }) => khz))
  const random = createRandom(count)
  const peaks = new Set<number>()
  while (peaks.size < peakCount) peaks.add(Math.floor(random() * 8960))
  const readings = Array.from({ length: 8960 }, (_, step) => {
    const isPeak = peaks.has(step) && !taken.has(470_000 + 25 * step)
    return [470 + 0.025 * step, isPeak ? -55 : -100] as const
  })
  const measured = measuredWith([scanOf(1, readings)])
  return {
    ...{ name: `check ${count} carriers with ${peakCount} peaks`, unit: 'ms' },
    ours: shortestMs(() => checkCarriers(carriers, { measured })),
    reference: count <= maxReferenceCarriers ? measureMs(() => checkPeaksByBruteForce(carriers, measured)) : null,
  }
}

const ulxd = builtInProfiles.find(({ id }) => id === 'ulxd') as Profile

function measureSuggestion(count: number, mhz: number): readonly Figure[] {
  const range = { fromKhz: 470_000, toKhz: 470_000 + 1000 * mhz }
  const equipment = equipmentOf(ulxd, 'standard')
  const wanted = [{ profile: ulxd.id, equipment, stepKhz: ulxd.step_khz, ranges: [range], count }]
  const placed = { ours: 0, reference: 0 }
  const ours = shortestMs(() => {
    placed.ours = suggestCarriers({ wanted }).carriers.length
  })
  const reference = measureMs(() => {
    placed.reference = placeLowest(range, equipment, count)
  })
  return [
    { name: `suggest ${count} ULX-D channels in ${mhz} MHz`, unit: 'ms', ours, reference },
    {
      name: `placed of ${count} ULX-D channels in ${mhz} MHz`,
      unit: 'channels',
      ours: placed.ours,
      reference: placed.reference,
    },
  ]
}

/** The guard for 3T3O, and the number of carriers that EasyHF places with soft 2T5O. */
const easyHf = [
  [200, 27],
  [150, 29],
  [100, 37],
  [75, 37],
  [50, 46],
  [25, 57],
] as const

function measureSoftSuggestion([threeThird, published]: (typeof easyHf)[number]): Figure {
  const equipment = equipmentWithGuards({ spacing: 300, '2t3o': 200, '3t3o': threeThird, '2t5o': 90 })
  const ranges = [{ fromKhz: 470_100, toKhz: 693_900 }]
  const wanted = [{ profile: 'x', equipment, stepKhz: 25, ranges, count: 80 }]
  const { carriers } = suggestCarriers({ wanted, soft: ['2t5o'] })
  const name = `placed of 80, 3T3O ${threeThird} kHz, 2T5O soft, beside EasyHF`
  return { name, unit: 'channels', ours: carriers.length, reference: published }
}

function measureMixedSuggestion(): readonly Figure[] {
  const request = createMixedRequest()
  const measure = (name: string, measured: Measured | null): readonly Figure[] => {
    let placed = 0
    const ours = measureMs(() => {
      placed = suggestCarriers({ ...request, measured }).carriers.length
    })
    return [
      { name: `suggest 120 mixed carriers${name}`, unit: 'ms', ours, reference: null },
      { name: `placed of 120 mixed carriers${name}`, unit: 'channels', ours: placed, reference: null },
    ]
  }
  return [...measure('', null), ...measure(' beside two scans', request.measured ?? null)]
}

/** Returns the number of carriers that fit if each has the lowest frequency without a conflict. */
function placeLowest({ fromKhz, toKhz }: KhzRange, equipment: Equipment, count: number): number {
  const placed: Carrier[] = []
  for (let khz = fromKhz; khz <= toKhz && placed.length < count; khz += ulxd.step_khz) {
    const carrier = createCarrier({ id: String(khz), khz }, equipment)
    if (checkByBruteForce([...placed, carrier]).length === 0) placed.push(carrier)
  }
  return placed.length
}

/** Returns the shortest of several times, because other processes can only make the work take longer. */
function shortestMs(work: () => unknown): number {
  return Math.min(...Array.from({ length: 7 }, () => measureMs(work)))
}

function measureMs(work: () => unknown): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}

/** Different random frequencies between 470 and 694 MHz. */
function randomMhz(count: number): readonly number[] {
  const random = createRandom(count)
  const steps = new Set<number>()
  while (steps.size < count) steps.add(Math.floor(random() * 8960))
  return [...steps].map((step) => 470 + 0.025 * step)
}

/** Carriers of all narrowband profiles in turn, with their own guards, windows and filters. */
function createMixedSet(count: number): readonly Carrier[] {
  const narrow = builtInProfiles.filter(({ occupied_khz }) => occupied_khz < 1000)
  return randomMhz(count).map((mhz, index) => {
    const profile = narrow[index % narrow.length] as Profile
    const khz = Math.round(mhz * 1000)
    return createCarrier({ id: String(khz), khz }, equipmentOf(profile, 'standard'))
  })
}
