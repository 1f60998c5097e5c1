/** The text of scan files: decoding, lines, cells, decimal numbers, times, units, and the lines before a table. */

import { ScanFileError } from './scan.ts'

const decodedAtOnce = 8192

/**
 * Decodes a text file as UTF-16 if it begins with a byte order mark or with ASCII characters in UTF-16, otherwise as
 * Latin-1. Scans are ASCII except for comments, which are not used, and the micro sign.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe) return decodeUtf16(bytes.subarray(2), 0)
  if (first === 0xfe && second === 0xff) return decodeUtf16(bytes.subarray(2), 1)
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return decodeUtf16(bytes, 0)
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return decodeUtf16(bytes, 1)
  return decodeLatin1(first === 0xef && second === 0xbb && third === 0xbf ? bytes.subarray(3) : bytes)
}

export function decodeLatin1(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let start = 0; start < bytes.length; start += decodedAtOnce) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + decodedAtOnce)))
  }
  return parts.join('')
}

/** `low` is the position of the lower byte in each pair. */
function decodeUtf16(bytes: Uint8Array, low: 0 | 1): string {
  const codes = new Uint16Array(bytes.length >> 1)
  for (let index = 0; index < codes.length; index += 1) {
    const start = index * 2
    codes[index] = (bytes[start + low] ?? 0) | ((bytes[start + 1 - low] ?? 0) << 8)
  }
  const parts: string[] = []
  for (let start = 0; start < codes.length; start += decodedAtOnce) {
    parts.push(String.fromCharCode(...codes.subarray(start, start + decodedAtOnce)))
  }
  return parts.join('')
}

export interface Line {
  readonly number: number
  readonly text: string
}

/** Skips empty lines. A line ends with LF, CRLF or CR. */
export function* linesOf(text: string): Iterable<Line> {
  const end = text.includes('\n') ? '\n' : '\r'
  let number = 0
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf(end, start)
    const stop = next === -1 ? text.length : next
    number += 1
    const line = text.slice(start, stop).trim()
    if (line !== '') yield { number, text: line }
    start = stop + 1
  }
}

export type Delimiter = ',' | ';' | '\t' | ' '

/** Splits a line into cells. Removes quotes around cells, and empty cells at the end. */
export function cellsOf(text: string, delimiter: Delimiter): string[] {
  const cells = text.includes('"') ? splitQuoted(text, delimiter) : text.split(delimiter === ' ' ? / +/ : delimiter)
  const trimmed = cells.map((cell) => cell.trim())
  while (trimmed.at(-1) === '') trimmed.pop()
  return trimmed
}

function splitQuoted(text: string, delimiter: Delimiter): string[] {
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === delimiter && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else cell += character
  }
  return [...cells, cell]
}

const decimal = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i

/** Accepts a decimal point or comma; null if the text is not a number. */
export function parseDecimal(text: string): number | null {
  return decimal.test(text) ? Number(text.replace(',', '.')) : null
}

export function isUnmeasured(text: string): boolean {
  return /^([+-]?(nan|inf|infinity))?$/i.test(text)
}

