/**
 * Reads validated values from unknown JSON. A field of the wrong type or out of range is null (reported but unknown);
 * an absent field is undefined (not reported).
 *
 * Text is cleaned, so that every database, terminal and page shows the same. Control characters and lone surrogates are
 * replaced, characters that override the direction are removed, and long text is truncated.
 */

import { type NetworkMode, parseNetworkMode } from '../domain/identity/network.ts'
import { directionOverrides } from '../domain/text.ts'

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
  // Most text needs no cleaning.
  if (text.length <= maxChars && plainText.test(text)) return text.trim()
  // Truncates very long text roughly first, so that it is not processed in full.
  const points = Array.from(
    text
      .slice(0, maxChars * 4)
      .toWellFormed()
      .replace(directionOverrides, '')
      .replace(blankRuns, (run) => (control.test(run) ? ' ' : run)),
  )
  return points.slice(0, maxChars).join('').trim()
}

/** White space and control characters, as one class, so that matching takes linear time. */
const blankRuns = /[\s\p{Cc}]+/gu
const control = /\p{Cc}/u
const plainText = /^[\u0020-\u007e\u00a0-\u2027\u2070-\ud7ff]*$/

/** Rounds fractions; null outside the bounds. */
export function readWhole(value: unknown, min: number, max: number): number | null | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) return null
  const whole = Math.round(value)
  return whole >= min && whole <= max ? whole : null
}

export function readBattery(value: unknown): number | null | undefined {
  return readWhole(value, 0, 100)
}

/** In dBFS; values above full scale become 0. */
export function readAudioLevel(value: unknown): number | null | undefined {
  const level = readWhole(value, -200, 100)
  return level && level > 0 ? 0 : level
}

/** In dBm. */
export function readRfLevel(value: unknown): number | null | undefined {
  return readWhole(value, -200, 50)
}

/**
 * Converts a frequency in MHz, a number or a string with or without the unit, to a string with three decimal places.
 */
export function readFrequency(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  const mhz = typeof value === 'string' ? parseMhz(value) : value
  return typeof mhz === 'number' && mhz > 0 && mhz < 100_000 ? mhz.toFixed(3) : null
}

function parseMhz(text: string): number {
  // Longer text is not a frequency, and the regular expression would need minutes for it.
  if (text.length > 32) return Number.NaN
  return Number(text.replace(/\s*MHz\s*$/i, '') || Number.NaN)
}

/** Only dotted decimal notation. */
export function readIp(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' && ipv4.test(value.trim()) ? value.trim() : null
}

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

export function readNetworkMode(value: unknown): NetworkMode | null | undefined {
  return value === undefined ? undefined : parseNetworkMode(value)
}

/** Normalizes a MAC address to upper case with colons. */
export function readMac(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  const digits = typeof value === 'string' ? value.replace(/[^0-9a-f]/gi, '') : ''
  return digits.length === 12 ? (digits.toUpperCase().match(/../g) ?? []).join(':') : null
}

/** Removes undefined fields, so that they do not overwrite known values. */
export function withoutUndefined<T extends object>(fields: T): T {
  const defined: Partial<T> = {}
  let isComplete = true
  for (const key in fields) {
    if (fields[key] === undefined) isComplete = false
    else defined[key] = fields[key]
  }
  // The fields are copied, because `delete` would make V8 store the object in a slower and larger form.
  return isComplete ? fields : (defined as T)
}
