/** Creates the state in memory: receivers, units, lists, settings and sources, and what announces their changes. */

import type { Config } from '../config.ts'
import type { SourceBody } from '../contract/live-messages.ts'
import type { ChannelAssignment } from '../contract/resources/performers.ts'
import { toChannelBody } from '../domain/api.ts'
import { toDiscoveredDevices } from '../domain/discovery-api.ts'
import { toChannelAssignments } from '../domain/live/lists.ts'
import { resolveChannelThresholds } from '../domain/settings.ts'
import { createSourceRegistry } from '../monitoring/source-registry.ts'
import { now } from '../platform/clock.ts'
import { createFeed } from '../state/feed.ts'
import { LiveJournal } from '../state/live-journal.ts'
import { LivePublisher } from '../state/live-publisher.ts'
import { createReceiverStore } from '../state/receiver-store.ts'
import { createUnitStore } from '../state/unit-store.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'
import { EffectiveSettings } from './effective-settings.ts'
import { StoredLists } from './stored-lists.ts'

interface StateDeps {
  readonly config: Config
  /** Overrides the configuration's DEFAULT_POLLING_INTERVAL. */
  readonly defaultIntervalSeconds: number | undefined
  /** Returns the status of every source. */
  sourceBodies(): readonly SourceBody[]
}

export type State = ReturnType<typeof createState>

export function createState(deps: StateDeps) {
  const sourceDeps = { throttle: createRequestThrottle(), destinations: createDestinations() }
  const sourceRegistry = createSourceRegistry(sourceDeps)
  const lists = new StoredLists()
  const settings = new EffectiveSettings({
    lists,
    sourceRegistry,
    defaultInterval: deps.defaultIntervalSeconds ?? deps.config.settings.DEFAULT_POLLING_INTERVAL,
    isBroadcasting: deps.config.settings.WEBSOCKET_BROADCASTING,
  })
  /** Returns the thresholds in force for a channel. */
  const thresholds = (manufacturer: string) => resolveChannelThresholds(lists.current.settings, manufacturer)
  const receiverStore = createReceiverStore({
    receiverChanged: (id) => live.receiverChanged(id),
    queueChanged: () => live.queueChanged(),
  })
  const unitStore = createUnitStore()
  const feed = createFeed({ channelsOf: (id) => receiverStore.get(id)?.channels.map(toChannelBody) ?? [] })
  /** Returns the active assignments, each with its channel. */
  const assignments = (): readonly ChannelAssignment[] =>
    toChannelAssignments(lists.current.assignments, lists.current.performers, (id) => unitStore.get(id))
  const live: LivePublisher = new LivePublisher({
    journal: new LiveJournal(),
    receiverStore,
    toChannelBody,
    groups: () => lists.current.groups,
    performers: () => lists.current.performers,
    assignments,
    discovered: () => toDiscoveredDevices(lists.current.discovered, receiverStore),
    settings: (manufacturer) => settings.get(manufacturer),
    manufacturers: () => sourceRegistry.manufacturers().map(({ code }) => code),
    sources: () => deps.sourceBodies(),
    pending: receiverStore.pendingEntries,
    now,
  })
  return { sourceDeps, sourceRegistry, lists, settings, thresholds, receiverStore, unitStore, feed, assignments, live }
}
