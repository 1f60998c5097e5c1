/** Converts values that SSC 1 and SSC 2 have in common to the common format. */

import type { Encryption, TransmissionMode } from '../../domain/equipment/details.ts'
import { readText, readWhole } from '../../upstream/fields.ts'

/** Converts kHz to MHz as text. Returns undefined if the value is missing, null if it is invalid. */
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

/**
 * Reads whether one of the lists contains a warning. Returns undefined if no list was reported, null if none is valid.
 */
export function readWarning(warning: string, ...lists: readonly unknown[]): boolean | null | undefined {
  if (lists.some((list) => listIncludes(list, warning))) return true
  if (lists.some(Array.isArray)) return false
  return lists.every((list) => list === undefined) ? undefined : null
}

const noCapsule = /^(none|unknown)$/i

/** Reads the model of a capsule: `MMD_815_1` is the MMD 815-1. */
export function readCapsule(value: unknown): string | null | undefined {
  const capsule = readText(value)
  if (!capsule) return capsule
  return noCapsule.test(capsule) ? null : capsule.replace('_', ' ').replaceAll('_', '-')
}

/** Reads a low cut, such as `Off`, `80Hz` (SSC 2) and `80 Hz` (SSC 1), in Hz; 0 means off. */
export function readLowCut(value: unknown): number | null | undefined {
  if (value === undefined) return undefined
  const text = String(value)
  if (/^off$/i.test(text)) return 0
  const [, hertz] = /^(\d{1,3}) ?Hz$/i.exec(text) ?? []
  return hertz === undefined ? null : Number(hertz)
}

/** Reads whether the link density mode is on. */
export function readDensity(value: unknown): TransmissionMode | null | undefined {
  const isDense = readFlag(value)
  return typeof isDense === 'boolean' ? (isDense ? 'link_density' : 'standard') : isDense
}

/** Reads a channel's encryption: the device-wide setting, or `error` if the transmitter has a different key. */
export function readEncryption(isEnabled: unknown, warnings: unknown): Encryption | null | undefined {
  if (listIncludes(warnings, 'Aes256Error')) return 'error'
  const flag = readFlag(isEnabled)
  return typeof flag === 'boolean' ? (flag ? 'on' : 'off') : flag
}

/** Reads remaining minutes. The highest value of two bytes stands for an unknown one; Spectera reports -1. */
export function readMinutes(value: unknown): number | null | undefined {
  return readWhole(value, 0, 65_534)
}

/** Reads the remaining minutes of an EW-DX transmitter; 0 beside primary cells means that there is no prediction. */
export function readLifetime(minutes: unknown, batteryType: unknown): number | null | undefined {
  return minutes === 0 && readBatteryType(batteryType) === 'cells' ? null : readMinutes(minutes)
}

const batteryTypes = new Map([
  ['battery', 'rechargeable'],
  ['primarycell', 'cells'],
])

/** Accepts `Battery`, `Primary Cell` (SSC 1) and `PrimaryCell` (SSC 2). */
export function readBatteryType(value: unknown): string | null | undefined {
  if (value === undefined) return undefined
  return batteryTypes.get(String(value).replace(/\s/g, '').toLowerCase()) ?? null
}

/** Reads the active antenna: 0 means none, 1 means A, 2 means B. */
export function readDiversity(value: unknown): string | null | undefined {
  return value === undefined ? undefined : (['', 'A', 'B'][Number(value)] ?? null)
}
