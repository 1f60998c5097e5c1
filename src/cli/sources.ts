/** Which sources a command is about. */

import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { Runtime } from '../runtime.ts'
import { UsageError } from './terminal.ts'

/** Those of the named manufacturer, else of all. An unknown or disabled one is wrong usage. */
export function sourcesOf(runtime: Runtime, manufacturer: string | undefined): readonly MonitoredSource[] {
  if (manufacturer === undefined) return runtime.sources
  const known = runtime.manufacturers()
  const named = known.find(({ code }) => code === manufacturer)
  if (named === undefined) {
    const codes = known.map(({ code }) => code).join(', ')
    throw new UsageError(`unknown manufacturer ${manufacturer}; configured: ${codes === '' ? 'none' : codes}`)
  }
  if (!named.isEnabled) throw new UsageError(`manufacturer ${manufacturer} is disabled`)
  return runtime.sources.filter((source) => source.manufacturer === manufacturer)
}
