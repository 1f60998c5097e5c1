import type { Selectable } from 'kysely'
import type { HandoverContents } from '../contract/handovers.ts'
import type { Reader, Tx } from './database.ts'
import type { Schema } from './schema.ts'

/** Times are epoch milliseconds. */
export interface ClosedPeriod {
  readonly id: number
  readonly since: number
  readonly until: number
  readonly by: string
  /** Empty without a note. */
  readonly note: string
}

const columns = ['id', 'since', 'until', 'actor', 'note'] as const

/** Returns the closed periods, or those that were closed after `after`, newest first. */
export async function listHandovers(reader: Reader, after = 0): Promise<ClosedPeriod[]> {
  const rows = await reader
    .selectFrom('handovers')
    .select(columns)
    .where('until', '>', after)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(toPeriod)
}

export async function findLastHandover(reader: Reader): Promise<ClosedPeriod | undefined> {
  const row = await reader.selectFrom('handovers').select(columns).orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row && toPeriod(row)
}

export async function findHandover(
  reader: Reader,
  id: number,
): Promise<(ClosedPeriod & { readonly contents: HandoverContents }) | undefined> {
  const row = await reader.selectFrom('handovers').selectAll().where('id', '=', id).executeTakeFirst()
  return row && { ...toPeriod(row), contents: JSON.parse(row.contents) }
}

const maxHandovers = 1000

/** Returns undefined if another person has closed the period since. Deletes the oldest beyond the limit. */
export async function insertHandover(
  { query }: Tx,
  { by: actor, ...period }: Omit<ClosedPeriod, 'id'>,
  contents: HandoverContents,
): Promise<number | undefined> {
  const row = await query
    .insertInto('handovers')
    .values({ ...period, actor, contents: JSON.stringify(contents) })
    .onConflict((conflict) => conflict.column('since').doNothing())
    .returning('id')
    .executeTakeFirst()
  const last = query.selectFrom('handovers').select('id').orderBy('id', 'desc').limit(1).offset(maxHandovers)
  await query.deleteFrom('handovers').where('id', '<=', last).execute()
  return row?.id
}

function toPeriod({ actor, ...period }: Omit<Selectable<Schema['handovers']>, 'contents'>): ClosedPeriod {
  return { ...period, by: actor }
}
