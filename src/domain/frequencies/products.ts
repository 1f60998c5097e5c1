/**
 * Finds the intermodulation products that hit a carrier. A + B - C is within a guard of V exactly if the sums A + B and
 * C + V are. Two close sums of pairs therefore give the conflicts of all four carriers, and no product is computed
 * twice. All functions identify carriers by their position in `ZoneCarriers`.
 */

import { type AddProduct, kindNumbers } from './conflict.ts'
import { findPosition, type ZoneCarriers } from './zone-carriers.ts'

const twoThird = kindNumbers['2t3o']
const threeThird = kindNumbers['3t3o']

/** The products (m + 1)A - mB, by `m`. */
const higherOrders = [
  { kind: '2t5o', m: 2 },
  { kind: '2t7o', m: 3 },
  { kind: '2t9o', m: 4 },
] as const

export function findProducts(zone: ZoneCarriers, add: AddProduct): void {
  const { count, khz, guards } = zone
  const reach3 = maxOf(guards['3t3o'], count)
  const reach2 = Math.max(reach3, maxOf(guards['2t3o'], count))
  for (let a = 0; a < count && reach2 > 0; a++) {
    forEachPair(zone, 2 * (khz[a] as number), reach2, (c, d) => addDouble(zone, add, a, c, d))
  }
  if (reach3 > 0) findSumsOfPairs(zone, reach3, add)
  for (const { kind, m } of higherOrders) {
    const reach = maxOf(guards[kind], count)
    for (let a = 0; a < count && reach > 0; a++) {
      for (let b = 0; b < count; b++) findVictims(zone, { kind, m, reach }, a, b, add)
    }
  }
}

/** Finds the conflicts that involve the extra carrier, as victim or generator. Stops when `isEnough` returns true. */
export function findProductsOf(zone: ZoneCarriers, add: AddProduct, isEnough: () => boolean = () => false): void {
  const { count, khz, guards } = zone
  const extra = count
  const extraKhz = khz[extra] as number
  const reach3 = maxOf(guards['3t3o'], count + 1)
  const reach2 = Math.max(reach3, maxOf(guards['2t3o'], count + 1))
  if (reach2 > 0) {
    forEachPair(zone, 2 * extraKhz, reach2, (c, d) => addDouble(zone, add, extra, c, d))
    for (let b = 0; b < count; b++) {
      const sum = extraKhz + (khz[b] as number)
      for (let a = findPosition(zone, (sum - reach2) / 2); a < count; a++) {
        if (2 * (khz[a] as number) - sum >= reach2) break
        addDouble(zone, add, a, extra, b)
      }
      if (isEnough()) return
    }
  }
  for (let b = 0; b < count && reach3 > 0; b++) {
    const sum = extraKhz + (khz[b] as number)
    forEachPair(zone, sum, reach3, (c, d) => addPairs(zone, add, extra, b, c, d))
    if (isEnough()) return
  }
  for (const { kind, m } of higherOrders) {
    const reach = maxOf(guards[kind], count + 1)
    for (let a = 0; a < count && reach > 0; a++) {
      findVictims(zone, { kind, m, reach }, a, extra, add)
      findVictims(zone, { kind, m, reach }, extra, a, add)
      for (let b = 0; b < count && (guards[kind][extra] as number) > 0; b++) {
        addHigherOrder(zone, { kind, m }, a, b, extra, add)
      }
      if (isEnough()) return
    }
  }
}

function maxOf(values: Int32Array, count: number): number {
  let max = 0
  for (let position = 0; position < count; position++) max = Math.max(max, values[position] as number)
  return max
}

/** Calls `visit` for every pair of different carriers whose sum differs from `sum` by less than `reach`. */
function forEachPair(zone: ZoneCarriers, sum: number, reach: number, visit: (c: number, d: number) => void): void {
  const { count, khz } = zone
  let last = count - 1
  for (let c = 0; c < last; c++) {
    const rest = sum - (khz[c] as number)
    while (last > c && (khz[last] as number) - rest >= reach) last--
    for (let d = last; d > c && rest - (khz[d] as number) < reach; d--) visit(c, d)
  }
}

/**
 * Sorts the sums of all pairs of frequencies, so that close sums are neighbours. Carriers on the same frequency are not
 * compared one by one, because there may be hundreds of them, for instance with factory settings.
 */
