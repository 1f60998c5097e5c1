/**
 * Parses the values of command strings. Undefined means "not reported"; null means "reported as unknown", for which
 * most values have a code.
 */

import { readFrequency } from '../../../upstream/fields.ts'

export type RawValue = string | undefined

/**
 * The highest values of a field are codes for an error, a warning or an unknown value, in every family: 252 to 255 in
 * one byte (three digits); `fields.ts` has the codes of the others. Source: Shure's command strings for QLX-D and for
 * SBC220/240, which document these codes; ULX-D receivers send them as well.
 */
export const highestByte = 251

/** Reads a field of three digits. */
export function readByte(raw: RawValue, max = highestByte): number | null | undefined {
  return readInteger(raw, 0, Math.min(max, highestByte))
}

/** Reads a field of three digits and subtracts its offset: `raw - 120` for instance. */
export function readShifted(raw: RawValue, offset: number): number | null | undefined {
  const value = readByte(raw)
  return typeof value === 'number' ? value - offset : value
}

/** Reads an integer field that has no codes. */
export function readInteger(raw: RawValue, min: number, max: number): number | null | undefined {
  if (raw === undefined) return undefined
  if (!/^-?\d{1,8}$/.test(raw)) return null
  const value = Number(raw)
  return value >= min && value <= max ? value : null
}

/** Converts kHz, in six or seven digits, to MHz as text. */
export function readKhz(raw: RawValue): string | null | undefined {
  const khz = readInteger(raw, 0, 99_999_999)
  return typeof khz === 'number' ? readFrequency(khz / 1000) : khz
}

/** Reads a field that is `yes` for true and `no` for false; any other value is unknown. */
export function readEither(raw: RawValue, yes: string, no: string): boolean | null | undefined {
  if (raw === undefined) return undefined
  if (raw === yes) return true
  return raw === no ? false : null
}

const batteryTypes: Readonly<Record<string, string>> = {
  LION: 'lithium-ion pack',
  ALKA: 'alkaline cells',
  NIMH: 'NiMH cells',
  LITH: 'lithium cells',
}

export function readBatteryType(raw: RawValue): string | null | undefined {
  return raw === undefined ? undefined : (batteryTypes[raw] ?? null)
}

/** Reads an IP address with padded numbers: `192.168.001.010` -> `192.168.1.10`. */
export function readPaddedIp(raw: RawValue): string | undefined {
  if (raw === undefined || !/^\d{1,3}(\.\d{1,3}){3}$/.test(raw)) return undefined
  return raw.split('.').map(Number).join('.')
}
