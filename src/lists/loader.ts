/** Loads the stored state into memory: everything when the service starts, later the changes of users. */

import type { ConditionMonitor } from '../conditions/conditions.ts'
import { clampLastSeen } from '../domain/equipment/receiver.ts'
import type { PlaceholderStore } from '../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import { now } from '../platform/clock.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { Topic } from '../platform/topic.ts'
import type { ConfiguredManufacturers } from '../service/configured-manufacturers.ts'
import type { ManufacturerLoader } from '../sources/manufacturer-loader.ts'
import { listConditions } from '../storage/channel-states.ts'
import type { Database } from '../storage/database.ts'
import { listEntries } from '../storage/discovery.ts'
import { listReceivers } from '../storage/receivers.ts'
import { currentRevision, currentRevisions } from '../storage/revision.ts'
import { listUnits } from '../storage/units.ts'
import type { Cast } from './cast.ts'
import type { StoredLists } from './stored-lists.ts'

interface Subsystems {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly placeholderStore: PlaceholderStore
  readonly unitStore: UnitStore
  readonly cast: Cast
  readonly lists: StoredLists
  readonly conditions: ConditionMonitor
  readonly configuredManufacturers: ConfiguredManufacturers
}

export class Loader {
  /** The lists were replaced. */
  readonly listsChanged = new Topic()
  readonly #subsystems: Subsystems
  readonly #manufacturers: ManufacturerLoader
  /** Serializes loads, so that an earlier load does not overwrite the result of a later one. */
  readonly #queue = new Semaphore(1)
  /** The counter `lists` at the last load. */
  #revision = -1

  constructor(subsystems: Subsystems, manufacturers: ManufacturerLoader) {
    this.#subsystems = subsystems
    this.#manufacturers = manufacturers
  }

  async open(): Promise<void> {
    const { db, receiverStore, placeholderStore, unitStore, cast, conditions } = this.#subsystems
    receiverStore.revisions = await currentRevisions(db.read)
    const receivers = await listReceivers(db.read)
    cast.replace(await cast.read(db.read))
    placeholderStore.replace(await placeholderStore.read(db.read))
    const revision = await currentRevision(db.read, 'lists')
    // The lists contain the settings that conditions depend on.
    await this.#loadLists()
    conditions.open(
      receivers.map((receiver) => clampLastSeen(now(), receiver)),
      await listConditions(db.read),
    )
    for (const entry of await listEntries(db.read)) receiverStore.putEntry(entry)
    for (const unit of await listUnits(db.read)) unitStore.put(unit)
    await this.#loadManufacturers()
    this.#revision = revision
  }

  /** Applies the configured manufacturers after they have changed. */
  applyConfigured(): Promise<void> {
    return this.#subsystems.db.pending.track(this.#queue.run(() => this.#loadManufacturers()))
  }

  /** Loads the lists and the manufacturers if a process has changed them since the last load, or time has. */
  reload(): Promise<void> {
    const { db, lists, configuredManufacturers } = this.#subsystems
    const loading = this.#queue.run(async () => {
      const revision = await currentRevision(db.read, 'lists')
      if (revision === this.#revision && lists.areCurrent(now())) return
      await this.#loadLists()
      if (configuredManufacturers.isSaved) await this.#manufacturers.load(db.read)
      this.#revision = revision
    })
    return db.pending.track(loading)
  }

  /** Resolves when the loads that have been requested are finished. */
  async idle(): Promise<void> {
    await this.#queue.run(async () => {})
  }

  async #loadManufacturers(): Promise<void> {
    const { db, configuredManufacturers } = this.#subsystems
    if (configuredManufacturers.isSaved) await this.#manufacturers.load(db.read)
    else this.#manufacturers.apply(configuredManufacturers.merged)
  }

  async #loadLists(): Promise<void> {
    const { db, lists } = this.#subsystems
    if (await lists.load(db.read)) this.listsChanged.publish()
  }
}
