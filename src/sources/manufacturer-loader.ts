/** Applies changes to the manufacturers: replaces their sources and drops everything derived from them. */

import type { UnitStore } from '../ingest/unit-store.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'
import type { Reader } from '../storage/database.ts'
import type { Secrets } from '../storage/secrets.ts'
import { listSealedManufacturers, openManufacturer, type StoredManufacturer } from '../storage/settings.ts'
import type { Monitor } from './monitor.ts'
import type { SourceRecords } from './source-records.ts'
import type { SourceRegistry } from './source-registry.ts'

export class ManufacturerLoader {
  /** The registry was updated. */
  readonly changed = new Topic()
  readonly #sourceRegistry: SourceRegistry
  readonly #unitStore: UnitStore
  readonly #sourceRecords: SourceRecords
  readonly #monitor: Monitor
  readonly #secrets: Secrets
  readonly #log: Log
  /** The rows of the last load as JSON, to detect changes. */
  #loaded = ''

  constructor(
    sourceRegistry: SourceRegistry,
    unitStore: UnitStore,
    sourceRecords: SourceRecords,
    monitor: Monitor,
    secrets: Secrets,
    log: Log,
  ) {
    this.#sourceRegistry = sourceRegistry
    this.#unitStore = unitStore
    this.#sourceRecords = sourceRecords
    this.#monitor = monitor
    this.#secrets = secrets
    this.#log = log
  }

  async load(reader: Reader): Promise<void> {
    const rows = await listSealedManufacturers(reader)
    const text = JSON.stringify(rows)
    if (text === this.#loaded) return
    this.apply(rows.map((row) => openManufacturer(row, this.#secrets)))
    this.#loaded = text
  }

  apply(manufacturers: readonly StoredManufacturer[]): void {
    const before = this.#sourceRegistry.manufacturers()
    const removed = this.#sourceRegistry.update(manufacturers)
    for (const { code } of before) if (!this.#sourceRegistry.has(code)) this.#unitStore.removeManufacturer(code)
    this.changed.publish()
    this.#forgetRecords(removed)
    // Not awaited, so that a request that changes a manufacturer does not wait until a source has stopped.
    const stopped = this.#monitor.setSources(this.#sourceRegistry.sources())
    this.#closeClients(stopped, removed).catch((error) =>
      this.#log.warn({ error: String(error) }, 'upstream client could not be closed'),
    )
  }

  async #closeClients(stopped: Promise<void>, sources: readonly MonitoredSource[]): Promise<void> {
    await stopped
    // The last cycle may have been recorded after the source was removed.
    this.#forgetRecords(sources)
    await Promise.all(sources.map(({ client }) => client.close()))
  }

  #forgetRecords(sources: readonly MonitoredSource[]): void {
    for (const { id } of sources) {
      if (this.#sourceRegistry.find(id) === undefined) this.#sourceRecords.forget(id)
    }
  }
}
