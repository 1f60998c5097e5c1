/** Creates the state in memory: receivers, units, lists, settings and sources, and what announces their changes. */

import type { Config } from '../config.ts'
import { listShowsOfSlot } from '../domain/conditions/shows.ts'
import { stateOf } from '../domain/shows.ts'
import { LevelDemand } from '../ingest/level-demand.ts'
import { createPlaceholderStore } from '../ingest/placeholder-store.ts'
import { createReceiverStore, type ReceiverStoreListener } from '../ingest/receiver-store.ts'
import { createUnitStore } from '../ingest/unit-store.ts'
import { Cast } from '../lists/cast.ts'
import { EffectiveSettings, type SettingsDefaults } from '../lists/effective-settings.ts'
import { StoredLists } from '../lists/stored-lists.ts'
import { LiveLists } from '../live/live-lists.ts'
import { LivePublisher } from '../live/live-publisher.ts'
import { createSourceRegistry } from '../sources/source-registry.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'

interface StateDeps {
  readonly config: Config
  /** Overrides the configuration's DEFAULT_POLLING_INTERVAL. */
  readonly defaultIntervalSeconds: number | undefined
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
      live.receiverChanged(id, before, after)
      if ((after ?? before)?.origin === undefined) deps.onReceiverChanged(id, before, after)
    },
    queueChanged: () => live.queueChanged(),
  })
  const placeholderStore = createPlaceholderStore(() => {
    live.listsChanged()
    deps.onPlaceholdersChanged()
  })
  const unitStore = createUnitStore()
  const cast = new Cast(lists, unitStore, deps.config.server.mount)
  const liveLists = new LiveLists({ receiverStore, placeholderStore, lists, cast, settings, sourceRegistry })
  const live: LivePublisher = new LivePublisher(liveLists, receiverStore)
  return {
    sourceDeps,
    sourceRegistry,
    lists,
    settings,
    runningShows,
    showsOf,
    receiverStore,
    unitStore,
    levelDemand: new LevelDemand(),
    siteLevelDemand: new LevelDemand(),
    cast,
    placeholderStore,
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
