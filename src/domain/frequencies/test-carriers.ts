/** For tests and benchmarks: carriers, and a brute-force check of all products against all carriers. */

import { type Carrier, createCarrier, equipmentWithGuards, type Guards } from './carrier.ts'

/** The ids of the carriers are their MHz. */
export function carriersAt(mhz: readonly number[], guards: Partial<Guards>, zones: readonly string[] = []): Carrier[] {
  return mhz.map((value, index) =>
    createCarrier(
      { id: value.toFixed(3), khz: Math.round(value * 1000), zone: zones[index % zones.length] ?? null },
      equipmentWithGuards(guards),
    ),
  )
}

/** Returns all conflicts between carriers as `kind victim offset generators`, sorted as text. */
export function checkByBruteForce(carriers: readonly Carrier[]): string[] {
  const found: string[] = []
  const write = (kind: string, victim: Carrier, offset: number, generators: readonly Carrier[]) =>
    found.push(`${kind} ${victim.id} ${offset} ${generators.map(({ id }) => id).join(',')}`)

  carriers.forEach((later, index) => {
    for (const earlier of carriers.slice(0, index)) {
      const offset = earlier.khz - later.khz
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
    const twins = carriers.filter((carrier) => carrier !== victim && carrier.khz === victim.khz)
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
