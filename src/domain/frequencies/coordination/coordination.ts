/** A coordination of frequencies, as another program has saved it. */

import type { CoordinationFormat } from '../../../contract/values.ts'
import type { ProfileChange } from '../profile-changes.ts'
import { highestMhz } from '../sweeps/sweep.ts'

export const maxCoordinationBytes = 16 * 1024 * 1024
export const maxCoordinatedCarriers = 1000
const maxNameLength = 255

export interface Coordination {
  readonly format: CoordinationFormat
  /** The name of the show; null if the file does not contain one. */
  readonly title: string | null
  readonly carriers: readonly CoordinatedCarrier[]
  readonly spares: readonly SpareFrequency[]
  readonly devices: readonly CoordinatedDevice[]
  readonly inclusions: readonly NamedRange[]
  readonly exclusions: readonly NamedRange[]
  /** Numbers of the TV channels that carriers must avoid. */
  readonly tvChannels: readonly number[]
  /** Limits for levels of scans in dBm; null if the file does not contain them. */
  readonly excludeAboveDbm: number | null
  readonly peakAboveDbm: number | null
  /** The distances that the file lists for its equipment. */
  readonly profiles: readonly EquipmentProfile[]
  readonly skipped: readonly SkippedPart[]
}

export interface EquipmentProfile extends ProfileChange {
  readonly name: string
}

/** The names of series, band and mode, as the program writes them. */
export interface CoordinatedEquipment {
  readonly series: string
  readonly band: string
  readonly mode: string
}

export interface CoordinatedCarrier extends CoordinatedEquipment {
  readonly name: string
  readonly khz: number
  readonly zone: string | null
  readonly group: string | null
  readonly isLocked: boolean
  /** The channel of a device in `devices`; null if the carrier belongs to none. Reports do not number channels. */
  readonly channel: { readonly deviceKey: string; readonly number: number | null } | null
}

export interface SpareFrequency extends CoordinatedEquipment {
  readonly khz: number
}

export interface CoordinatedDevice {
  readonly key: string
  readonly name: string
  readonly manufacturer: string
  readonly model: string
  /** An IPv4 address; null if none is set. */
  readonly address: string | null
  readonly serialNumber: string | null
}

/** Both ends are included. */
export interface NamedRange {
  readonly name: string
  readonly fromKhz: number
  readonly toKhz: number
}

/** `why` is a sentence. */
export interface SkippedPart {
  readonly line: number
  readonly why: string
}

/** The message names the line or part, and the expected content. */
export class CoordinationFileError extends Error {
  override readonly name = 'CoordinationFileError'
}

/** Returns a frequency in whole kHz, or null for 0, which means none. Throws for anything else. */
export function parseKhz(text: string, line: number): number | null {
  const trimmed = text.trim()
  const khz = /^\d{1,8}(\.0+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN
  if (!(khz <= highestMhz * 1000))
    throw new CoordinationFileError(`Line ${line}: ${quote(text)} is not a frequency in kHz.`)
  return khz === 0 ? null : khz
}

/** The limits of the interface for profiles, in whole kHz. */
const profileLimits = { guard: [0, 100_000], step: [1, 10_000], filter: [-10_000_000, 10_000_000] } as const

/** Returns whole kHz. Throws for what the interface would refuse in a profile. */
export function parseProfileKhz(text: string, kind: keyof typeof profileLimits, line: number): number {
  const [least, most] = profileLimits[kind]
  const khz = /^-?\d{1,8}(\.0+)?$/.test(text.trim()) ? Number(text) : Number.NaN
  if (khz >= least && khz <= most) return khz
  throw new CoordinationFileError(`Line ${line}: ${quote(text)} is not a whole number of kHz from ${least} to ${most}.`)
}

/** Returns an IPv4 address that is text or a number, or null for 0 and anything else. */
export function parseAddress(text: string): string | null {
  const dotted = /^\d{1,10}$/.test(text) ? dottedOf(Number(text)) : text.trim()
  const isAddress = /^(\d{1,3}\.){3}\d{1,3}$/.test(dotted) && dotted.split('.').every((part) => Number(part) < 256)
  return isAddress && dotted !== '0.0.0.0' ? dotted : null
}

function dottedOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

/** Returns a name without control characters, of limited length. */
export function toName(text: string): string {
  return [...text.replace(/[\p{Cc}\p{Cs}]/gu, ' ').trim()].slice(0, maxNameLength).join('')
}

/** Keeps equal names apart by numbers: `Vox`, `Vox 2`, `Vox 3`. A carrier without a name remains without one. */
export function numberEqualNames(carriers: readonly CoordinatedCarrier[]): CoordinatedCarrier[] {
  const taken = new Set(carriers.map(({ name }) => name))
  const seen = new Set<string>()
  return carriers.map((carrier) => {
    const { name } = carrier
    if (name === '' || !seen.has(name)) {
      seen.add(name)
      return carrier
    }
    let number = 2
    while (taken.has(`${name} ${number}`)) number += 1
    taken.add(`${name} ${number}`)
    return { ...carrier, name: `${name} ${number}` }
  })
}

/** Refuses a file without carriers, or with too many. */
export function requireCarriers({ carriers, spares }: Pick<Coordination, 'carriers' | 'spares'>): void {
  if (carriers.length === 0) throw new CoordinationFileError('The file contains no frequencies of channels.')
  if (carriers.length + spares.length > maxCoordinatedCarriers) {
    throw new CoordinationFileError(`The file contains more than ${maxCoordinatedCarriers} frequencies.`)
  }
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
