/** The audit log. Only the count of a repeated action changes; old rows are pruned by age and number. */

import { type Selectable, sql } from 'kysely'
import { auditClasses } from '../contract/values.ts'
import type { Actor, AuditEntry, AuditRecord } from '../domain/access/access.ts'
import { auditClassOf, auditLimits, auditMergeMs } from '../domain/access/access.ts'
import { now } from '../platform/clock.ts'
import type { Reader, Tx } from './database.ts'
import type { AuditRow } from './schema/access.ts'

/**
 * Runs in the transaction of the action, so that both are stored or neither is. A minor action that is repeated is
 * counted in its first record.
 */
export async function writeAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const { actor, action, target, result, details = {} } = entry
  const time = now()
  const changing = { request_id: actor.request ?? null, details: JSON.stringify(details) }
  const repeated = auditClassOf(entry) === 'minor' ? await findRepeated(tx, entry, time) : undefined
  const row =
    repeated === undefined
      ? await tx.query
          .insertInto('audit')
          .values({
            class: auditClassOf(entry),
            at: time,
            actor_kind: actor.kind,
            actor_id: actor.id,
            actor_name: actor.name,
            address: actor.address,
            action,
            target,
            result,
            ...changing,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
      : await tx.query
          .updateTable('audit')
          .set({ ...changing, last_at: time, count: sql<number>`count + 1` })
          .where('id', '=', repeated.id)
          .returningAll()
          .executeTakeFirstOrThrow()
  tx.afterCommit(() => tx.publishAudit(toRecord(row)))
}

function findRepeated({ query }: Tx, { actor, action, target, result }: AuditEntry, time: number) {
  return query
    .selectFrom('audit')
    .select('id')
    .where('action', '=', action)
    .where('address', actor.address === null ? 'is' : '=', actor.address)
    .where('at', '>', time - auditMergeMs)
    .where('at', '<=', time)
    .where('class', '=', 'minor')
    .where('actor_kind', '=', actor.kind)
    .where('actor_id', actor.id === null ? 'is' : '=', actor.id)
    .where('actor_name', '=', actor.name)
    .where('target', '=', target)
    .where('result', '=', result)
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

export interface AuditQuery {
  /** Only this action or, if it ends with a dot, all actions with this prefix. */
  readonly action?: string | undefined
  readonly actor?: string | undefined
  readonly result?: AuditEntry['result'] | undefined
  /** `after` is inclusive, `before` exclusive; epoch milliseconds. */
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
  readonly offset: number
}

export async function listAudit(
  reader: Reader,
  { action, actor, result, after, before, limit, offset }: AuditQuery,
): Promise<{ readonly total: number; readonly records: readonly AuditRecord[] }> {
  let query = reader.selectFrom('audit')
  if (action?.endsWith('.')) query = query.where('action', '>', action).where('action', '<', `${action.slice(0, -1)}/`)
  else if (action !== undefined) query = query.where('action', '=', action)
  if (actor !== undefined) {
    const pattern = `%${actor.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
    query = query.where(sql<boolean>`lower(actor_name) like ${pattern} escape '\\'`)
  }
  if (result !== undefined) query = query.where('result', '=', result)
  if (after !== undefined) query = query.where('at', '>=', after)
  if (before !== undefined) query = query.where('at', '<', before)
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  const rows = await query.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute()
  return { total: Number(total), records: rows.map(toRecord) }
}

function toRecord(row: Selectable<AuditRow>): AuditRecord {
  const {
    id,
    at,
    count,
    last_at,
    actor_kind,
    actor_id,
    actor_name,
    address,
    action,
    target,
    result,
    request_id,
    details,
  } = row
  return {
    id,
    at,
    count,
    last_at,
    actor: { kind: actor_kind as Actor['kind'], id: actor_id, name: actor_name, address },
    action,
    target,
    result: result as AuditEntry['result'],
    request_id,
    details: JSON.parse(details),
  }
}

/** Deletes old records, and the oldest ones of each class beyond its limit. */
export async function pruneAudit(
  tx: Tx,
  now: number,
  limits: { ageMs: number; rows: number } = auditLimits,
): Promise<void> {
  await tx.query
    .deleteFrom('audit')
    .where('at', '<', now - limits.ageMs)
    .execute()
  for (const name of auditClasses) {
    const ofClass = tx.query.selectFrom('audit').select('id').where('class', '=', name)
    const last = ofClass.orderBy('id', 'desc').limit(1).offset(limits.rows)
    await tx.query.deleteFrom('audit').where('class', '=', name).where('id', '<=', last).execute()
  }
}
