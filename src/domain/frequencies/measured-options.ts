/** The scans that are considered, and the limits for their levels, as clients send and receive them. */

import type { MeasuredBody, MeasuredRequest } from '../../contract/frequencies.ts'
import type { Body } from '../../contract/schema.ts'

/** Until someone chooses scans. */
export const defaultMeasured: MeasuredBody = {
  scan_ids: [],
  exclude_above_dbm: -85,
  peak_above_dbm: -60,
  peak_spacing_khz: 800,
  peak_products: true,
  max_age_hours: null,
  version: 0,
}

export function completeMeasured({
  version: _,
  ...request
}: Body<typeof MeasuredRequest>): Omit<MeasuredBody, 'version'> {
  const { version: __, ...defaults } = defaultMeasured
  return { ...defaults, ...request }
}
