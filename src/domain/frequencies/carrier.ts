/**
 * Carriers and the rules for a single carrier: guards, filter window, zone, band. All frequencies in this folder are
 * whole kHz; interfaces write them as MHz with three decimals.
 */

import type { ProductKind } from '../../contract/values.ts'

/** In kHz. A distance below the guard is a conflict; 0 disables the test. */
export type Guards = Readonly<Record<'spacing' | ProductKind, number>>

/** Both ends are included. */
export interface KhzRange {
  readonly fromKhz: number
  readonly toKhz: number
}

/** The properties of a carrier that its equipment determines. */
export interface Equipment {
  readonly guards: Guards
  /** Products count only if all their generators are within this distance of the victim; null without a limit. */
  readonly windowKhz: number | null
  /** The centres of fixed filters; the window surrounds the nearest one. If empty, it surrounds the carrier. */
  readonly filterCentresKhz: readonly number[]
  /** False for equipment whose intermodulation products are negligible. */
  readonly isGenerator: boolean
  readonly occupiedKhz: number
  /** The tuning range; empty if unknown. */
  readonly ranges: readonly KhzRange[]
}

/** The id or the name of a group. */
export type GroupName = string | number

export interface Carrier extends Equipment {
  readonly id: string
  readonly khz: number
  /** Products are found only within a zone. All carriers without a zone (null) share one. */
  readonly zone: string | null
  /** For carriers that are never on together. */
  readonly groups: readonly GroupName[]
  /** True if RF is received although the transmitter is off. */
  readonly hasForeignRf: boolean
}

/** The default occupied width: FM and narrowband digital equipment occupies less than 200 kHz. */
export const defaultOccupiedKhz = 200

/** A carrier at least this wide is a wideband carrier, which fills its block with many channels. */
const widebandKhz = 1000

const noGroups: Carrier['groups'] = []

const noGuards: Guards = { spacing: 0, '2t3o': 0, '3t3o': 0, '2t5o': 0, '2t7o': 0, '2t9o': 0 }

/** Missing guards are 0. */
export function equipmentWithGuards(guards: Partial<Guards>, windowMhz: number | null = null): Equipment {
  return {
    guards: { ...noGuards, ...guards },
    windowKhz: windowMhz === null ? null : Math.round(windowMhz * 1000),
    filterCentresKhz: [],
    isGenerator: true,
    occupiedKhz: defaultOccupiedKhz,
    ranges: [],
  }
}

export function createCarrier(
  carrier: Pick<Carrier, 'id' | 'khz'> & Partial<Pick<Carrier, 'zone' | 'groups' | 'hasForeignRf'>>,
  equipment: Equipment,
): Carrier {
  return { ...equipment, zone: null, groups: noGroups, hasForeignRf: false, ...carrier }
}

/** Parses MHz with three decimals, such as `470.125`. */
export function parseMhz(text: string): number | null {
  return /^\d{1,5}\.\d{3}$/.test(text) ? Number(text.replace('.', '')) : null
}

export function formatMhz(khz: number): string {
  const digits = String(Math.abs(khz)).padStart(4, '0')
  return `${khz < 0 ? '-' : ''}${digits.slice(0, -3)}.${digits.slice(-3)}`
}

/**
 * Returns the minimum distance between the centres of two carriers: the larger of their guards. A wideband carrier
 * keeps the guard of a narrowband one from the edge of its block, and does not overlap another wideband carrier.
 */
export function requiredSpacingKhz(a: Equipment, b: Equipment): number {
  const [wide, other] = a.occupiedKhz >= b.occupiedKhz ? [a, b] : [b, a]
  const larger = Math.max(a.guards.spacing, b.guards.spacing)
  if (wide.occupiedKhz < widebandKhz) return larger
  const beyondEdge = other.occupiedKhz < widebandKhz ? other.guards.spacing : other.occupiedKhz / 2
  return Math.max(larger, Math.ceil(wide.occupiedKhz / 2 + beyondEdge))
}

export function isInRange(khz: number, { fromKhz, toKhz }: KhzRange): boolean {
  return fromKhz <= khz && khz <= toKhz
}

/** True if the equipment can be tuned to the frequency, or if its bands are unknown. */
export function isInBand({ ranges }: Equipment, khz: number): boolean {
  return ranges.length === 0 || ranges.some((range) => isInRange(khz, range))
}
