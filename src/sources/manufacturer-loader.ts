/** Applies changes of the manufacturers: replaces their sources and drops everything that was derived from them. */

import type { FastifyBaseLogger } from 'fastify'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { Monitoring } from '../service/monitoring.ts'
import type { State } from '../service/state.ts'
import type { Reader } from '../storage/database.ts'
import type { Secrets } from '../storage/secrets.ts'
import { listSealedManufacturers, openManufacturer, type StoredManufacturer } from '../storage/settings.ts'

interface ManufacturerLoaderDeps {
  readonly secrets: Secrets
  readonly log: FastifyBaseLogger
  readonly state: Pick<State, 'sourceRegistry' | 'unitStore'>
  readonly monitoring: Pick<Monitoring, 'sourceRecords' | 'monitor'>
  /** Called after the registry was updated. */
  onChanged(): void
}

export class ManufacturerLoader {
  readonly #deps: ManufacturerLoaderDeps
  /** The rows of the last load as JSON, to detect changes. */
  #loaded = ''

  constructor(deps: ManufacturerLoaderDeps) {
    this.#deps = deps
  }

  async load(reader: Reader): Promise<void> {
    const rows = await listSealedManufacturers(reader)
    const text = JSON.stringify(rows)
    if (text === this.#loaded) return
    this.apply(rows.map((row) => openManufacturer(row, this.#deps.secrets)))
    this.#loaded = text
  }

  apply(manufacturers: readonly StoredManufacturer[]): void {
    const { state, monitoring, log, onChanged } = this.#deps
    const { sourceRegistry, unitStore } = state
    const before = sourceRegistry.manufacturers()
    const removed = sourceRegistry.update(manufacturers)
    for (const { code } of before) if (!sourceRegistry.has(code)) unitStore.removeManufacturer(code)
    onChanged()
    this.#forgetRecords(removed)
    // Not awaited, so that a request that changes a manufacturer does not wait until a source has stopped.
    const stopped = monitoring.monitor.setSources(sourceRegistry.sources())
    this.#closeClients(stopped, removed).catch((error) =>
      log.warn({ error: String(error) }, 'upstream client could not be closed'),
    )
  }

  async #closeClients(stopped: Promise<void>, sources: readonly MonitoredSource[]): Promise<void> {
    await stopped
    // The last cycle may have been recorded after the source was removed.
    this.#forgetRecords(sources)
    await Promise.all(sources.map(({ client }) => client.close()))
  }

  #forgetRecords(sources: readonly MonitoredSource[]): void {
    const { state, monitoring } = this.#deps
    for (const { id } of sources) {
      if (state.sourceRegistry.find(id) === undefined) monitoring.sourceRecords.forget(id)
    }
  }
}
