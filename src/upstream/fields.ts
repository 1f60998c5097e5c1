/**
 * Unknown JSON -> clean values. A field of the wrong type or out of its range is null (told, but unknown); an absent one
 * is undefined (not told). In text a run of control characters becomes one space, broken surrogates are replaced, and long
 * text is cut, so that it is the same on every database, terminal and page.
 */

import { type NetworkMode, parseNetworkMode } from '../model/network.ts'

export type Json = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const maxNameChars = 255
const maxTextChars = 1024

export function readText(value: unknown, maxChars = maxTextChars): string | null | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string') return null
  const text = cleanText(value, maxChars)
  return text === '' ? null : text
}

export function cleanText(text: string, maxChars: number): string {
  // Few texts need any of this; the common one is given back as it is.
  if (text.length <= maxChars && plainText.test(text)) return text.trim()
  // Cut roughly first: a megabyte of name is not worth walking through.
  const points = Array.from(
    text
      .slice(0, maxChars * 4)
      .toWellFormed()
      .replace(blankRuns, (run) => (control.test(run) ? ' ' : run)),
  )
  return points.slice(0, maxChars).join('').trim()
}

/** White space and control characters, matched as one class, so that the time is linear in the length. */
const blankRuns = /[\s\p{Cc}]+/gu
const control = /\p{Cc}/u
const plainText = /^[\u0020-\u007e\u00a0-\ud7ff]*$/

/** A whole number within bounds; fractions are rounded. */
export function readWhole(value: unknown, min: number, max: number): number | null | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) return null
  const whole = Math.round(value)
  return whole >= min && whole <= max ? whole : null
}

export function readBattery(value: unknown): number | null | undefined {
  return readWhole(value, 0, 100)
}

/** dBFS; what claims to be above full scale is at full scale. */
export function readAudioLevel(value: unknown): number | null | undefined {
  const level = readWhole(value, -200, 100)
  return level && level > 0 ? 0 : level
}

/** dBm. */
export function readRfLevel(value: unknown): number | null | undefined {
  return readWhole(value, -200, 50)
}

/** MHz as a number or text, with or without the unit -> text with three decimals. */
export function readFrequency(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  const mhz = typeof value === 'string' ? parseMhz(value) : value
  return typeof mhz === 'number' && mhz > 0 && mhz < 100_000 ? mhz.toFixed(3) : null
}

function parseMhz(text: string): number {
  // A longer one is no frequency, and would keep the expression busy for minutes.
  if (text.length > 32) return Number.NaN
  return Number(text.replace(/\s*MHz\s*$/i, '') || Number.NaN)
}

/** IPv4 in four decimal parts. */
export function readIp(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' && ipv4.test(value.trim()) ? value.trim() : null
}

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

export function readNetworkMode(value: unknown): NetworkMode | null | undefined {
  return value === undefined ? undefined : parseNetworkMode(value)
}

/** Upper case with colons. */
export function readMac(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  const digits = typeof value === 'string' ? value.replace(/[^0-9a-f]/gi, '') : ''
  return digits.length === 12 ? (digits.toUpperCase().match(/../g) ?? []).join(':') : null
}

/** Drops the fields that were not told, so that they overwrite nothing. */
export function told<T extends object>(fields: T): T {
  const kept: Partial<T> = {}
  let isWhole = true
  for (const key in fields) {
    if (fields[key] === undefined) isWhole = false
    else kept[key] = fields[key]
  }
  // Not by `delete`: an object that lost a field is slow, and large, for good.
  return isWhole ? fields : (kept as T)
}
