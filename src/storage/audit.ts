/** The audit log. Rows never change; old rows are pruned by age and number. */

import { type Selectable, sql } from 'kysely'
import type { Actor, AuditEntry, AuditRecord } from '../domain/access/access.ts'
import { now } from '../platform/clock.ts'
import type { Reader, Tx } from './database.ts'
import type { AuditRow } from './schema/access.ts'

/** Writes the record in the transaction of the action, so that both are stored or neither is. */
export async function writeAudit(tx: Tx, { actor, action, target, result, details = {} }: AuditEntry): Promise<void> {
  const row = await tx.query
    .insertInto('audit')
    .values({
      at: now(),
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name: actor.name,
      address: actor.address,
      action,
      target,
      result,
      request_id: actor.request ?? null,
      details: JSON.stringify(details),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  tx.afterCommit(() => tx.publishAudit(toRecord(row)))
}

export interface AuditQuery {
  /** Only this action or, if it ends with a dot, all actions with this prefix. */
  readonly action?: string | undefined
  /** Only records whose actor name contains this text. */
  readonly actor?: string | undefined
  readonly result?: AuditEntry['result'] | undefined
  /** `after` is inclusive, `before` exclusive; epoch milliseconds. */
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
  readonly offset: number
}

/** Returns a page of the matching records, newest first. `total` counts all matching records. */
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
  const { id, at, actor_kind, actor_id, actor_name, address, action, target, result, request_id, details } = row
  return {
    id,
    at,
    actor: { kind: actor_kind as Actor['kind'], id: actor_id, name: actor_name, address },
    action,
    target,
    result: result as AuditEntry['result'],
    request_id,
    details: JSON.parse(details),
  }
}

const auditLimits = { ageMs: 90 * 24 * 3_600_000, rows: 100_000 } as const

export async function pruneAudit(
  tx: Tx,
  now: number,
  limits: { ageMs: number; rows: number } = auditLimits,
): Promise<void> {
  await tx.query
    .deleteFrom('audit')
    .where('at', '<', now - limits.ageMs)
    .execute()
  const last = tx.query.selectFrom('audit').select('id').orderBy('id', 'desc').limit(1).offset(limits.rows)
  await tx.query.deleteFrom('audit').where('id', '<=', last).execute()
}
