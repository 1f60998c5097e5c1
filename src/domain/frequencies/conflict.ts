/** Conflicts, and a list that keeps those with the smallest offsets and counts all. */

import { type ConflictKind, conflictKinds, type ProductKind, productKinds } from '../../contract/values.ts'
import { type Carrier, createCarrier, equipmentWithGuards, formatMhz, requiredSpacingKhz } from './carrier.ts'
import { type Measured, type Peak, peakGuardKhz, type Reading } from './measured.ts'

/** The fields of `FrequencyConflictBody` have the same meaning. */
export interface Conflict {
  readonly victim: string
  readonly kind: ConflictKind
  /** Null unless `kind` is an order of intermodulation. */
  readonly product_mhz: string | null
  /** Product minus victim; for `spacing` and `duplicate`, the other carrier minus the victim. */
  readonly offset_khz: number | null
  readonly guard_khz: number | null
  /** Ids in the order of the formula: A, B of 2A - B; A, B, C of A + B - C. That of a peak is `peak:` and its MHz. */
  readonly generators: readonly string[]
  /** The reading that occupies the carrier; absent from other kinds. */
  readonly scan_id?: number
  readonly dbm?: number
  readonly mhz?: string
}

export interface CheckResult {
  /** Smallest offset first; conflicts without an offset precede the others. */
  readonly conflicts: readonly Conflict[]
  /** Conflicts of every kind, including those that are not listed. */
  readonly totals: Readonly<Record<ConflictKind, number>>
  /** Conflicts of every victim by id, including those that are not listed. */
  readonly victims: Readonly<Record<string, number>>
}

/** A conflict between carriers, given by index; unused generators are absent. */
export interface Finding {
  readonly kind: ConflictKind
  readonly victim: number
  readonly offsetKhz: number | null
  readonly generators: readonly number[]
}

/** The kinds as numbers, for the hot loops. `ConflictList` requires that `3t3o` is last. */
export const kindNumbers = Object.fromEntries(conflictKinds.map((kind, index) => [kind, index])) as Readonly<
  Record<ConflictKind, number>
>

function isProductKind(kind: ConflictKind): kind is ProductKind {
  return (productKinds as readonly ConflictKind[]).includes(kind)
}

/** Receives a conflict with a product. `c` is -1 if the product has two generators. */
export type AddProduct = (kind: number, offsetKhz: number, victim: number, a: number, b: number, c: number) => void

/** With more carriers, the codes of conflicts would exceed exact integers. */
export const maxCarriers = 1000
const lastKind = conflictKinds.length - 1

/** The findings of the scans about a list of carriers. */
export interface Evidence {
  readonly measured: Measured
  /** Their indices follow those of the carriers. */
  readonly peaks: readonly Peak[]
  /** The readings that occupy carriers, by index. */
  readonly occupied: ReadonlyMap<number, Reading>
}

function toPeakCarrier({ khz }: Peak): Carrier {
  return createCarrier({ id: `peak:${formatMhz(khz)}`, khz }, equipmentWithGuards({}))
}

/**
 * Counts conflicts and keeps the first `limit` ones in the order of the list. There can be hundreds of millions, so a
 * conflict is stored as two numbers: its distance and its *code*, from which everything else is derived. The digits of
 * the code are the kind, and the indices of victim and generators plus one. Only 3T3O has a third generator, so it is
 * the last kind.
 */
export class ConflictList {
  /** The peaks follow the carriers. */
  readonly #carriers: readonly Carrier[]
  readonly #carrierCount: number
  readonly #evidence: Evidence | null
  readonly #limit: number
  readonly #base: number
  /** The number of different codes of a kind, except for the last kind. */
  readonly #codesOfKind: number
  readonly #totals = new Int32Array(conflictKinds.length)
  readonly #victims: Int32Array
  /** Conflicts of other carriers are not counted. */
  readonly #mayBeVictim: Uint8Array
  readonly #distances: Int32Array
  readonly #codes: Float64Array
  #length = 0
  /** A conflict after this one is not among the first ones. */
  #lastDistance = Infinity
  #lastCode = Infinity

  constructor(
    carriers: readonly Carrier[],
    { limit, victims = null }: { readonly limit: number; readonly victims?: readonly string[] | null },
    evidence: Evidence | null = null,
  ) {
    if (carriers.length > maxCarriers) throw new RangeError(`More than ${maxCarriers} carriers.`)
    this.#carriers = evidence === null ? carriers : [...carriers, ...evidence.peaks.map(toPeakCarrier)]
    this.#carrierCount = carriers.length
    this.#evidence = evidence
    this.#limit = limit
    this.#base = this.#carriers.length + 1
    this.#codesOfKind = this.#base ** 3
    this.#victims = new Int32Array(carriers.length)
    const ids = victims === null ? null : new Set(victims)
    this.#mayBeVictim = Uint8Array.from(carriers, ({ id }) => (ids === null || ids.has(id) ? 1 : 0))
    this.#distances = new Int32Array(4 * limit + 100)
    this.#codes = new Float64Array(this.#distances.length)
  }

  add({ kind, victim, offsetKhz, generators: [a = -1, b = -1, c = -1] }: Finding): void {
    this.addProduct(kindNumbers[kind], offsetKhz ?? 0, victim, a, b, c)
  }

