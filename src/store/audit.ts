/** Who did what; rows are added, and go only by age or number. */

import { type Selectable, sql } from 'kysely'
import type { Actor, AuditEntry } from '../model/access.ts'
import type { Reader, Tx } from './database.ts'
import type { AuditRow } from './schema.ts'

/** In the transaction of the deed itself: both are there, or neither. */
export async function writeAudit(tx: Tx, { actor, action, target, result, details = {} }: AuditEntry): Promise<void> {
  await tx.query
    .insertInto('audit')
    .values({
      at: Date.now(),
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name: actor.name,
      address: actor.address,
      action,
      target,
      result,
      details: JSON.stringify(details),
    })
    .execute()
}

export interface AuditRecord extends Omit<AuditEntry, 'actor' | 'details'> {
  readonly id: number
  readonly at: number
  readonly actor: Omit<Actor, 'role'>
  readonly details: Readonly<Record<string, unknown>>
}

export interface AuditQuery {
  /** Exactly this action, or with a dot at its end all that begin with it. */
  readonly action?: string | undefined
  readonly limit: number
  readonly offset: number
}

/** The newest first. `total` counts all that fit. */
export async function listAudit(
  reader: Reader,
  { action, limit, offset }: AuditQuery,
): Promise<{ readonly total: number; readonly records: readonly AuditRecord[] }> {
  let fitting = reader.selectFrom('audit')
  if (action?.endsWith('.'))
    fitting = fitting.where('action', '>', action).where('action', '<', `${action.slice(0, -1)}/`)
  else if (action !== undefined) fitting = fitting.where('action', '=', action)
  const { total } = await fitting.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  const rows = await fitting.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute()
  return { total: Number(total), records: rows.map(toRecord) }
}

function toRecord(row: Selectable<AuditRow>): AuditRecord {
  const { id, at, actor_kind, actor_id, actor_name, address, action, target, result, details } = row
  return {
    id,
    at,
    actor: { kind: actor_kind as Actor['kind'], id: actor_id, name: actor_name, address },
    action,
    target,
    result: result as AuditEntry['result'],
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
