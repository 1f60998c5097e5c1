/** The settings in force, globally and for each manufacturer. */

import { type ExplainedSettings, explainSettings, getEffectiveSettings, type Settings } from '../domain/settings.ts'
import type { SourceRegistry } from '../monitoring/source-registry.ts'
import type { StoredLists } from './stored-lists.ts'

interface EffectiveSettingsDeps {
  readonly lists: Pick<StoredLists, 'current'>
  readonly sourceRegistry: Pick<SourceRegistry, 'has' | 'pollIntervalSeconds'>
  readonly defaultInterval: number
  /** `WEBSOCKET_BROADCASTING` in the configuration. */
  readonly isBroadcasting: boolean
}

export class EffectiveSettings {
  readonly #deps: EffectiveSettingsDeps
  readonly #cache = new Map<string | null, Settings>()

  constructor(deps: EffectiveSettingsDeps) {
    this.#deps = deps
  }

  /** Returns the settings of a manufacturer, or the global ones. */
  get(manufacturer: string | null): Settings {
    const known = this.#cache.get(manufacturer)
    if (known !== undefined) return known
    const settings = getEffectiveSettings(this.#optionsFor(manufacturer))
    // Unknown codes are not cached, because clients can request any code.
    if (manufacturer === null || this.#deps.sourceRegistry.has(manufacturer)) this.#cache.set(manufacturer, settings)
    return settings
  }

  /** Returns the settings, each with its origin. */
  explain(manufacturer: string | null): ExplainedSettings {
    return explainSettings(this.#optionsFor(manufacturer))
  }

  pollingIntervalMs(manufacturer: string): number {
    return this.get(manufacturer).polling_interval * 1000
  }

  /** Must be called after the stored settings or the manufacturers have changed. */
  clear(): void {
    this.#cache.clear()
  }

  #optionsFor(manufacturer: string | null) {
    const { lists, sourceRegistry, defaultInterval, isBroadcasting } = this.#deps
    const configuredInterval = manufacturer === null ? undefined : sourceRegistry.pollIntervalSeconds(manufacturer)
    return { records: lists.current.settings, manufacturer, configuredInterval, defaultInterval, isBroadcasting }
  }
}
