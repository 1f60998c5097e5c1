/** Creates the state in memory: receivers, units, lists, settings and sources, and what announces their changes. */

import type { Config } from '../config.ts'
import type { SourceBody } from '../contract/live-messages.ts'
import type { ChannelAssignment, Performer } from '../contract/performers.ts'
import type { AnnouncedSiteBody } from '../contract/sites.ts'
import { toSilenceBody } from '../domain/alerts/silences.ts'
import { toChannelBody } from '../domain/api.ts'
import { listShowsOfSlot } from '../domain/conditions/shows.ts'
import { toDiscoveredDevices } from '../domain/discovery-api.ts'
import { withMount } from '../domain/equipment/picture.ts'
import { toPlaceholderInData } from '../domain/equipment/placeholder.ts'
import { toProfileBodies } from '../domain/frequencies/profile-changes.ts'
import { toScanBody } from '../domain/frequencies/scans/stored-scan.ts'
import { toChannelAssignments } from '../domain/live/lists.ts'
import { stateOf } from '../domain/shows.ts'
import { LevelDemand } from '../ingest/level-demand.ts'
import { createPlaceholderStore } from '../ingest/placeholder-store.ts'
import { createReceiverStore, type ReceiverStoreListener } from '../ingest/receiver-store.ts'
import { createUnitStore } from '../ingest/unit-store.ts'
import { EffectiveSettings, type SettingsDefaults } from '../lists/effective-settings.ts'
import { StoredLists } from '../lists/stored-lists.ts'
import { createFeed } from '../live/version-1.ts'
import { LiveJournal } from '../live/live-journal.ts'
import { LivePublisher } from '../live/live-publisher.ts'
import { now } from '../platform/clock.ts'
import { createSourceRegistry } from '../sources/source-registry.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'

interface StateDeps {
  readonly config: Config
  /** Overrides the configuration's DEFAULT_POLLING_INTERVAL. */
  readonly defaultIntervalSeconds: number | undefined
  /** Returns the status of every source. */
  sourceBodies(): readonly SourceBody[]
  announcedSites(): readonly AnnouncedSiteBody[]
  /** Returns the assignments of followed sites. */
  followedAssignments(): readonly ChannelAssignment[]
  /** Called after a receiver of this installation was added, replaced or removed. */
  onReceiverChanged: ReceiverStoreListener['receiverChanged']
  /** Called after placeholders were added, changed or removed. */
  onPlaceholdersChanged(): void
}

export type State = ReturnType<typeof createState>

export function createState(deps: StateDeps) {
  const sourceDeps = { throttle: createRequestThrottle(), destinations: createDestinations() }
  const sourceRegistry = createSourceRegistry(sourceDeps)
  const lists = new StoredLists()
  const settings = new EffectiveSettings({
    lists,
    sourceRegistry,
    defaults: toDefaults(deps.config, deps.defaultIntervalSeconds),
  })
  const runningShows = () => lists.current.shows.filter((show) => stateOf(show) === 'running')
  /** Returns the ids of the running shows that have the channel in this slot. */
  const showsOf = (slot: number) => listShowsOfSlot(slot, runningShows(), lists.current.groups)
  const receiverStore = createReceiverStore({
    receiverChanged(id, before, after) {
      live.receiverChanged(id)
      if ((after ?? before)?.origin === undefined) deps.onReceiverChanged(id, before, after)
    },
    queueChanged: () => live.queueChanged(),
  })
  const placeholderStore = createPlaceholderStore(() => {
    live.listsChanged()
    deps.onPlaceholdersChanged()
  })
  const unitStore = createUnitStore()
  const feed = createFeed({
    channelsOf: (id) => receiverStore.get(id)?.channels.map(toChannelBody) ?? [],
    siteOf: (id) => receiverStore.facts(id)?.origin?.site.code ?? null,
  })
  /** Returns the active assignments of this installation, each with its channel. */
  const assignments = (): readonly ChannelAssignment[] =>
    toChannelAssignments(lists.current.assignments, lists.current.performers, (id) => unitStore.get(id))
  const assignmentsWithSites = () => [...assignments(), ...deps.followedAssignments()]
  /** Returns all performers, with the addresses of their pictures. */
  const performers = (): readonly Performer[] =>
    lists.current.performers.map((performer) => withMount(performer, deps.config.server.mount))
  const live: LivePublisher = new LivePublisher({
    journal: new LiveJournal(),
    receiverStore,
    toChannelBody,
    groups: () => lists.current.groups,
    performers,
    placeholders: () => placeholderStore.list().map(toPlaceholderInData),
    assignments: assignmentsWithSites,
    discovered: () => toDiscoveredDevices(lists.current.discovered, receiverStore),
    silences: () => lists.current.silences.map(toSilenceBody),
    scans: () => lists.current.scans.map(toScanBody),
    frequencyProfiles: () => toProfileBodies(lists.current.frequencyProfiles),
    settingsIn: (scope) => settings.inScope(scope),
    manufacturers: () => sourceRegistry.manufacturers().map(({ code }) => code),
    sources: () => deps.sourceBodies(),
    sites: () => deps.announcedSites(),
    pending: receiverStore.pendingEntries,
    now,
  })
  return {
    sourceDeps,
    sourceRegistry,
    lists,
    settings,
    runningShows,
    showsOf,
    receiverStore,
    unitStore,
    feed,
    levelDemand: new LevelDemand(),
    siteLevelDemand: new LevelDemand(),
    performers,
    placeholderStore,
    assignments,
    assignmentsWithSites,
    live,
  }
}

/** Returns the defaults in the configuration. `intervalSeconds` overrides its DEFAULT_POLLING_INTERVAL. */
export function toDefaults({ settings }: Pick<Config, 'settings'>, intervalSeconds?: number): SettingsDefaults {
  return {
    defaultInterval: intervalSeconds ?? settings.DEFAULT_POLLING_INTERVAL,
    isBroadcasting: settings.WEBSOCKET_BROADCASTING,
  }
}
