/**
 * Increments the counters `lists` and `cast` in every transaction that changes one of their tables. Every statement
 * passes through here, so none is missed. Processes reload these tables only when a counter has changed.
 */

import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver } from 'kysely'
import type { Schema } from './schema.ts'

interface CountedTables {
  readonly tables: readonly (keyof Schema)[]
  /** Deleting from these tables also deletes from a table above, by a foreign key. */
  readonly cascading: readonly (keyof Schema)[]
}

export const countedTables = {
  /** The tables that `StoredLists` and `ManufacturerLoader` read, apart from `meta`. */
  lists: {
    tables: [
      'channel_audio',
      'discovered',
      'frequency_plans',
      'frequency_profiles',
      'group_settings',
      'groups',
      'locations',
      'manufacturers',
      'measured_scans',
      'notification_channels',
      'notification_rules',
      'scans',
      'settings',
      'shows',
      'silences',
    ],
    cascading: ['channels', 'receivers'],
  },
  /** The tables that `Cast` reads. */
  cast: { tables: ['assignments', 'performers'], cascading: ['channels', 'manufacturers', 'receivers', 'units'] },
} as const satisfies Record<string, CountedTables>

type Counted = keyof typeof countedTables

const counters = (Object.keys(countedTables) as Counted[]).map((key) => {
  const { tables, cascading } = countedTables[key]
  const written = `(?:insert\\s+into|update)\\s+"?(?:${tables.join('|')})`
  const deleted = `delete\\s+from\\s+"?(?:${[...tables, ...cascading].join('|')})`
  return {
    changes: new RegExp(`\\b(?:${written}|${deleted})\\b`, 'i'),
    increment: CompiledQuery.raw(`update meta set value = value + 1 where key = '${key}'`),
  }
})

export function countListChanges(dialect: Dialect): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => new CountingDriver(dialect.createDriver()),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
}

class CountingDriver implements Driver {
  readonly #driver: Driver

  constructor(driver: Driver) {
    this.#driver = driver
  }

  init(): Promise<void> {
    return this.#driver.init()
  }

  async acquireConnection(): Promise<CountingConnection> {
    return new CountingConnection(await this.#driver.acquireConnection())
  }

  beginTransaction({ connection }: CountingConnection, settings: Parameters<Driver['beginTransaction']>[1]) {
    return this.#driver.beginTransaction(connection, settings)
  }

  /** The counters are incremented last, so that a transaction that waits for their rows holds up no other. */
  async commitTransaction({ connection, changed }: CountingConnection): Promise<void> {
    for (const { increment } of changed) await connection.executeQuery(increment)
    await this.#driver.commitTransaction(connection)
  }

  rollbackTransaction({ connection }: CountingConnection): Promise<void> {
    return this.#driver.rollbackTransaction(connection)
  }

  releaseConnection({ connection }: CountingConnection): Promise<void> {
    return this.#driver.releaseConnection(connection)
  }

  destroy(): Promise<void> {
    return this.#driver.destroy()
  }
}

/** A connection of the driver for one transaction, or for one statement outside of transactions. */
class CountingConnection implements DatabaseConnection {
  readonly connection: DatabaseConnection
  readonly #changed = new Set<(typeof counters)[number]>()

  constructor(connection: DatabaseConnection) {
    this.connection = connection
  }

  /** In the order of `counters`, so that no two transactions wait for each other. */
  get changed() {
    return counters.filter((counter) => this.#changed.has(counter))
  }

  executeQuery: DatabaseConnection['executeQuery'] = (query) => {
    for (const counter of counters) if (counter.changes.test(query.sql)) this.#changed.add(counter)
    return this.connection.executeQuery(query)
  }

  streamQuery: DatabaseConnection['streamQuery'] = (query, chunkSize) => this.connection.streamQuery(query, chunkSize)
}
