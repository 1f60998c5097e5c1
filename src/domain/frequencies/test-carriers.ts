/** For tests and benchmarks: carriers and scans, and a brute-force check of all products against all carriers. */

import { type Carrier, createCarrier, equipmentWithGuards, formatMhz, type GroupName, type Guards } from './carrier.ts'
import type { CheckResult } from './conflict.ts'
import type { NeverOnTogether } from './exclusions.ts'
import type { Measured, MeasuredScan } from './measured.ts'
import { builtInProfiles, equipmentOf } from './profiles.ts'
import { createRandom } from './random.ts'
import type { SuggestRequest } from './suggest.ts'

/** The ids of the carriers are their MHz. */
export function carriersAt(mhz: readonly number[], guards: Partial<Guards>, zones: readonly string[] = []): Carrier[] {
  return mhz.map((value, index) =>
    createCarrier(
      { id: value.toFixed(3), khz: Math.round(value * 1000), zone: zones[index % zones.length] ?? null },
      equipmentWithGuards(guards),
    ),
  )
}

/** Returns whether carriers are never on together, one of two or more. */
function excludeAny(carriers: readonly Carrier[], neverOnTogether: NeverOnTogether): boolean {
  const exclude = (one: GroupName, other: GroupName) =>
    one !== other && neverOnTogether.some((groups) => groups.includes(one) && groups.includes(other))
  return carriers.some((a, index) =>
    carriers.slice(0, index).some((b) => {
      if (a.groups.length === 0 || b.groups.length === 0) return false
      return a.groups.every((one) => b.groups.every((other) => exclude(one, other)))
    }),
  )
}

/** Returns all conflicts between carriers as `kind victim offset generators`, sorted as text. */
export function checkByBruteForce(carriers: readonly Carrier[], neverOnTogether: NeverOnTogether = []): string[] {
  const found: string[] = []
  const write = (kind: string, victim: Carrier, offset: number, generators: readonly Carrier[]) =>
    found.push(`${kind} ${victim.id} ${offset} ${generators.map(({ id }) => id).join(',')}`)

  carriers.forEach((later, index) => {
    for (const earlier of carriers.slice(0, index)) {
      const offset = earlier.khz - later.khz
      if (excludeAny([earlier, later], neverOnTogether)) continue
      if (offset === 0) write('duplicate', later, 0, [earlier])
      else if (Math.abs(offset) < Math.max(later.guards.spacing, earlier.guards.spacing)) {
        write('spacing', later, offset, [earlier])
      }
    }
  })

  const test = (kind: keyof Guards, product: number, victim: Carrier, generators: readonly Carrier[]) => {
    const offset = product - victim.khz
    if (Math.abs(offset) >= victim.guards[kind]) return
    if (new Set(generators.map(({ khz }) => khz)).size < generators.length) return
    if (excludeAny([victim, ...generators.filter((one) => one !== victim)], neverOnTogether)) return
    const twins = carriers.filter(
      (carrier) => carrier !== victim && carrier.khz === victim.khz && !excludeAny([carrier, victim], neverOnTogether),
    )
    if (generators.some((generator) => twins.includes(generator) || (generator === victim && twins.length > 0))) return
    for (const { zone, isGenerator, khz } of generators) {
      if (zone !== victim.zone || !isGenerator) return
      if (victim.windowKhz !== null && Math.abs(khz - victim.khz) > victim.windowKhz) return
    }
    write(kind, victim, offset, generators)
  }
  for (const victim of carriers) {
    for (const a of carriers) {
      for (const b of carriers) {
        if (a === b) continue
        if (a !== victim && b !== victim) {
          test('2t3o', 2 * a.khz - b.khz, victim, [a, b])
          test('2t5o', 3 * a.khz - 2 * b.khz, victim, [a, b])
          test('2t7o', 4 * a.khz - 3 * b.khz, victim, [a, b])
          test('2t9o', 5 * a.khz - 4 * b.khz, victim, [a, b])
        }
        if (carriers.indexOf(a) > carriers.indexOf(b) || a === victim || b === victim) continue
        for (const c of carriers) {
          if (c === a || c === b) continue
          if (c === victim && (a.guards['2t3o'] > 0 || b.guards['2t3o'] > 0)) continue
          test('3t3o', a.khz + b.khz - c.khz, victim, [a, b, c])
        }
      }
    }
  }
  return found.sort()
}

/**
 * 120 carriers of all narrowband profiles between 470 and 960 MHz. Two scans cover the TV band. Each shows three TV
 * channels in use, and three strong carriers of others.
 */
