/** Converts values that SSC 1 and SSC 2 have in common to the common format. */

import type { Encryption } from '../../domain/equipment/receiver.ts'
import { type Field, field } from '../../upstream/field-table.ts'
import { readText } from '../../upstream/fields.ts'

/** The warnings of an EW-DX receiver channel, and of its transmitter. */
export const channelWarnings = ['NoLink', 'LowSignal', 'RfPeak', 'AfPeak', 'Aes256Error']
export const transmitterWarnings = ['AfPeak', 'LowBattery']

export function toMhz(khz: number | null | undefined): string | null | undefined {
  return typeof khz === 'number' ? (khz / 1000).toFixed(3) : khz
}

export function listIncludes(list: unknown, value: string): boolean {
  return Array.isArray(list) && list.includes(value)
}

/** True if one of the lists contains the warning. Returns undefined if no list was reported, null if none is valid. */
export function readWarning(warning: string, ...lists: readonly unknown[]): boolean | null | undefined {
  if (lists.some((list) => listIncludes(list, warning))) return true
  if (lists.some(Array.isArray)) return false
  return lists.every((list) => list === undefined) ? undefined : null
}

/** The model of a capsule: `MMD_815_1` is the MMD 815-1. */
export function capsule(address: string): Field<string> {
  return field({
    ...{ address, unit: 'text', range: '', codes: { None: 'no capsule', Unknown: 'unknown' } },
    hasForm: (raw) => typeof raw === 'string',
    convert(raw) {
      const model = readText(raw)
      return model && !/^(none|unknown)$/i.test(model) ? model.replace('_', ' ').replaceAll('_', '-') : null
    },
  })
}

/** A low cut in Hz, such as `Off`, `80Hz` (SSC 2) and `80 Hz` (SSC 1); 0 means off. */
export function lowCut(address: string): Field<number> {
  return field({
    ...{ address, unit: 'text', range: 'Off, or Hz', hasForm: (raw) => typeof raw === 'string' },
    convert(raw) {
      if (/^off$/i.test(String(raw))) return 0
      const [, hertz] = /^(\d{1,3}) ?Hz$/i.exec(String(raw)) ?? []
      return hertz === undefined ? null : Number(hertz)
    },
  })
}

/** Reads a channel's encryption: the device-wide setting, or `error` if the transmitter has a different key. */
export function readEncryption(
  isEnabled: boolean | null | undefined,
  warnings: unknown,
): Encryption | null | undefined {
  if (listIncludes(warnings, 'Aes256Error')) return 'error'
  return typeof isEnabled === 'boolean' ? (isEnabled ? 'on' : 'off') : isEnabled
}

/** Reads the remaining minutes of an EW-DX transmitter; with primary cells, 0 means that there is no prediction. */
export function readLifetime(
  minutes: number | null | undefined,
  batteryType: string | null | undefined,
): number | null | undefined {
  return minutes === 0 && batteryType === 'cells' ? null : minutes
}
