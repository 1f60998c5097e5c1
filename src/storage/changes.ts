/** The log of edits to slots, the cast and settings, for handovers. Titles and values are as of the edit. */

import type { Insertable, Selectable } from 'kysely'
import type { RecordedChange } from '../contract/values.ts'
import { auditLimits } from '../domain/access/access.ts'
import type { Reader, Tx } from './database.ts'
import { inChunks } from './rows.ts'
import type { Schema } from './schema.ts'

type Value = string | number | boolean | null

export interface Change {
  /** Epoch milliseconds. */
  readonly at: number
  readonly by: string
  readonly what: RecordedChange
  readonly target: number | string
  readonly slot: number | null
  readonly title: string | null
  readonly before: Value
  readonly after: Value
}

export async function insertChanges({ query }: Tx, changes: readonly Change[]): Promise<void> {
  const rows = changes.map(
    ({ by: actor, target, before, after, ...change }): Insertable<Schema['changes']> => ({
      ...change,
      actor,
      target: JSON.stringify(target),
      before: JSON.stringify(before),
      after: JSON.stringify(after),
    }),
  )
  await inChunks(rows, async (chunk) => {
    await query
      .insertInto('changes')
      .values([...chunk])
      .execute()
  })
}

/** Returns the newest changes in a range of time (epoch ms, exclusive start), newest first. */
export async function listChanges(
  reader: Reader,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<Change[]> {
  const inRange = reader.selectFrom('changes').selectAll().where('at', '>', from).where('at', '<=', to)
  const rows = await inRange.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute()
  return rows.map(toChange)
}

/** Deletes old changes, and the oldest beyond the limit. */
export async function pruneChanges({ query }: Tx, now: number, { ageMs, rows }: typeof auditLimits = auditLimits) {
  await query
    .deleteFrom('changes')
    .where('at', '<', now - ageMs)
    .execute()
  const last = query.selectFrom('changes').select('id').orderBy('id', 'desc').limit(1).offset(rows)
  await query.deleteFrom('changes').where('id', '<=', last).execute()
}

function toChange({ id: _, actor, target, before, after, ...row }: Selectable<Schema['changes']>): Change {
  return {
    ...row,
    by: actor,
    target: JSON.parse(target),
    before: JSON.parse(before),
    after: JSON.parse(after),
  }
}
