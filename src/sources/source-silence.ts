/**
 * Finds the sources that are silent: something is due from them, and nothing at all has come for 3 s. Due is the answer
 * to whatever was sent (a request, a query, a keep-alive), and levels of a fixed meter rate. A source that reports only
 * changes is therefore not silent between them. Only the beginning and the end of a silence are recorded.
 */

import { isOpen } from '../domain/equipment/connection.ts'
import type { LevelAges } from '../ingest/level-ages.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import type { Connections } from './connections.ts'
import type { SourceRecords } from './source-records.ts'

const silentAfterMs = 3000
export const checkSourcesEveryMs = 250
/** If a check is this late, the process was suspended, and unread data is read after the check. */
const maxDelayMs = 1000

export class SourceSilence {
  readonly #connections: Connections
  readonly #sourceRecords: SourceRecords
  readonly #levelAges: LevelAges
  #checkedAt = performance.now()

  constructor(connections: Connections, sourceRecords: SourceRecords, levelAges: LevelAges) {
    this.#connections = connections
    this.#sourceRecords = sourceRecords
    this.#levelAges = levelAges
  }

  /** Must be called every `checkSourcesEveryMs`, with the sources that this process polls. */
  check(sources: readonly MonitoredSource[]): void {
    const time = performance.now()
    const isLate = time - this.#checkedAt > checkSourcesEveryMs + maxDelayMs
    this.#checkedAt = time
    if (isLate) return
    for (const source of sources) this.#checkSource(source, time)
  }

  #checkSource(source: MonitoredSource, time: number): void {
    const { id, manufacturer, client } = source
    const known = this.#sourceRecords.get(id)?.silent_since ?? null
    if (time - client.answeredAt < silentAfterMs) {
      if (known !== null) this.#sourceRecords.recordSilence(manufacturer, id, null)
      return
    }
    // A silence goes on until something comes, even if nothing is due between two attempts to connect.
    if (known !== null || !this.#isOverdue(source, time)) return
    const since = Number.isFinite(client.answeredAt) ? client.answeredAt : (client.awaitedSince ?? time)
    this.#sourceRecords.recordSilence(manufacturer, id, Math.round(now() - (time - since)))
  }

  #isOverdue({ id, client: { awaitedSince } }: MonitoredSource, time: number): boolean {
    if (awaitedSince !== null && time - awaitedSince >= silentAfterMs) return true
    return this.#connections.ofSource(id).some((connection) => {
      const { receiver } = connection
      return receiver !== null && isOpen(connection) && this.#levelAges.awaitsSamples(receiver)
    })
  }
}