/** Quotes a part of the file in an error message: at most 24 printable ASCII characters and unit signs. */
export function quote(text: string): string {
  const printable = text.replace(/[^\x20-\x7eµΩ]/g, '?')
  return `"${printable.length > 24 ? `${printable.slice(0, 24)}…` : printable}"`
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * Parses a date and time without a time zone as local time of this process, in epoch milliseconds. Returns null for
 * anything else. `11/22/2026` begins with the month unless only the day is possible; `22.11.2026` begins with the day.
 */
export function parseLocalTime(date: string, time: string): number | null {
  const day = parseDay(date)
  const [, hours, minutes, seconds = '0', half] =
    /^(\d{1,2}):([0-5]\d)(?::([0-5]\d(?:[.,]\d{1,9})?))?\s*([ap]m)?$/i.exec(time.trim()) ?? []
  if (day === null || hours === undefined) return null
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const milliseconds = Math.floor(Number(seconds.replace(',', '.')) * 1000)
  const parsed = new Date(day.year, day.month - 1, day.day, hour, Number(minutes), 0, milliseconds)
  const isSameDay = parsed.getMonth() === day.month - 1 && parsed.getDate() === day.day
  return hour < 24 && isSameDay ? parsed.getTime() : null
}

function parseDay(text: string): { readonly year: number; readonly month: number; readonly day: number } | null {
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text)
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) }
  const numeric = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$/.exec(text)
  if (numeric !== null) {
    const [first, second, year] = [Number(numeric[1]), Number(numeric[3]), Number(numeric[4])]
    const beginsWithDay = numeric[2] === '.' || first > 12
    return beginsWithDay ? { year, month: second, day: first } : { year, month: first, day: second }
  }
  const named = /^(?:[a-z]{3} )?([a-z]{3}) +(\d{1,2}) (\d{4})$/i.exec(text)
  const month = months.indexOf(named?.[1]?.toLowerCase() ?? '') + 1
  return named === null || month === 0 ? null : { year: Number(named[3]), month, day: Number(named[2]) }
}

/** Longer lines contain no names. */
const maxLength = 1000

const unitLine = /^\W*(.*?)[\s_-]*units?["\s:=;,]+([^;,\t"]+)/i
const frequencyKey = /^(x|xdata|x.?axis|freq\w*)$/i
const levelKey = /^(rf|y|ydata|y.?axis|data|level|ampl\w*|power|trace|)$/i

export class Preamble {
  readonly #lines: string[] = []
  readonly #mentioned = new Map<string, string>()
  #levelUnit: string | null = null
  frequencyUnit: string | null = null
  takenAt: number | null = null

  add(line: string): void {
    const text = normalizeUnits(line.slice(0, maxLength))
    this.#lines.push(text)
    for (const unit of levelUnitsIn(text)) this.#mentioned.set(unit.toLowerCase().replace('u', 'µ'), unit)
    const [, key = '', value = ''] = unitLine.exec(text) ?? []
    const unit = value.trim()
    if (unit !== '' && parseDecimal(unit) === null) {
      if (frequencyKey.test(key)) this.frequencyUnit = unit
      else if (levelKey.test(key)) this.#levelUnit = unit
    }
    const [name = '', time = ''] = cellsOf(text, ';')
    if (name === 'Date/Time') this.takenAt = readTime(time)
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  has(pattern: RegExp): boolean {
    return this.#lines.some((line) => pattern.test(line))
  }

  levelUnit(): string | null {
    if (this.#levelUnit !== null) return this.#levelUnit
    // The columns of this heading are separated by spaces.
    const last = this.#lines.at(-1) ?? ''
    const [, inBrackets] = /[[(]\s*(%|dB[\w/]*|[munp]?[VW])\s*[\])]/.exec(last) ?? []
    if (inBrackets !== undefined && /fr.q|Hz/i.test(last) && dbmOffset(inBrackets) === null) {
      throw unsupportedLevels(inBrackets)
    }
    const [unit = null, other] = this.#mentioned.values()
    if (other !== undefined) {
      const names = [...this.#mentioned.values()].map(quote).join(' and ')
      throw new ScanFileError(`The unit of the levels is not known, because the file mentions ${names}.`)
    }
    return unit
  }
}

function readTime(text: string): number | null {
  const [, date = '', time = ''] = /^(\S+)[T ,]+(\d.*)$/.exec(text) ?? []
  return parseLocalTime(date, time)
}

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
function levelUnitsIn(text: string): string[] {
  return [...normalizeUnits(text).matchAll(/(?<![a-z\d])dB(?:m|[uµ]V|mV)(?![a-z\d/])/gi)].map(([unit]) => unit)
}
