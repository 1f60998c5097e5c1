/** Marks receivers of polled manufacturers as offline if no report of them has arrived for `offlineAfterMs`. */

import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Log } from '../platform/log.ts'
import type { LeaseHandle } from './lease-manager.ts'
import { findSilent } from './offline-detection.ts'

/** A manufacturer of which this process polls at least one source. */
export interface PolledManufacturer {
  readonly intervalMs: number
  /** The lease guard of one of the polled sources. */
  readonly guard: LeaseHandle['guard']
}

export const checkReceiversEveryMs = 1000
/** If a check is this late, the process was suspended, and the sources could not report. */
const maxDelayMs = 5000
/** After the process was suspended, sources may take this long to report again. */
const graceMs = 15_000

/** Is checked independently of the sources' cycles, which are up to 30 s apart after failures. */
export class ReceiverSilence {
  readonly #receiverStore: ReceiverStore
  readonly #ingest: Ingest
  readonly #log: Log
  #checkedAt = performance.now()
  #graceEndsAt = 0
  #isWriting = false

  constructor(receiverStore: ReceiverStore, ingest: Ingest, log: Log) {
    this.#receiverStore = receiverStore
    this.#ingest = ingest
    this.#log = log
  }

  /** Must be called every `checkReceiversEveryMs`, with the manufacturers that this process polls by code. */
  async check(polledManufacturers: ReadonlyMap<string, PolledManufacturer>): Promise<void> {
    const now = performance.now()
    if (now - this.#checkedAt > checkReceiversEveryMs + maxDelayMs) this.#graceEndsAt = now + graceMs
    this.#checkedAt = now
    if (this.#isWriting || now < this.#graceEndsAt) return
    this.#isWriting = true
    for (const [manufacturer, polled] of polledManufacturers) await this.#markSilent(manufacturer, polled)
    this.#isWriting = false
  }

  async #markSilent(manufacturer: string, { intervalMs, guard }: PolledManufacturer): Promise<void> {
    const offline = findSilent(this.#receiverStore, manufacturer, intervalMs)
    if (offline.length === 0) return
    await this.#ingest.ingest({ manufacturer, reports: [], offline, guard }).catch((error) => {
      this.#log.debug({ manufacturer, error: String(error) }, 'silent receivers could not be marked as offline')
    })
  }
}
