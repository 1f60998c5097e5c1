/** Values of command strings. Undefined means "not reported"; null means "reported as unknown". */

import { readFrequency } from '../../../upstream/fields.ts'

export type RawValue = string | undefined

export function toMhz(khz: number | null | undefined): string | null | undefined {
  return typeof khz === 'number' ? readFrequency(khz / 1000) : khz
}

/** Reads an IP address with padded numbers: `192.168.001.010` -> `192.168.1.10`. */
export function readPaddedIp(raw: RawValue): string | undefined {
  if (raw === undefined || !/^\d{1,3}(\.\d{1,3}){3}$/.test(raw)) return undefined
  return raw.split('.').map(Number).join('.')
}
