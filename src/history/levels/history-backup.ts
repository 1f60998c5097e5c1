/** Copies recorded levels into a backup, which is the main database with the tables of `history.db`, and out of it. */

import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../storage/database.ts'
import { createSqliteSchema } from '../../storage/migrate.ts'
import { moveAside } from '../../storage/repair.ts'
import { connectFile, copySqlite, createFile, readSqlite, writeAtomically } from '../../storage/sqlite-file.ts'
import { createHistorySchema, historyPath, historyTables, initializeHistory, prunedTable } from './sqlite-tables.ts'

type SqliteFile = ReturnType<typeof connectFile>

export interface CopyOptions {
  /** Called repeatedly with the number of rows that were copied. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  /** Stops the copying. */
  readonly signal?: AbortSignal | undefined
}

export function containsHistory(path: string): boolean {
  return tablesIn(path).includes(prunedTable)
}

function tablesIn(path: string): string[] {
  return readSqlite(path, (read) => read("sqlite_master where type = 'table'", ['name'])).map(({ name }) =>
    String(name),
  )
}

/** Adds the tables of a history to a backup, in the state of one moment, while other processes write to the history. */
export async function addHistory(backup: string, history: string, options: CopyOptions = {}): Promise<void> {
  await withSource(backup, history, async (file) => {
    createHistorySchema(file)
    await copyRows(file, options)
  })
}

/** Creates a history from the tables in a backup. `history` must not exist. */
export async function extractHistory(backup: string, history: string, options: CopyOptions = {}): Promise<void> {
  await writeAtomically(history, { overwrite: true }, async (draft) => {
    const file = connectFile(draft, {})
    initializeHistory(file)
    file.close()
    await withSource(draft, backup, (file) => copyRows(file, options))
  })
}

/** Copies everything else that is in a backup to a new database. `path` must not exist. */
export async function copyWithoutHistory(backup: string, path: string): Promise<void> {
  if (!containsHistory(backup)) return copySqlite(backup, path, { overwrite: true })
  await createFile(path)
  const migrations = readSqlite(backup, (read) => read('migrations order by name', ['name']))
  const isLast = (table: string) => Number(table === 'sqlite_sequence')
  await withSource(path, backup, async (file) => {
    createSqliteSchema(
      file,
      migrations.map(({ name }) => String(name)),
    )
    // The last ids are copied last, because every new row changes them. Statistics are omitted.
    const tables = tablesIn(backup).filter((table) => !historyTables.includes(table) && !/^sqlite_stat/.test(table))
    for (const table of tables.sort((a, b) => isLast(a) - isLast(b)))
      file.exec(`delete from main."${table}"; insert into main."${table}" select * from source."${table}"`)
    file.exec(`delete from sqlite_sequence where name in (${historyTables.map((table) => `'${table}'`).join(', ')})`)
  })
}

/** Renames the history of a database. Returns the new path; null if there is no history. */
export async function moveHistoryAside(databasePath: string, suffix: string): Promise<string | null> {
  const path = historyPath(databasePath)
  if (!existsSync(path)) return null
  await moveAside(path, `${path}.${suffix}`)
  return `${path}.${suffix}`
}

/** Tables that are moved in one transaction. PostgreSQL limits how many can be locked at a time. */
const tablesPerTransaction = 100

/**
 * Moves the tables of the history in PostgreSQL to a schema of their own. Returns the name of the schema; null if there
 * is no history.
 */
export async function movePostgresHistoryAside(db: Database, suffix: string): Promise<string | null> {
  const { rows } = await sql<{ readonly name: string }>`
    select tablename as name from pg_tables
    where schemaname = current_schema() and starts_with(tablename, 'history_') order by tablename`.execute(db.read)
  if (rows.length === 0) return null
  const schema = `history.${suffix}`
  await db.transaction((tx) => sql`create schema ${sql.id(schema)}`.execute(tx.query))
  for (let first = 0; first < rows.length; first += tablesPerTransaction) {
    await db.transaction(async ({ query }) => {
      for (const { name } of rows.slice(first, first + tablesPerTransaction))
        await sql`alter table ${sql.id(name)} set schema ${sql.id(schema)}`.execute(query)
    })
  }
  return schema
}

/**
 * Opens a database, attaches another one as `source`, and commits all of `work` or nothing. Statements are not prepared,
 * because they would keep the files open.
 */
async function withSource(path: string, source: string, work: (file: SqliteFile) => Promise<void>): Promise<void> {
  const file = connectFile(path, { enableForeignKeyConstraints: false, timeout: 1_000 })
  try {
    file.exec(`attach '${source.replaceAll("'", "''")}' as source; begin`)
    await work(file)
    file.exec('commit')
  } finally {
    file.close()
  }
}

/** Rows that are copied before progress is reported. A row may have a hundred kilobytes. */
const batchSize = 100

/** Copies all rows. `source` stays in the state of the first read. */
async function copyRows(file: SqliteFile, { onProgress, signal }: CopyOptions): Promise<void> {
  const tables = historyTables.filter((table) => table !== prunedTable)
  file.exec(`insert into main."${prunedTable}" select * from source."${prunedTable}"`)
  const read = createReader(file)
  const total = tables.reduce((sum, table) => sum + read(`select count(*) from source."${table}"`), 0)
  let done = 0
  for (const table of tables) {
    for (let last = -1; ; last = read(`select max(id) from main."${table}"`)) {
      file.exec(`insert into main."${table}" select * from source."${table}"
        where id > ${last} order by id limit ${batchSize}`)
      const copied = read('select changes()')
      if (copied === 0) break
      done += copied
      onProgress?.(done, total)
      await nextTurn()
      signal?.throwIfAborted()
    }
  }
}

/** Returns a function that reads one number without a prepared statement. */
function createReader(file: SqliteFile): (sql: string) => number {
  let found = 0
  file.function('emit_number', (value: number) => {
    found = value
    return null
  })
  return (sql) => {
    file.exec(`select emit_number((${sql}))`)
    return found
  }
}
