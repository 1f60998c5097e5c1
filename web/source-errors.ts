/** Why the sources and devices of a manufacturer fail, as sentences. */

import type { ManufacturerHealth } from '../src/model/health.ts'
import { words } from './words.ts'

/** One for each failing source, with its address where there are several; what has no source is said as it is. */
export function listErrors({ sources, error }: Pick<ManufacturerHealth, 'sources' | 'error'>): readonly string[] {
  const failing = sources.flatMap(({ source, error: why }) => (why === null ? [] : [{ source, why }]))
  if (failing.length === 0) return error === null ? [] : [error]
  return failing.map(({ source, why }) => (sources.length === 1 ? why : words.health.failing(source, why)))
}

/** One for each failing device. */
export function listDeviceErrors(about: Pick<ManufacturerHealth, 'device_errors' | 'more'>): readonly string[] {
  const { device_errors, more } = about
  const listed = device_errors.map(({ device, error }) => words.health.failing(device, error))
  return more === 0 ? listed : [...listed, words.health.moreDevices(more)]
}
