/** Marks the channels of sites as stale if their connection was lost or no process follows them. */

import type { Receiver } from '../domain/equipment/receiver.ts'
import { asStale } from '../domain/sites/followed.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { OrphanedSources } from '../sources/orphaned-sources.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Tx } from '../storage/database.ts'
import { StaleWriteError } from '../storage/errors.ts'
import { lockFreeLeases } from '../storage/leases.ts'
import { saveReceivers } from '../storage/receivers.ts'

/** A transaction blocks others, so a large installation is stored in parts. */
export const receiversPerTransaction = 200

interface Stale {
  /** Epoch ms. */
  readonly since: number
  /** Throws if the receivers may be current after all. */
  guard(tx: Tx): Promise<void>
}

/** Stores that the channels of these receivers are stale. */
export async function markStale(
  ingest: Ingest,
  receivers: readonly Receiver[],
  { since, guard }: Stale,
): Promise<void> {
  const stale = receivers.filter(isShownAsCurrent).map((receiver) => asStale(receiver, since))
  for (let start = 0; start < stale.length; start += receiversPerTransaction) {
    const part = stale.slice(start, start + receiversPerTransaction)
    await ingest.change(async (tx, revision) => {
      await guard(tx)
      await saveReceivers(tx, revision, part)
    })
  }
}

function isShownAsCurrent({ channels }: Receiver): boolean {
  return channels.some(({ condition }) => condition.state !== 'stale')
}

/** For how long no process may follow a site before its channels are stale. Another process takes over within seconds. */
const orphanedAfterMs = 5000

/** Finds the sites that no process follows, because the record is disabled or no polling process is running. */
export class OrphanedSites {
  readonly #receiverStore: ReceiverStore
  readonly #sourceRegistry: SourceRegistry
  readonly #orphanedSources: OrphanedSources
  readonly #ingest: Ingest
  /** Since when no process has followed a record (`performance.now()`), by its code. */
  readonly #orphanedSince = new Map<string, number>()

  constructor(
    receiverStore: ReceiverStore,
    sourceRegistry: SourceRegistry,
    orphanedSources: OrphanedSources,
    ingest: Ingest,
  ) {
    this.#receiverStore = receiverStore
    this.#sourceRegistry = sourceRegistry
    this.#orphanedSources = orphanedSources
    this.#ingest = ingest
  }

  /** Marks their channels as stale. */
  async check(): Promise<void> {
    const byRecord = this.#listShownAsCurrent()
    for (const { code, sources } of byRecord.size === 0 ? [] : this.#sourceRegistry.manufacturers()) {
      const receivers = byRecord.get(code)
      if (receivers === undefined || sources.some((source) => this.#orphanedSources.isHeld(source))) {
        this.#orphanedSince.delete(code)
        continue
      }
      const orphanedSince = this.#orphanedSince.get(code) ?? performance.now()
      this.#orphanedSince.set(code, orphanedSince)
      if (performance.now() - orphanedSince < orphanedAfterMs) continue
      const since = receivers.reduce((latest, { last_seen }) => Math.max(latest, last_seen), 0)
      const guard = async (tx: Tx) => {
        if (!(await lockFreeLeases(tx, sources))) throw new StaleWriteError(`${code} is followed again`)
      }
      await markStale(this.#ingest, receivers, { since, guard })
    }
  }

  /** Lists the receivers of sites that are not stale, by the code of the record. */
  #listShownAsCurrent(): ReadonlyMap<string, readonly Receiver[]> {
    const byRecord = new Map<string, Receiver[]>()
    for (const receiver of this.#receiverStore.listAllFacts()) {
      if (receiver.origin === undefined || !isShownAsCurrent(receiver)) continue
      const { record } = receiver.origin
      const receivers = byRecord.get(record)
      if (receivers === undefined) byRecord.set(record, [receiver])
      else receivers.push(receiver)
    }
    return byRecord
  }
}

/** Channels become stale when the connection has been lost for this time, so that a short interruption is not shown. */
const staleAfterMs = 8000

export interface Staleness {
  /** The receivers are current again. */
  connected(): void
  /** The connection was lost, or another attempt to connect has failed. */
  lost(): void
  stop(): void
}

/** `onStale` is called once for each loss, with its time (epoch ms). */
export function createStaleness(now: () => number, onStale: (lostAt: number) => void): Staleness {
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
  }
  return {
    connected: stop,
    stop,
    lost() {
      const lostAt = now()
      // An attempt to connect that fails is no new loss.
      timer ??= setTimeout(() => onStale(lostAt), staleAfterMs)
    },
  }
}
