/** Values in the words that SSC 1 and SSC 2 share -> the common format's. */

import type { Encryption } from '../../model/details.ts'

/** kHz -> MHz as text; undefined where nothing was told, null where it makes no sense. */
export function readKhz(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  return typeof value === 'number' && value > 0 && value < 100_000_000 ? (value / 1000).toFixed(3) : null
}

export function readFlag(value: unknown): boolean | null | undefined {
  if (value === undefined) return undefined
  return typeof value === 'boolean' ? value : null
}

export function listIncludes(list: unknown, value: string): boolean {
  return Array.isArray(list) && list.includes(value)
}

/** Of a channel: the device's switch, unless this channel's transmitter has another key. */
export function readEncryption(isEnabled: unknown, warnings: unknown): Encryption | null | undefined {
  if (listIncludes(warnings, 'Aes256Error')) return 'error'
  const flag = readFlag(isEnabled)
  return typeof flag === 'boolean' ? (flag ? 'on' : 'off') : flag
}

const batteryTypes = new Map([
  ['battery', 'rechargeable'],
  ['primarycell', 'cells'],
])

/** `Battery`, `Primary Cell` of SSC 1, `PrimaryCell` of SSC 2. */
export function readBatteryType(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  return batteryTypes.get(String(value).replace(/\s/g, '').toLowerCase()) ?? null
}

/** The letter of the antenna in use: 0 none, 1 A, 2 B. */
export function readDiversity(value: unknown): string | null | undefined {
  return value === undefined ? undefined : (['', 'A', 'B'][Number(value)] ?? null)
}
