import type { Alerts } from '../alerts/alerts.ts'
import type { ChannelAssignment } from '../contract/performers.ts'
import type { AnnouncedSiteBody, SiteBody } from '../contract/sites.ts'
import { listSites, nothingAnnounced, type SiteRecord, toAnnouncedSites } from '../domain/sites/sites.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Monitor } from '../sources/monitor.ts'
import type { SourceRecords } from '../sources/source-records.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'

/** The installations that this one follows, directly or through others. */
export class FollowedSites {
  readonly #monitor: Monitor
  readonly #sourceRegistry: SourceRegistry
  readonly #sourceRecords: SourceRecords
  readonly #receiverStore: ReceiverStore
  readonly #alerts: Alerts

  constructor(
    monitor: Monitor,
    sourceRegistry: SourceRegistry,
    sourceRecords: SourceRecords,
    receiverStore: ReceiverStore,
    alerts: Alerts,
  ) {
    this.#monitor = monitor
    this.#sourceRegistry = sourceRegistry
    this.#sourceRecords = sourceRecords
    this.#receiverStore = receiverStore
    this.#alerts = alerts
  }

  /** Returns the ids of all followed installations. */
  ids(): readonly string[] {
    return [...new Set(this.#monitor.sites.flatMap(({ state }) => state.via))]
  }

  list(): readonly SiteBody[] {
    return listSites({
      records: this.#records(),
      health: this.#sourceRecords.health(),
      receivers: this.#receiverStore.listAllFacts(),
      alerts: this.#alerts.list(),
    })
  }

  /** Returns the sites as they announce themselves. */
  announced(): readonly AnnouncedSiteBody[] {
    return this.#records().flatMap((record) => toAnnouncedSites(record, record.announcements))
  }

  assignments(): readonly ChannelAssignment[] {
    return this.#monitor.sites.flatMap((site) => site.assignments())
  }

  #records(): readonly SiteRecord[] {
    const states = new Map(this.#monitor.sites.map(({ source, state }) => [source.manufacturer, state]))
    return this.#sourceRegistry.followed().map(({ code, name, base_url: url }) => {
      const { latencyMs = null, lastSeen = null, announcements = nothingAnnounced } = states.get(code) ?? {}
      return { code, name, url, latencyMs, lastSeen, announcements }
    })
  }
}
