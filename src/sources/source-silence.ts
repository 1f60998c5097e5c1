/**
 * Finds the sources that are silent: something is due from them, and nothing at all has come for 3 s. Due is the answer
 * to whatever was sent (a request, a query, a keep-alive), and levels of a fixed meter rate. A source that reports only
 * changes is therefore not silent between them. Only the beginning and the end of a silence are recorded.
 */

import { isOpen } from '../domain/equipment/connection.ts'
import type { LevelAges } from '../ingest/level-ages.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { Connections } from './connections.ts'
import type { SourceRecords } from './source-records.ts'

export interface SourceSilenceDeps {
  readonly ingest: { readonly levelAges: Pick<LevelAges, 'awaitsSamples'> }
  readonly connections: Pick<Connections, 'ofSource'>
  readonly sourceRecords: Pick<SourceRecords, 'get' | 'recordSilence'>
  now(): number
  /** Returns the sources that this process polls. */
  sources(): Iterable<MonitoredSource>
}

const silentAfterMs = 3000
const checkEveryMs = 250
/** If a check is this late, the process was suspended, and what has arrived in the meantime is read after the check. */
const maxDelayMs = 1000

export class SourceSilence {
  readonly #deps: SourceSilenceDeps
  #timer: NodeJS.Timeout | undefined
  #checkedAt = 0

  constructor(deps: SourceSilenceDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#checkedAt = performance.now()
    this.#timer = setInterval(() => this.#check(), checkEveryMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const now = performance.now()
    const isLate = now - this.#checkedAt > checkEveryMs + maxDelayMs
    this.#checkedAt = now
    if (isLate) return
    for (const source of this.#deps.sources()) this.#checkSource(source, now)
  }

  #checkSource(source: MonitoredSource, now: number): void {
    const { sourceRecords } = this.#deps
    const { id, manufacturer, client } = source
    const known = sourceRecords.get(id)?.silent_since ?? null
    if (now - client.answeredAt < silentAfterMs) {
      if (known !== null) sourceRecords.recordSilence(manufacturer, id, null)
      return
    }
    // A silence goes on until something comes, even if nothing is due between two attempts to connect.
    if (known !== null || !this.#isOverdue(source, now)) return
    const since = Number.isFinite(client.answeredAt) ? client.answeredAt : (client.awaitedSince ?? now)
    sourceRecords.recordSilence(manufacturer, id, Math.round(this.#deps.now() - (now - since)))
  }

  #isOverdue({ id, client: { awaitedSince } }: MonitoredSource, now: number): boolean {
    if (awaitedSince !== null && now - awaitedSince >= silentAfterMs) return true
    const { connections, ingest } = this.#deps
    return connections.ofSource(id).some((connection) => {
      const { receiver } = connection
      return receiver !== null && isOpen(connection) && ingest.levelAges.awaitsSamples(receiver)
    })
  }
}
