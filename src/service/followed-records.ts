/** The sites that this installation follows. */

import type { SiteBody } from '../contract/sites.ts'
import { nothingAnnounced } from '../domain/sites/announced-sites.ts'
import { listSites, type SiteRecord } from '../domain/sites/list-sites.ts'
import type { Monitor } from '../sources/monitor.ts'
import { manufacturerHealths } from './health.ts'
import type { Monitoring } from './monitoring.ts'
import type { State } from './state.ts'

interface SiteDeps {
  readonly state: State
  readonly monitoring: Monitoring
}

export function viaOf({ sites }: Monitor): readonly string[] {
  return [...new Set(sites.flatMap(({ state }) => state.via))]
}

export function followedRecords({ state, monitoring }: SiteDeps): readonly SiteRecord[] {
  const states = new Map(monitoring.monitor.sites.map(({ source, state }) => [source.manufacturer, state]))
  return state.sourceRegistry.followed().map(({ code, name, base_url: url }) => {
    const { latencyMs = null, lastSeen = null, announcements = nothingAnnounced } = states.get(code) ?? {}
    return { code, name, url, latencyMs, lastSeen, announcements }
  })
}

export function sitesOf({ state, monitoring }: SiteDeps): readonly SiteBody[] {
  return listSites({
    records: followedRecords({ state, monitoring }),
    health: manufacturerHealths({ state, monitoring }),
    receivers: state.receiverStore.listAllFacts(),
    alerts: monitoring.alerts.list(),
  })
}