function findSumsOfPairs(zone: ZoneCarriers, reach: number, add: AddProduct): void {
  const { count, khz, widestKhz } = zone
  const starts = startsOfFrequencies(zone)
  const frequencies = starts.length - 1
  // A sum and its two frequencies share one number, because numbers sort fastest.
  const positions = 2048
  const packed = new Float64Array((frequencies * (frequencies + 1)) / 2)
  let length = 0
  for (let a = 0; a < frequencies; a++) {
    const khzA = khz[starts[a] as number] as number
    // Carriers that are further apart never share a window.
    for (let b = a; b < frequencies; b++) {
      const khzB = khz[starts[b] as number] as number
      if (khzB - khzA > widestKhz) break
      const hasPair = b > a || (starts[a + 1] as number) - (starts[a] as number) > 1
      if (hasPair) packed[length++] = ((khzA + khzB) * positions + a) * positions + b
    }
  }
  packed.subarray(0, length).sort()
  const sums = new Int32Array(length)
  const first = new Int16Array(length)
  const second = new Int16Array(length)
  for (let pair = 0; pair < length; pair++) {
    const code = packed[pair] as number
    const rest = Math.floor(code / positions)
    second[pair] = code - rest * positions
    sums[pair] = Math.floor(rest / positions)
    first[pair] = rest - (sums[pair] as number) * positions
  }
  const areAllDifferent = frequencies === count
  for (let low = 0; low < length; low++) {
    const end = (sums[low] as number) + reach
    const a = first[low] as number
    const b = second[low] as number
    for (let high = low + 1; high < length && (sums[high] as number) < end; high++) {
      const c = first[high] as number
      const d = second[high] as number
      if (areAllDifferent) addPairs(zone, add, a, b, c, d)
      else if (a !== b || c !== d) addPairsOfFrequencies(zone, add, starts, [a, b, c, d])
    }
  }
}

/** Returns the position of the first carrier of each frequency, and the number of carriers. */
function startsOfFrequencies({ count, khz }: ZoneCarriers): readonly number[] {
  const starts: number[] = []
  for (let position = 0; position < count; position++) {
    if (position === 0 || khz[position] !== khz[position - 1]) starts.push(position)
  }
  starts.push(count)
  return starts
}

/** Adds the conflicts of all carriers on four frequencies, two of which may be the same. */
function addPairsOfFrequencies(
  zone: ZoneCarriers,
  add: AddProduct,
  starts: readonly number[],
  [frequencyA, frequencyB, frequencyC, frequencyD]: readonly [number, number, number, number],
): void {
  const startOf = (frequency: number) => starts[frequency] as number
  const endOf = (frequency: number) => starts[frequency + 1] as number
  for (let a = startOf(frequencyA); a < endOf(frequencyA); a++) {
    for (let b = Math.max(a + 1, startOf(frequencyB)); b < endOf(frequencyB); b++) {
      for (let c = startOf(frequencyC); c < endOf(frequencyC); c++) {
        for (let d = Math.max(c + 1, startOf(frequencyD)); d < endOf(frequencyD); d++) addPairs(zone, add, a, b, c, d)
      }
    }
  }
}

/** Adds the conflicts of two close sums A + B and C + D. */
function addPairs(zone: ZoneCarriers, add: AddProduct, a: number, b: number, c: number, d: number): void {
  if (a === c || a === d || b === c || b === d) return
  if (!zone.exclusions.isEmpty && (excludeAny(zone, a, b, c) || excludeAny(zone, d, a, b) || excludes(zone, c, d)))
    return
  const { khz, lowKhz, highKhz } = zone
  const guards = zone.guards['3t3o']
  const khzA = khz[a] as number
  const khzB = khz[b] as number
  const khzC = khz[c] as number
  const khzD = khz[d] as number
  const offset = khzA + khzB - khzC - khzD
  const distance = Math.abs(offset)
  const low = Math.min(khzA, khzB, khzC, khzD)
  const high = Math.max(khzA, khzB, khzC, khzD)
  if (distance < (guards[c] as number) && (lowKhz[c] as number) <= low && high <= (highKhz[c] as number)) {
    addThree(zone, add, offset, c, a, b, d)
  }
  if (distance < (guards[d] as number) && (lowKhz[d] as number) <= low && high <= (highKhz[d] as number)) {
    addThree(zone, add, offset, d, a, b, c)
  }
  if (distance < (guards[a] as number) && (lowKhz[a] as number) <= low && high <= (highKhz[a] as number)) {
    addThree(zone, add, -offset, a, c, d, b)
  }
  if (distance < (guards[b] as number) && (lowKhz[b] as number) <= low && high <= (highKhz[b] as number)) {
    addThree(zone, add, -offset, b, c, d, a)
  }
}

/** Adds the conflicts of close 2A and C + D. */
function addDouble(zone: ZoneCarriers, add: AddProduct, a: number, c: number, d: number): void {
  if (a === c || a === d || (!zone.exclusions.isEmpty && excludeAny(zone, a, c, d))) return
  const { khz, guards, index } = zone
  const khzA = khz[a] as number
  const khzC = khz[c] as number
  const khzD = khz[d] as number
  const offset = 2 * khzA - khzC - khzD
  const distance = Math.abs(offset)
  const low = Math.min(khzA, khzC, khzD)
  const high = Math.max(khzA, khzC, khzD)
  const guardOfC = guards['2t3o'][c] as number
  const guardOfD = guards['2t3o'][d] as number
  if (distance < guardOfC && isInWindow(zone, c, low, high) && areGeneratorsFor(zone, c, a, d)) {
    add(twoThird, offset, index[c] as number, index[a] as number, index[d] as number, -1)
  }
  if (distance < guardOfD && isInWindow(zone, d, low, high) && areGeneratorsFor(zone, d, a, c)) {
    add(twoThird, offset, index[d] as number, index[a] as number, index[c] as number, -1)
  }
  // C + D - A on A is 2A - C on D and 2A - D on C. It is reported separately only if neither C nor D is tested for it.
  if (guardOfC > 0 || guardOfD > 0 || distance >= (guards['3t3o'][a] as number)) return
  if (isInWindow(zone, a, low, high)) addThree(zone, add, -offset, a, c, d, a)
}

