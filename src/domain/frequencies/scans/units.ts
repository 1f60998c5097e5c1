/** Units of frequencies and levels in scan files. */

import { ScanFileError } from './scan.ts'
import { quote } from './scan-text.ts'

const khzByUnit: Readonly<Record<string, number>> = { hz: 0.001, khz: 1, mhz: 1000, ghz: 1_000_000 }

export function khzIn(unit: string): number {
  const khz = khzByUnit[unit.toLowerCase()]
  if (khz === undefined) {
    throw new ScanFileError(`Frequencies in ${quote(unit)} are not supported, only Hz, kHz, MHz and GHz.`)
  }
  return khz
}

/** Below this median, frequencies without a unit may be in MHz or in GHz. */
const lowestMhz = 10

/**
 * Guesses the unit of frequencies that a file does not name: MHz if their median is below 30,000, kHz if it is below 30
 * million, otherwise Hz.
 */
export function guessKhz(frequencies: readonly number[]): number {
  const median = Float64Array.from(frequencies).sort()[frequencies.length >> 1] ?? lowestMhz
  if (median < lowestMhz) {
    const heading = 'Name the unit in the heading, such as "Frequency (GHz)".'
    throw new ScanFileError(`The unit of the frequencies is not known: ${median} may be in MHz or GHz. ${heading}`)
  }
  return median < 30_000 ? 1000 : median < 30_000_000 ? 1 : 0.001
}

/** Added to a level to obtain dBm, at 50 Ω and at 75 Ω. */
const dbmOffsets: Readonly<Record<string, readonly [at50: number, at75: number]>> = {
  dbm: [0, 0],
  dbµv: [-107, -108.75],
  dbmv: [-47, -48.75],
}

/** Returns the number to add to a level in this unit to obtain dBm; null if it cannot be converted. */
export function dbmOffset(unit: string): number | null {
  const [, name = '', impedance] = /^(dB[a-zµ]+)(?:[^a-z\d/]*(50|75)\s*(?:Ω|ohms?)?\W*)?$/i.exec(unit) ?? []
  const offsets = dbmOffsets[name.toLowerCase().replace('u', 'µ')]
  return offsets === undefined ? null : offsets[impedance === '75' ? 1 : 0]
}

export function requireDbmOffset(unit: string): number {
  const offset = dbmOffset(unit)
  if (offset === null) throw unsupportedLevels(unit)
  return offset
}

export function unsupportedLevels(unit: string): ScanFileError {
  return new ScanFileError(`Levels in ${quote(unit)} are not supported, only dBm, dBµV and dBmV.`)
}

/**
 * Normalizes the signs for micro (dBµV) and ohm. Both have two Unicode characters, and become up to three characters if
 * the file is not in the encoding in which it was read.
 */
export function normalizeUnits(text: string): string {
  return text
    .replace(/(dB)\s?(?:(u)|[^ -~]{1,3})(V)/gi, (_, decibel, u = 'µ', volt) => decibel + u + volt)
    .replace(/\u03a9|\u2126|\u00ce\u00a9/g, 'Ω')
}

const maxHeadingLength = 100
const knownUnit = /(?<![a-z\d])(dB[a-zµ]*(?:\/[a-z]+)?|[kmgt]?Hz|%|percent)(?![a-z\d])/i
const unitAtEnd = /(?:^|[\s_([/])([munp]?[VW])[\s)\]]*$/
const inBrackets = /[[({]([^\])}[({]+)[\])}]/
/** Text in brackets that describes a trace and is not a unit. */
const description = /max|min|avg|average|mean|peak|hold|live|rms|current|trace|sweep|ant|cent|^[a-z\d]$/i
const impedance = /\b(?:50|75)\s*(?:Ω|ohms?)/i

/** Returns the unit in a heading as it is written there, or null. */
export function unitIn(heading: string): string | null {
  const text = normalizeUnits(heading.slice(0, maxHeadingLength))
  const unit = (knownUnit.exec(text) ?? unitAtEnd.exec(text))?.[1]
  if (unit !== undefined) {
    const ohms = impedance.exec(text)?.[0]
    return /^dB/i.test(unit) && ohms !== undefined ? `${unit} ${ohms}` : unit
  }
  const other = inBrackets.exec(text)?.[1]?.trim() || undefined
  return other === undefined || description.test(other) ? null : other
}

export function isFrequencyUnit(unit: string | null): boolean {
  return unit !== null && /^.?Hz$/i.test(unit)
}

/** Returns the convertible units of levels in a text, each once. */
export function levelUnitsIn(text: string): string[] {
  return [...normalizeUnits(text).matchAll(/(?<![a-z\d])dB(?:m|[uµ]V|mV)(?![a-z\d/])/gi)].map(([unit]) => unit)
}
