/** Makes the channels of sites stale, whose connection was lost or that no process follows. */

import type { MonitoredManufacturer } from '../domain/equipment/health.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { asStale } from '../domain/sites/followed.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Tx } from '../storage/database.ts'
import { StaleWriteError } from '../storage/errors.ts'
import { lockFreeLeases } from '../storage/leases.ts'
import { saveReceivers } from '../storage/receivers.ts'

const receiversPerTransaction = 200

interface Stale {
  /** Epoch ms. */
  readonly since: number
  /** Throws if the receivers may be current after all. */
  guard(tx: Tx): Promise<void>
}

/** Stores that the channels of these receivers are stale. */
export async function markStale(
  ingest: Pick<Ingest, 'change'>,
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

export interface OrphanedSitesDeps {
  readonly receiverStore: Pick<ReceiverStore, 'listAllFacts'>
  readonly ingest: Pick<Ingest, 'change'>
  manufacturers(): readonly MonitoredManufacturer[]
  /** Whether a process follows or polls the source. */
  isHeld(source: string): boolean
}

/** Finds the sites that no process follows, because the record is disabled or no polling process is running. */
export class OrphanedSites {
  readonly #deps: OrphanedSitesDeps
  /** Since when no process has followed a record (`performance.now()`), by its code. */
  readonly #orphanedSince = new Map<string, number>()

  constructor(deps: OrphanedSitesDeps) {
    this.#deps = deps
  }

  /** Marks their channels as stale. */
  async check(): Promise<void> {
    const { ingest, isHeld, manufacturers } = this.#deps
    const byRecord = this.#listShownAsCurrent()
    for (const { code, sources } of byRecord.size === 0 ? [] : manufacturers()) {
      const receivers = byRecord.get(code)
      if (receivers === undefined || sources.some(isHeld)) {
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
      await markStale(ingest, receivers, { since, guard })
    }
  }

  /** Lists the receivers of sites that are not stale, by the code of the record. */
  #listShownAsCurrent(): ReadonlyMap<string, readonly Receiver[]> {
    const byRecord = new Map<string, Receiver[]>()
    for (const receiver of this.#deps.receiverStore.listAllFacts()) {
      if (receiver.origin === undefined || !isShownAsCurrent(receiver)) continue
      const { record } = receiver.origin
      const receivers = byRecord.get(record)
      if (receivers === undefined) byRecord.set(record, [receiver])
      else receivers.push(receiver)
    }
    return byRecord
  }
}
