/** The words of command strings -> values. Undefined is "not told", null "told, but unknown": every quantity has its own word for that. */

import { readFrequency } from '../../../upstream/fields.ts'

export type Word = string | undefined

/**
 * The highest values of a field's width are codes for an error, a warning or an unknown value, in every family: 252 to 255
 * of one byte (three digits), 65532 to 65535 of two bytes (five digits). Source: Shure's command strings for QLX-D and for
 * SBC220/240, which name them; ULX-D receivers send them as well.
 */
const highestByte = 251
const highestTwoBytes = 65_531

/** A field of three digits. */
export function readByte(word: Word, max = highestByte): number | null | undefined {
  return readInteger(word, 0, Math.min(max, highestByte))
}

/** A field of five digits. */
export function readTwoBytes(word: Word, max = highestTwoBytes): number | null | undefined {
  return readInteger(word, 0, Math.min(max, highestTwoBytes))
}

/** A field of three digits minus the device's own offset, `raw - 120` for instance. */
export function readShifted(word: Word, offset: number): number | null | undefined {
  const value = readByte(word)
  return typeof value === 'number' ? value - offset : value
}

/** A field without codes. */
export function readInteger(word: Word, min: number, max: number): number | null | undefined {
  if (word === undefined) return undefined
  if (!/^-?\d{1,8}$/.test(word)) return null
  const value = Number(word)
  return value >= min && value <= max ? value : null
}

/** kHz, in six digits or seven -> MHz as text. */
export function readKhz(word: Word): string | null | undefined {
  const khz = readInteger(word, 0, 99_999_999)
  return typeof khz === 'number' ? readFrequency(khz / 1000) : khz
}

/** `yes` and `no` are the device's words for it; anything else is unknown. */
export function readEither(word: Word, yes: string, no: string): boolean | null | undefined {
  if (word === undefined) return undefined
  if (word === yes) return true
  return word === no ? false : null
}

/** `192.168.001.010` -> `192.168.1.10`. */
export function readPaddedIp(word: Word): string | undefined {
  if (word === undefined || !/^\d{1,3}(\.\d{1,3}){3}$/.test(word)) return undefined
  return word.split('.').map(Number).join('.')
}
