import type { Receiver } from '../domain/equipment/receiver.ts'
import { type DeviceLevels, polledLevels } from '../domain/levels/level-sample.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'

/** How the levels of a receiver arrive from one source. */
export interface LevelArrival {
  readonly levels: DeviceLevels
  /** The interval of the polls or queries of the source. */
  readonly intervalMs: number
}

/** Finds how and how often levels arrive. */
export class LevelArrivals {
  readonly #sourceRegistry: SourceRegistry
  readonly #settings: EffectiveSettings
  /** In how many cycles the levels of every device of a source are read once; absent for one. */
  readonly #cyclesPerRound = new WeakMap<MonitoredSource, number>()

  constructor(sourceRegistry: SourceRegistry, settings: EffectiveSettings) {
    this.#sourceRegistry = sourceRegistry
    this.#settings = settings
  }

  /** `sourceId` is undefined for a report of several sources. */
  of(sourceId: string | undefined, { manufacturer, device_type }: Receiver): LevelArrival {
    const source = sourceId === undefined ? undefined : this.#sourceRegistry.find(sourceId)
    const cycles = (source && this.#cyclesPerRound.get(source)) ?? 1
    return {
      levels: source?.adapter.levels?.(device_type, source.settings.rateLimit) ?? polledLevels,
      intervalMs: cycles * this.#settings.pollingIntervalMs(manufacturer),
    }
  }

  setCyclesPerRound(source: MonitoredSource, cycles: number): void {
    this.#cyclesPerRound.set(source, cycles)
  }
}
