/** Copies a whole database between PostgreSQL and a SQLite file. */

import { DatabaseSync } from '@photostructure/sqlite'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database, Tx } from './database.ts'
import { appliedNames, createSqliteSchema, missingMigrations } from './migrate.ts'
import type { Schema } from './schema.ts'
import { keptTables, transientTables } from './schema.ts'
import { connectFile } from './sqlite-file.ts'

type SqliteFile = InstanceType<typeof DatabaseSync>
type Row = Readonly<Record<string, string | number | Uint8Array | null>>

/** The number of rows that are copied at a time. Pictures and scans are large. */
const batchSizeOf = (table: string) => (table === 'pictures' || table === 'scans' ? 10 : 500)

/** Copies the schema and all rows, in one consistent snapshot, to a SQLite file. `path` must be an empty file. */
export async function copyFromPostgres(db: Database, path: string): Promise<void> {
  const target = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  try {
    const snapshot = (db.read as Kysely<Schema>).transaction()
    await snapshot
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (tx) => {
        const names = await appliedNames('postgres', tx)
        missingMigrations(names)
        target.exec('begin')
        createSqliteSchema(target, names)
        for (const table of tablesIn(target)) await copyTable(tx, target, table)
        target.exec('commit')
      })
  } finally {
    target.close()
  }
}

function tablesIn(database: SqliteFile): string[] {
  const tables = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
  return (database.prepare(tables).all() as { name: string }[]).map(({ name }) => name)
}

async function copyTable(from: Transaction<Schema>, to: SqliteFile, table: string): Promise<void> {
  to.exec(`delete from "${table}"`)
  await sql`declare copying no scroll cursor for select * from ${sql.table(table)}`.execute(from)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(batchSizeOf(table))} from copying`.execute(from)
    const [first] = rows
    if (first === undefined) break
    const columns = Object.keys(first)
    const names = columns.map((name) => `"${name}"`).join(', ')
    const insert = to.prepare(`insert into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`)
    for (const row of rows) insert.run(...columns.map((name) => row[name] ?? null))
  }
  await sql`close copying`.execute(from)
  const lastId = (await lastIds(from)).get(table)
  if (lastId === undefined) return
  to.prepare('delete from sqlite_sequence where name = ?').run(table)
  to.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, lastId)
}

/** Keeps leases and migrations. The SQLite file must have the latest schema. */
export async function copyIntoPostgres(tx: Tx, path: string): Promise<void> {
  const source = connectFile(path, { readOnly: true })
  try {
    const replaced = [...keptTables, ...transientTables]
    await sql`truncate ${sql.join(replaced.map((table) => sql.table(table)))}`.execute(tx.query)
    for (const table of keptTables) {
      const rows = source.prepare(`select * from "${table}"`).iterate() as Iterable<Row>
      await insertRows(tx, table, table === 'locations' ? parentsFirst([...rows]) : rows)
    }
    const sequences = source.prepare('select name, seq from sqlite_sequence').all() as { name: string; seq: number }[]
    for (const [table, lastId] of await lastIds(tx.query)) {
      const highest = Math.max(lastId, sequences.find(({ name }) => name === table)?.seq ?? 0)
      if (highest > 0) await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${highest})`.execute(tx.query)
    }
  } finally {
    source.close()
  }
}

async function insertRows(tx: Tx, table: string, rows: Iterable<Row>): Promise<void> {
  for (const batch of inBatches(rows, batchSizeOf(table))) {
    const names = Object.keys(batch[0] ?? {})
    const values = batch.map((row) => sql`(${sql.join(names.map((name) => row[name]))})`)
    const columns = sql.join(names.map((name) => sql.ref(name)))
    await sql`insert into ${sql.table(table)} (${columns}) values ${sql.join(values)}`.execute(tx.query)
  }
}

function* inBatches<Item>(items: Iterable<Item>, size: number): Iterable<readonly Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Sorts parent locations before their children, because PostgreSQL checks foreign keys immediately. */
function parentsFirst(rows: readonly Row[]): Row[] {
  const sorted: Row[] = []
  const placed = new Set<Row[string] | undefined>([null])
  for (let remaining = rows; remaining.length > 0; ) {
    const next = remaining.filter((row) => placed.has(row.parent))
    if (next.length === 0)
      throw new Error('The backup contains locations that are nested in a circle, for example A in B and B in A.')
    for (const row of next) placed.add(row.id)
    sorted.push(...next)
    remaining = remaining.filter((row) => !next.includes(row))
  }
  return sorted
}

async function lastIds(reader: Kysely<Schema>): Promise<Map<string, number>> {
  const { rows } = await sql<{ name: string; last: number | null }>`
    select table_name as name, pg_sequence_last_value(pg_get_serial_sequence(quote_ident(table_name), 'id')::regclass) as last
    from information_schema.columns
    where table_schema = current_schema() and column_name = 'id' and is_identity = 'YES'`.execute(reader)
  return new Map(rows.map(({ name, last }) => [name, last ?? 0]))
}
