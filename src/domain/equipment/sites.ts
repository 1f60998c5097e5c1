/** Filters equipment by the installation that monitors it: this one, or a site that it follows. */

import type { Receiver } from './receiver.ts'

/** This installation in filters. No manufacturer's record can have this code while it follows a site. */
export const localSite = 'local'

export interface EquipmentFilter {
  readonly manufacturer?: string | undefined
  readonly site?: string | undefined
}

/** `site` is null for this installation. */
export function includesSite(filter: EquipmentFilter, site: string | null): boolean {
  return filter.site === undefined || filter.site === (site ?? localSite)
}

export function includesReceiver(filter: EquipmentFilter, { manufacturer, origin }: Receiver): boolean {
  const isOfManufacturer = filter.manufacturer === undefined || filter.manufacturer === manufacturer
  return isOfManufacturer && includesSite(filter, origin?.site.code ?? null)
}

/** Returns the code of the record that follows a site, directly or through another site. */
export function recordOfSite(code: string): string {
  return code.split('/', 1)[0] ?? code
}
