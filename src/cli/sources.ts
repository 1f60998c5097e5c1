import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { Service } from '../service.ts'
import { UsageError } from './terminal.ts'

/**
 * Returns the sources of the named manufacturer, or all. Throws a UsageError if the manufacturer is unknown or
 * disabled.
 */
export function sourcesOf(service: Service, manufacturer: string | undefined): readonly MonitoredSource[] {
  if (manufacturer === undefined) return service.sourceRegistry.sources()
  const known = service.sourceRegistry.manufacturers()
  const named = known.find(({ code }) => code === manufacturer)
  if (named === undefined) {
    const codes = known.map(({ code }) => code).join(', ')
    throw new UsageError(`unknown manufacturer ${manufacturer}; configured: ${codes === '' ? 'none' : codes}`)
  }
  if (!named.isEnabled) throw new UsageError(`manufacturer ${manufacturer} is disabled`)
  return service.sourceRegistry.sources().filter((source) => source.manufacturer === manufacturer)
}