export function createMixedRequest(): SuggestRequest {
  const narrow = builtInProfiles.filter(({ occupied_khz }) => occupied_khz < 1000)
  const random = createRandom(120)
  const createScan = (id: number, fromMhz: number) => {
    const tv = Array.from({ length: 3 }, () => Math.floor(random() * 14))
    const peaks = new Set(Array.from({ length: 3 }, () => Math.floor(random() * 4480)))
    const readings = Array.from({ length: 4480 }, (_, step): [number, number] => {
      const dbm = tv.includes(Math.floor(step / 320)) ? -70 : -100
      return [fromMhz + 0.025 * step, peaks.has(step) ? -50 : dbm]
    })
    return scanOf(id, readings)
  }
  return {
    wanted: narrow.map((profile, index) => ({
      profile: profile.id,
      equipment: equipmentOf(profile, 'standard'),
      stepKhz: profile.step_khz,
      ranges: [{ fromKhz: 470_000, toKhz: 960_000 }],
      count: Math.floor((120 * (index + 1)) / narrow.length) - Math.floor((120 * index) / narrow.length),
    })),
    measured: measuredWith([createScan(1, 470), createScan(2, 582)]),
  }
}

/** Readings by MHz, in ascending order. */
export function scanOf(id: number, readings: readonly (readonly [number, number])[], stepKhz = 25): MeasuredScan {
  return {
    id,
    stepKhz,
    khz: Uint32Array.from(readings, ([mhz]) => Math.round(mhz * 1000)),
    tenthsDbm: Int16Array.from(readings, ([, dbm]) => Math.round(dbm * 10)),
  }
}

/** The scans with the limits that apply by default. */
export function measuredWith(scans: readonly MeasuredScan[], limits: Partial<Omit<Measured, 'scans'>> = {}): Measured {
  return { scans, excludeAboveDbm: -85, peakAboveDbm: -60, peakSpacingKhz: 800, hasPeakProducts: true, ...limits }
}

/**
 * Returns the spacing to peaks and the third-order products with peaks in the format of `checkByBruteForce`. Every
 * reading at or above the threshold is a peak, unless it is one of the carriers in `own`.
 */
export function checkPeaksByBruteForce(
  carriers: readonly Carrier[],
  { scans, ...limits }: Measured,
  { neverOnTogether = [], own = carriers }: { neverOnTogether?: NeverOnTogether; own?: readonly Carrier[] } = {},
): string[] {
  const readings = scans.flatMap(({ khz, tenthsDbm }) =>
    Array.from(khz, (value, index) => ({ khz: value, dbm: (tenthsDbm[index] ?? 0) / 10 })),
  )
  const peaks = readings
    .filter(({ dbm }) => dbm >= limits.peakAboveDbm)
    .filter(({ khz }) => own.every((carrier) => Math.abs(carrier.khz - khz) > 100))
    .sort((a, b) => b.dbm - a.dbm || a.khz - b.khz)
    .map(({ khz }) => createCarrier({ id: `peak:${formatMhz(khz)}`, khz }, equipmentWithGuards({})))
  const found: string[] = []
  for (const victim of carriers) {
    for (const { id, khz } of peaks) {
      const offset = khz - victim.khz
      if (Math.abs(offset) < limits.peakSpacingKhz) found.push(`peak ${victim.id} ${offset} ${id}`)
    }
    const others = carriers.filter(
      (carrier) => carrier.khz !== victim.khz && carrier.zone === victim.zone && carrier.isGenerator,
    )
    const emitters = [...others, ...(limits.hasPeakProducts ? peaks.slice(0, 40) : [])].filter(
      ({ khz }) => victim.windowKhz === null || Math.abs(khz - victim.khz) <= victim.windowKhz,
    )
    const test = (kind: string, product: number, generators: readonly Carrier[]) => {
      const offset = product - victim.khz
      if (2 * Math.abs(offset) >= limits.peakSpacingKhz || !generators.some(({ id }) => id.startsWith('peak:'))) return
      if (new Set(generators.map(({ khz }) => khz)).size < generators.length) return
      if (excludeAny([victim, ...generators], neverOnTogether)) return
      found.push(`${kind} ${victim.id} ${offset} ${generators.map(({ id }) => id).join(',')}`)
    }
    emitters.forEach((a, index) => {
      for (const b of emitters) {
        if (a !== b) test('2t3o', 2 * a.khz - b.khz, [a, b])
        if (emitters.indexOf(b) <= index) continue
        for (const c of emitters) if (c !== a && c !== b) test('3t3o', a.khz + b.khz - c.khz, [a, b, c])
      }
    })
  }
  return found.sort()
}

/** The conflicts in a comparable form. */
export function toLines({ conflicts }: CheckResult): string[] {
  return conflicts
    .map(({ kind, victim, offset_khz, generators }) => `${kind} ${victim} ${offset_khz} ${generators.join(',')}`)
    .sort()
}
