/** Error messages of the sources and devices of a manufacturer. */

import type { ManufacturerHealth } from '../../src/contract/health.ts'
import { t } from '../app/i18n.ts'

/**
 * Returns one message per failing source. If the manufacturer has several sources, each message names its source. If no
 * source fails, returns the manufacturer's own error, if any.
 */
export function listErrors({ sources, error }: Pick<ManufacturerHealth, 'sources' | 'error'>): readonly string[] {
  const failing = sources.flatMap(({ source, error: reason }) => (reason === null ? [] : [{ source, reason }]))
  if (failing.length === 0) return error === null ? [] : [error]
  return failing.map(({ source, reason }) => (sources.length === 1 ? reason : t('health.failing', { source, reason })))
}

/** Returns one message per listed device, and one with the number of failing devices that are not listed, if any. */
export function listDeviceErrors(about: Pick<ManufacturerHealth, 'device_errors' | 'more'>): readonly string[] {
  const { device_errors, more } = about
  const listed = device_errors.map(({ device, error }) => t('health.failing', { source: device, reason: error }))
  return more === 0 ? listed : [...listed, t('health.moreDevices', { count: more })]
}
