/** Bulk reads and writes in chunks, without blocking the event loop for long. */

import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Reader, Tx } from './database.ts'
import { toStorable } from './numbers.ts'

/** Small enough that one statement and its processing take only a few milliseconds. */
export const chunkSize = 100

/** Pass a smaller `size` if a statement returns many rows for each item. */
export async function inChunks<T>(
  items: readonly T[],
  run: (chunk: readonly T[]) => Promise<void>,
  size = chunkSize,
): Promise<void> {
  for (let offset = 0; offset < items.length; offset += size) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    await run(items.slice(offset, offset + size))
  }
}

/** Reads a table in the order of its ids; `readAfter` returns at most `chunkSize` rows with higher ids. */
export async function inPages<T extends { readonly id: number }>(
  readAfter: (id: number) => Promise<readonly T[]>,
): Promise<T[]> {
  const all: T[] = []
  for (let after = 0; ; ) {
    const page = await readAfter(after)
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < chunkSize) return all
    after = last.id
    if (isTimeSliceUsed()) await yieldToEventLoop()
  }
}

/** The tables whose rows are marked with the counter of their last change. */
type RevisedTable = 'receivers' | 'units' | 'discovery_queue'

/**
 * Reads changed rows in the order of their ids; `readChunk` returns the rows with these ids. The ids are listed first,
 * with the index on the counter, because SQLite would read the whole table for a single statement.
 */
export async function inChangedChunks<T>(
  reader: Reader,
  table: RevisedTable,
  isChanged: RawBuilder<boolean>,
  readChunk: (ids: readonly number[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const { rows } = await sql<{ id: number }>`select id from ${sql.table(table)} where ${isChanged}`.execute(reader)
  const ids = rows.map(({ id }) => id).sort((a, b) => a - b)
  const all: T[] = []
  await inChunks(ids, async (chunk) => {
    all.push(...(await readChunk(chunk)))
  })
  return all
}

type Columns<Name extends string> = Readonly<Record<Name, 'bigint' | 'text'>>
export type Row<Name extends string> = Readonly<Record<Name, string | number | null>>

/**
 * The statement selects from `input`, a table of these rows. The order of the result is not guaranteed. For speed,
 * SQLite receives a few rows at a time as parameters and PostgreSQL all rows as JSON.
 */
export async function executeForRows<Result, Name extends string>(
  tx: Tx,
  columns: Columns<Name>,
  rows: readonly Row<NoInfer<Name>>[],
  statement: (input: RawBuilder<unknown>) => RawBuilder<Result>,
): Promise<Result[]> {
  const names = Object.keys(columns) as Name[]
  if (tx.dialect === 'postgres') {
    const types = names.map((name) => sql`${sql.ref(name)} ${sql.raw(columns[name])}`)
    const json = JSON.stringify(rows, (_, value: unknown) => toStorable(value))
    const input = sql`json_to_recordset(${json}::json) as input (${sql.join(types)})`
    return (await statement(input).execute(tx.query)).rows
  }
  const results: Result[] = []
  let compiled: CompiledQuery | undefined
  let compiledSize = 0
  for (let offset = 0; offset < rows.length; offset += batchSize) {
    const batch = rows.slice(offset, offset + batchSize)
    if (compiled === undefined || batch.length !== compiledSize) {
      compiled = statement(valuesTable(names, batch.length)).compile(tx.query)
      compiledSize = batch.length
    }
    const parameters = batch.flatMap((row) => names.map((name) => row[name]))
    const { rows: returned } = await tx.query.executeQuery({ ...compiled, parameters })
    for (const result of returned) results.push(result as Result)
  }
  return results
}

/** Large enough that the overhead of a call is small compared with the processing of its rows. */
const batchSize = 20

/** Renames the columns, because SQLite calls the columns of `values` column1, column2, … */
function valuesTable(names: readonly string[], size: number): RawBuilder<unknown> {
  const columns = names.map((name, index) => sql`${sql.ref(`column${index + 1}`)} as ${sql.ref(name)}`)
  const row = sql`(${sql.join(names.map(() => null))})`
  return sql`(select ${sql.join(columns)} from (values ${sql.join(Array.from({ length: size }, () => row))})) as input`
}
