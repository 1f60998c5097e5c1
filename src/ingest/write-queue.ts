/**
 * Batches that wait to be stored. Batches that were queued during one write are stored together in the next one. All
 * sources of a service start at once, and a transaction for each would take seconds.
 */

import type { DeviceReport } from '../domain/equipment/receiver.ts'
import { ipKey, macKey, serialKey } from '../domain/identity/reconcile.ts'
import type { Batch, IngestReport } from './plan-batch.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { ReceiverTransactions } from './receiver-transactions.ts'

interface QueuedBatch {
  readonly batch: Batch
  resolve(report: IngestReport): void
  reject(error: unknown): void
}

/** A transaction has at most this many reports, unless a single batch has more. */
const maxReports = 1000

/** Stores batches in one transaction and returns a report for each. */
type WriteBatches = (batches: readonly [Batch, ...Batch[]]) => Promise<readonly IngestReport[]>

type Identity = Pick<DeviceReport, 'serial_number' | 'mac_address' | 'ip'>

export class WriteQueue {
  readonly #receiverStore: ReceiverStore
  readonly #transactions: ReceiverTransactions
  readonly #write: WriteBatches
  readonly #waiting: QueuedBatch[] = []

  constructor(receiverStore: ReceiverStore, transactions: ReceiverTransactions, write: WriteBatches) {
    this.#receiverStore = receiverStore
    this.#transactions = transactions
    this.#write = write
  }

  add(batch: Batch): Promise<IngestReport> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject })
      this.#transactions.enqueue(() => this.#writeNext()).catch(reject)
    })
  }

  async #writeNext(): Promise<void> {
    const group = this.#takeGroup()
    try {
      await this.#writeGroup(group)
    } catch (error) {
      // A batch that cannot be stored does not affect the others.
      if (group.length === 1) group[0]?.reject(error)
      else for (const queued of group) await this.#writeGroup([queued]).catch(queued.reject)
    }
  }

  async #writeGroup(group: readonly QueuedBatch[]): Promise<void> {
    const [first, ...others] = group.map(({ batch }) => batch)
    if (first === undefined) return
    const reports = await this.#write([first, ...others])
    for (const [index, { resolve }] of group.entries()) {
      const report = reports[index]
      if (report !== undefined) resolve(report)
    }
  }

  /** Takes the first batch, and those after it that may be stored together with it. */
  #takeGroup(): readonly QueuedBatch[] {
    const [first] = this.#waiting
    if (first === undefined || this.#waiting.length === 1) return this.#waiting.splice(0, 1)
    const keys = new Set<string>()
    let reports = 0
    const end = this.#waiting.findIndex(({ batch }, index) => {
      const batchKeys = batch.reports.flatMap((report) => this.#keysOf(batch.manufacturer, report))
      reports += batch.reports.length
      if (index > 0 && !canJoin(first.batch, batch)) return true
      // Two reports that may concern the same receiver are stored one after the other, each with its full effect.
      if (index > 0 && (reports > maxReports || batchKeys.some((key) => keys.has(key)))) return true
      for (const key of batchKeys) keys.add(key)
      return false
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  /** Returns all keys by which the report may match a receiver. */
  #keysOf(manufacturer: string, report: DeviceReport): string[] {
    const known = this.#receiverStore.factsByApiId(manufacturer, report.id)
    return [`id ${report.id}`, ...identityKeys(report), ...(known === undefined ? [] : identityKeys(known))]
  }
}

function identityKeys({ serial_number, mac_address, ip }: Identity): string[] {
  const keys = { serial: serialKey(serial_number), mac: macKey(mac_address), ip: ipKey(ip) }
  return Object.entries(keys).flatMap(([name, key]) => (key === null ? [] : [`${name} ${key}`]))
}

function canJoin(first: Batch, batch: Batch): boolean {
  return (
    batch.manufacturer === first.manufacturer &&
    batch.endsCycle === first.endsCycle &&
    hasOnlyReports(first) &&
    hasOnlyReports(batch)
  )
}

function hasOnlyReports({ offline = [], missing = [] }: Batch): boolean {
  return offline.length === 0 && missing.length === 0
}
