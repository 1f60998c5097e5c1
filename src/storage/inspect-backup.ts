/**
 * Checks whether a file is a Micwatch backup. Its schema must match Micwatch's exactly, so that no foreign SQL can run.
 */

import { DatabaseSync } from '@photostructure/sqlite'
import { createHistorySchema, historyTables } from '../history/levels/sqlite-tables.ts'
import { createSqliteSchema, missingMigrations } from './migrate.ts'
import { describeDamage, findDamage, type Read, readSqlite, type StoredRow } from './sqlite-file.ts'

/**
 * Returns the end of a sentence; null if the file can be restored. A crafted file can make this function run forever.
 */
export function findBackupFault(file: string): string | null {
  try {
    // The schema is checked before the damage check runs, which evaluates expressions in the schema.
    const fault = readSqlite(file, findForeignSchema)
    if (fault !== null) return fault
    const damage = findDamage(file)
    return damage === null ? null : `it is damaged (${damage})`
  } catch (error) {
    const { message } = error as Error
    if (/not a database/.test(message)) return foreign
    const damage = describeDamage(error)
    return damage === null ? message : `it is damaged (${damage})`
  }
}

const foreign = 'it is not a Micwatch backup'

function findForeignSchema(read: Read): string | null {
  const entries = read('sqlite_master', ['type', 'name', 'tbl_name', 'sql'])
  // The schema entry of `migrations` is checked before its rows are read, because a view with this name could return an
  // unlimited number of rows.
  const migrationsTable = entries.find(({ name }) => name === 'migrations')
  if (migrationsTable === undefined) return foreign
  if (!schemaAfter([], false).some((entry) => toKey(entry) === toKey(migrationsTable)))
    return describeForeign(migrationsTable)
  const names = read('migrations order by name', ['name']).map(({ name }) => String(name))
  if (names.length === 0) return 'it is empty'
  missingMigrations(names)
  const hasHistory = entries.some(({ name }) => (historyTables as readonly unknown[]).includes(name))
  return findDifference(entries, schemaAfter(names, hasHistory))
}

function schemaAfter(names: readonly string[], hasHistory: boolean): readonly StoredRow[] {
  const database = new DatabaseSync(':memory:')
  try {
    createSqliteSchema(database, names)
    if (hasHistory) createHistorySchema(database)
    return database.prepare('select type, name, tbl_name, sql from sqlite_master').all() as StoredRow[]
  } finally {
    database.close()
  }
}

function findDifference(entries: readonly StoredRow[], expected: readonly StoredRow[]): string | null {
  const missing = new Map(expected.map((entry) => [toKey(entry), entry]))
  for (const entry of entries) {
    const isExpected = missing.delete(toKey(entry))
    if (!isExpected && !isStatistics(entry)) return describeForeign(entry)
  }
  const [first] = missing.values()
  return first === undefined ? null : `its ${first.type} ${first.name} is missing`
}

function describeForeign({ type, name }: StoredRow): string {
  return `its ${type} ${name} was not created by Micwatch`
}

/** True for a table of the SQL command `analyze`, which an administrator may have run. */
function isStatistics({ type, sql }: StoredRow): boolean {
  return type === 'table' && statisticsTables.has(String(sql))
}

const statisticsTables: ReadonlySet<string> = new Set([
  'CREATE TABLE sqlite_stat1(tbl,idx,stat)',
  'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)',
])

/**
 * Returns a key for comparing entries. It ignores differences in white space: SQLite puts an added column on the last
 * line of the statement that created the table.
 */
function toKey({ type, name, tbl_name, sql }: StoredRow): string {
  return JSON.stringify([type, name, tbl_name, sql === null ? null : String(sql).replace(/\s*([\s(),])\s*/g, '$1')])
}
