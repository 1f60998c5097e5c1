/** The words of command strings -> values. Undefined is "not told", null "told, but unknown": every quantity has its own word for that. */

import { readFrequency } from '../../../upstream/fields.ts'

export type Word = string | undefined

/** A whole number; from `unknownFrom` on it is a code for something that is not known. */
export function readNumber(word: Word, unknownFrom: number): number | null | undefined {
  if (word === undefined) return undefined
  if (!/^-?\d{1,8}$/.test(word)) return null
  const value = Number(word)
  return value < unknownFrom ? value : null
}

/** The number moved by the device's own offset, `raw - 120` for instance. */
export function readShifted(word: Word, offset: number, unknownFrom: number): number | null | undefined {
  const value = readNumber(word, unknownFrom)
  return typeof value === 'number' ? value - offset : value
}

/** kHz, in six digits or seven -> MHz as text. */
export function readKhz(word: Word): string | null | undefined {
  const khz = readNumber(word, 100_000_000)
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
