/**
 * Stores alerts. Each is raised and cleared once, even with several processes. Cleared alerts are pruned by age and
 * number.
 */

import type { Alert, AlertCause, AlertState } from '../domain/alerts/alert.ts'
import type { Reader, Tx } from './database.ts'
import type { AlertRow } from './schema.ts'

interface AlertFilter {
  readonly state?: AlertState | undefined
  readonly manufacturer?: string | undefined
  readonly receiver_id?: number | undefined
}

/** Returns the matching alerts, ordered by id. */
export async function listAlerts(reader: Reader, filter: AlertFilter = {}): Promise<Alert[]> {
  let query = reader.selectFrom('alerts').selectAll().orderBy('id')
  if (filter.manufacturer !== undefined) query = query.where('manufacturer', '=', filter.manufacturer)
  if (filter.receiver_id !== undefined) query = query.where('receiver_id', '=', filter.receiver_id)
  if (filter.state !== undefined) query = query.where('cleared_at', filter.state === 'raised' ? 'is' : 'is not', null)
  return (await query.execute()).map(toAlert)
}

/** Returns the alerts that were raised, escalated or cleared after this revision of the counter `alerts`. */
export async function listAlertsSince(reader: Reader, since: number): Promise<{ alert: Alert; revision: number }[]> {
  const rows = await reader.selectFrom('alerts').selectAll().where('revision', '>', since).orderBy('id').execute()
  return rows.map((row) => ({ alert: toAlert(row), revision: row.revision }))
}

/** Stores a new alert. Returns null if the subject already has an open alert. */
export async function raiseAlert(tx: Tx, revision: number, cause: AlertCause, at: number): Promise<Alert | null> {
  const row = await tx.query
    .insertInto('alerts')
    .values({ ...cause, raised_at: at, cleared_at: null, revision })
    .onConflict((conflict) => conflict.column('subject').where('cleared_at', 'is', null).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : toAlert(row)
}

/** Changes the severity of an open alert. Returns null if the alert is already cleared or already has this severity. */
export async function worsenAlert(
  tx: Tx,
  revision: number,
  id: number,
  { severity, message }: Pick<AlertCause, 'severity' | 'message'>,
): Promise<Alert | null> {
  const row = await tx.query
    .updateTable('alerts')
    .set({ severity, message, revision })
    .where('id', '=', id)
    .where('cleared_at', 'is', null)
    .where('severity', '<>', severity)
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : toAlert(row)
}

/** Clears an alert. Returns null if it is already cleared. */
export async function clearAlert(
  tx: Tx,
  revision: number,
  id: number,
  { message, at }: { readonly message: string; readonly at: number },
): Promise<Alert | null> {
  const row = await tx.query
    .updateTable('alerts')
    .set({ message, cleared_at: at, revision })
    .where('id', '=', id)
    .where('cleared_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : toAlert(row)
}

/** Deletes the alerts that were cleared before `time`. Of the other cleared alerts, keeps the newest `maxCount`. */
export async function pruneAlerts(tx: Tx, time: number, maxCount: number): Promise<void> {
  await tx.query.deleteFrom('alerts').where('cleared_at', '<', time).execute()
  const oldest = await tx.query
    .selectFrom('alerts')
    .select('id')
    .where('cleared_at', 'is not', null)
    .orderBy('id', 'desc')
    .offset(maxCount)
    .limit(1)
    .executeTakeFirst()
  if (oldest === undefined) return
  await tx.query.deleteFrom('alerts').where('cleared_at', 'is not', null).where('id', '<=', oldest.id).execute()
}

type StoredAlert = Omit<AlertRow, 'id'> & { readonly id: number }

function toAlert({ revision: _, ...row }: StoredAlert): Alert {
  return { ...row, state: row.cleared_at === null ? 'raised' : 'cleared' }
}
