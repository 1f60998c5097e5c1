/** Which sources a command is about. */

import type { House } from '../house.ts'
import type { HeardSource } from '../manufacturers/sources.ts'
import { UsageError } from './terminal.ts'

/** Those of the named manufacturer, else of all. An unknown or disabled one is wrong usage. */
export function sourcesOf(house: House, manufacturer: string | undefined): readonly HeardSource[] {
  if (manufacturer === undefined) return house.sources
  const known = house.manufacturers()
  const named = known.find(({ code }) => code === manufacturer)
  if (named === undefined) {
    const codes = known.map(({ code }) => code).join(', ')
    throw new UsageError(`unknown manufacturer ${manufacturer}; configured: ${codes === '' ? 'none' : codes}`)
  }
  if (!named.isEnabled) throw new UsageError(`manufacturer ${manufacturer} is disabled`)
  return house.sources.filter((heard) => heard.manufacturer === manufacturer)
}
