/**
 * The check of carriers, beside a check of every product against every carrier, and suggestions, beside the lowest
 * possible frequencies in turn.
 */

import { type Carrier, createCarrier, type Equipment, type KhzRange } from '../src/domain/frequencies/carrier.ts'
import { checkCarriers } from '../src/domain/frequencies/check.ts'
import { builtInProfiles, equipmentOf, type Profile } from '../src/domain/frequencies/profiles.ts'
import { createRandom, suggestCarriers } from '../src/domain/frequencies/suggest.ts'
import { carriersAt, checkByBruteForce } from '../src/domain/frequencies/test-carriers.ts'
import type { Bench, Figure } from './harness.ts'

const guards = { spacing: 350, '2t3o': 75, '3t3o': 50, '2t5o': 90 }
const windowMhz = 50
/** With more carriers, the reference takes minutes. */
const maxReferenceCarriers = 60
const counts = [20, 60, 100, 300] as const

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
      measure: async () => [...checks.map(measureCheck), ...measureSuggestion(14, 6), ...measureSuggestion(18, 8)],
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