/** Adds A + B - C on a victim if these carriers make products. All are in the window of the victim. */
function addThree(
  zone: ZoneCarriers,
  add: AddProduct,
  offset: number,
  victim: number,
  a: number,
  b: number,
  c: number,
) {
  const { khz, index } = zone
  const khzC = khz[c] as number
  if (!areGenerators(zone, a, b) || khzC === khz[a] || khzC === khz[b]) return
  if (isOfPair(zone, victim, a) || isOfPair(zone, victim, b) || isOfPair(zone, victim, c)) return
  if (!zone.areAllGenerators && zone.isGenerator[c] === 0) return
  const indexA = index[a] as number
  const indexB = index[b] as number
  const first = Math.min(indexA, indexB)
  const second = Math.max(indexA, indexB)
  add(threeThird, offset, index[victim] as number, first, second, index[c] as number)
}

/** Carriers on the same frequency make no products with each other. */
function areGenerators({ khz, areAllGenerators, isGenerator }: ZoneCarriers, a: number, b: number): boolean {
  return khz[a] !== khz[b] && (areAllGenerators || (isGenerator[a] === 1 && isGenerator[b] === 1))
}

function areGeneratorsFor(zone: ZoneCarriers, victim: number, a: number, b: number): boolean {
  return areGenerators(zone, a, b) && !isOfPair(zone, victim, a) && !isOfPair(zone, victim, b)
}

/**
 * True if the victim is one of a pair on one frequency, and the generator is the other one or the victim itself. Their
 * only conflict is `duplicate`.
 */
function isOfPair(zone: ZoneCarriers, victim: number, generator: number): boolean {
  const { khz } = zone
  return khz[generator] === khz[victim] && (generator !== victim || zone.paired.has(zone.index[victim] as number))
}

function excludes({ groups, exclusions }: ZoneCarriers, a: number, b: number): boolean {
  return exclusions.exclude(groups[a] as number, groups[b] as number)
}

/** True if two of three carriers are never on together. */
function excludeAny(zone: ZoneCarriers, a: number, b: number, c: number): boolean {
  return excludes(zone, a, b) || excludes(zone, a, c) || excludes(zone, b, c)
}

/** True if frequencies from `low` to `high`, one of which is the victim, are in the window of the victim. */
function isInWindow({ lowKhz, highKhz }: ZoneCarriers, victim: number, low: number, high: number): boolean {
  return (lowKhz[victim] as number) <= low && high <= (highKhz[victim] as number)
}

interface HigherOrder {
  readonly kind: (typeof higherOrders)[number]['kind']
  readonly m: number
}

/** Finds the victims of (m + 1)A - mB among the sorted carriers. */
function findVictims(
  zone: ZoneCarriers,
  order: HigherOrder & { readonly reach: number },
  a: number,
  b: number,
  add: AddProduct,
): void {
  const { count, khz } = zone
  const { m, reach } = order
  if (khz[a] === khz[b]) return
  const product = (m + 1) * (khz[a] as number) - m * (khz[b] as number)
  if (count === 0 || product + reach <= (khz[0] as number) || product - reach >= (khz[count - 1] as number)) return
  for (let victim = findPosition(zone, product - reach + 1); victim < count; victim++) {
    if ((khz[victim] as number) - product >= reach) break
    addHigherOrder(zone, order, a, b, victim, add)
  }
}

function addHigherOrder(
  zone: ZoneCarriers,
  { kind, m }: HigherOrder,
  a: number,
  b: number,
  victim: number,
  add: AddProduct,
): void {
  if (a === b || victim === a || victim === b || (!zone.exclusions.isEmpty && excludeAny(zone, a, b, victim))) return
  const { khz, index, guards } = zone
  const khzA = khz[a] as number
  const khzB = khz[b] as number
  const khzV = khz[victim] as number
  const offset = (m + 1) * khzA - m * khzB - khzV
  if (Math.abs(offset) >= (guards[kind][victim] as number) || !areGeneratorsFor(zone, victim, a, b)) return
  if (!isInWindow(zone, victim, Math.min(khzA, khzB, khzV), Math.max(khzA, khzB, khzV))) return
  add(kindNumbers[kind], offset, index[victim] as number, index[a] as number, index[b] as number, -1)
}
