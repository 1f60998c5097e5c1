/**
 * Increments the counter `lists` in every transaction that changes a table of the lists. All statements pass here, so
 * none is missed, and a process reads its lists only when the counter has changed.
 */

import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver } from 'kysely'
import type { Schema } from './schema.ts'

/** The tables that `StoredLists` and `ManufacturerLoader` read, apart from `meta`. */
export const listTables: readonly (keyof Schema)[] = [
  'assignments',
  'discovered',
  'frequency_profiles',
  'group_settings',
  'groups',
  'locations',
  'manufacturers',
  'notification_channels',
  'notification_rules',
  'performers',
  'scans',
  'settings',
  'shows',
  'silences',
]
/** Deleting from these tables also deletes from a table above, by a foreign key. */
export const cascadingTables: readonly (keyof Schema)[] = ['channels', 'receivers', 'units']

const changes = (() => {
  const written = `(?:insert\\s+into|update)\\s+"?(?:${listTables.join('|')})`
  const deleted = `delete\\s+from\\s+"?(?:${[...listTables, ...cascadingTables].join('|')})`
  return new RegExp(`\\b(?:${written}|${deleted})\\b`, 'i')
})()

const increment = CompiledQuery.raw("update meta set value = value + 1 where key = 'lists'")

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

  /** The counter is incremented last, so that a transaction that waits for its row holds up no other. */
  async commitTransaction({ connection, hasChangedLists }: CountingConnection): Promise<void> {
    if (hasChangedLists) await connection.executeQuery(increment)
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
  hasChangedLists = false

  constructor(connection: DatabaseConnection) {
    this.connection = connection
  }

  executeQuery: DatabaseConnection['executeQuery'] = (query) => {
    this.hasChangedLists ||= changes.test(query.sql)
    return this.connection.executeQuery(query)
  }

  streamQuery: DatabaseConnection['streamQuery'] = (query, chunkSize) => this.connection.streamQuery(query, chunkSize)
}
