import type { ManufacturerHealth } from '../../src/contract/health.ts'
import { t } from '../app/i18n.ts'

/** One message per failing source, with its name if there are several. Otherwise the manufacturer's own error. */
export function listErrors({ sources, error }: Pick<ManufacturerHealth, 'sources' | 'error'>): readonly string[] {
  const failing = sources.flatMap(({ source, error: reason }) => (reason === null ? [] : [{ source, reason }]))
  if (failing.length === 0) return error === null ? [] : [error]
  return failing.map(({ source, reason }) => (sources.length === 1 ? reason : t('health.failing', { source, reason })))
}

/** One message per listed device, and one with the number of failing devices that are not listed. */
export function listDeviceErrors(about: Pick<ManufacturerHealth, 'device_errors' | 'more'>): readonly string[] {
  const { device_errors, more } = about
  const listed = device_errors.map(({ device, error }) => t('health.failing', { source: device, reason: error }))
  return more === 0 ? listed : [...listed, t('health.moreDevices', { count: more })]
}