  readonly addProduct: AddProduct = (kind, offset, victim, a, b, c) => {
    if (this.#mayBeVictim[victim] === 0) return
    this.#totals[kind] = (this.#totals[kind] as number) + 1
    this.#victims[victim] = (this.#victims[victim] as number) + 1
    const distance = Math.abs(offset)
    // Most conflicts of a large set end here.
    if (distance > this.#lastDistance) return
    const base = this.#base
    const digits = ((victim + 1) * base + a + 1) * base + b + 1
    const code = kind * this.#codesOfKind + (kind === lastKind ? digits * base + c + 1 : digits)
    if (distance === this.#lastDistance && code > this.#lastCode) return
    this.#distances[this.#length] = distance
    this.#codes[this.#length++] = code
    if (this.#length === this.#codes.length) this.#shorten()
  }

  toResult(): CheckResult {
    this.#shorten()
    const victims = this.#carriers.slice(0, this.#carrierCount).flatMap(({ id }, index) => {
      const count = this.#victims[index] ?? 0
      return count === 0 ? [] : [[id, count] as const]
    })
    const totals = conflictKinds.map((kind, index) => [kind, this.#totals[index] ?? 0] as const)
    return {
      conflicts: [...this.#codes.subarray(0, this.#length)].map((code) => this.#toConflict(code)),
      totals: Object.fromEntries(totals) as Record<ConflictKind, number>,
      victims: Object.fromEntries(victims),
    }
  }

  /** Sorts the conflicts, and removes those beyond the limit. */
  #shorten(): void {
    const distances = this.#distances.slice(0, this.#length)
    const codes = this.#codes.slice(0, this.#length)
    const order = Uint32Array.from(codes, (_, index) => index).sort(
      (a, b) => (distances[a] ?? 0) - (distances[b] ?? 0) || (codes[a] ?? 0) - (codes[b] ?? 0),
    )
    this.#length = Math.min(this.#length, this.#limit)
    for (let position = 0; position < this.#length; position++) {
      const index = order[position] as number
      this.#distances[position] = distances[index] as number
      this.#codes[position] = codes[index] as number
    }
    if (this.#length < this.#limit) return
    this.#lastDistance = this.#distances[this.#limit - 1] ?? -1
    this.#lastCode = this.#codes[this.#limit - 1] ?? -1
  }

  #toConflict(code: number): Conflict {
    const base = this.#base
    const kindNumber = Math.min(lastKind, Math.floor(code / this.#codesOfKind))
    const kind = conflictKinds[kindNumber] as ConflictKind
    const digits = splitDigits(code - kindNumber * this.#codesOfKind, base, kindNumber === lastKind ? 4 : 3)
    const [victim, ...generators] = digits
      .filter((digit) => digit > 0)
      .map((digit) => this.#carriers[digit - 1] as Carrier) as [Carrier, ...Carrier[]]
    const productKhz = findProductKhz(kind, generators)
    const occupied = kind === 'occupied' ? this.#evidence?.occupied.get((digits[0] ?? 0) - 1) : undefined
    return {
      victim: victim.id,
      kind,
      product_mhz: isProductKind(kind) && productKhz !== null ? formatMhz(productKhz) : null,
      offset_khz: productKhz === null ? null : productKhz - victim.khz,
      guard_khz: this.#findGuardKhz(kind, victim, generators, digits),
      generators: generators.map(({ id }) => id),
      ...(occupied !== undefined && { scan_id: occupied.scanId, dbm: occupied.dbm, mhz: formatMhz(occupied.khz) }),
    }
  }

  #findGuardKhz(
    kind: ConflictKind,
    victim: Carrier,
    [other]: readonly Carrier[],
    digits: readonly number[],
  ): number | null {
    if (other === undefined) return null
    if (this.#evidence !== null && digits.some((digit) => digit > this.#carrierCount)) {
      const { measured } = this.#evidence
      return kind === 'peak' ? measured.peakSpacingKhz : peakGuardKhz(measured)
    }
    return isProductKind(kind) ? victim.guards[kind] : requiredSpacingKhz(victim, other)
  }
}

function splitDigits(code: number, base: number, count: number): number[] {
  const digits: number[] = []
  for (let rest = code; digits.length < count; rest = Math.floor(rest / base)) digits.unshift(rest % base)
  return digits
}

/** The factor of each generator in the formula of a product. */
const factors: Readonly<Partial<Record<ConflictKind, readonly number[]>>> = {
  duplicate: [1],
  spacing: [1],
  peak: [1],
  '2t3o': [2, -1],
  '3t3o': [1, 1, -1],
  '2t5o': [3, -2],
  '2t7o': [4, -3],
  '2t9o': [5, -4],
}

/** Returns the frequency of a product; for a pair of carriers, that of the other carrier. */
function findProductKhz(kind: ConflictKind, generators: readonly Carrier[]): number | null {
  const factorsOfKind = factors[kind]
  if (factorsOfKind === undefined) return null
  return generators.reduce((sum, { khz }, index) => sum + (factorsOfKind[index] ?? 0) * khz, 0)
}
