/** Selects which levels the followed installations send: those of the sites that clients of this process show. */

import { recordOfSite } from '../domain/equipment/sites.ts'
import { toAnnouncedSites } from '../domain/sites/sites.ts'
import { type LevelDemand, watchDemand } from '../ingest/level-demand.ts'
import type { Monitor } from '../sources/monitor.ts'
import type { FollowedSite } from './followed-site.ts'

export class SiteLevels {
  readonly #demand: LevelDemand
  readonly #monitor: Monitor
  /** Ends the selection. */
  readonly close: () => void

  /** `demand` is by site. */
  constructor(demand: LevelDemand, monitor: Monitor) {
    this.#demand = demand
    this.#monitor = monitor
    this.close = watchDemand(demand, () => this.#update())
  }

  #update(): void {
    const { sites } = this.#monitor
    const needed = this.#demand.select(() => sites.flatMap(codesOf))
    const byRecord = new Map<string, string[]>()
    for (const code of needed) {
      const record = recordOfSite(code)
      byRecord.set(record, [...(byRecord.get(record) ?? []), code])
    }
    for (const site of sites) site.showLevels(byRecord.get(site.source.manufacturer) ?? [])
  }
}

/** Returns the codes of a site and of those that are followed through it. */
function codesOf({ source, state }: FollowedSite): readonly string[] {
  const record = { code: source.manufacturer, name: '', url: '' }
  return toAnnouncedSites(record, state.announcements).map(({ code }) => code)
}
