/** The queue of messages to notification channels, and the delivery log. */

import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { DeliveryStatus, NotificationType } from '../contract/values.ts'
import type { QueuedAlert, QueuedDelivery } from '../domain/notifications/plan.ts'
import type { Reader, Tx } from './database.ts'
import { nextRevision } from './revision.ts'
import { executeForRows, inChunks } from './rows.ts'
import type { NotificationDeliveryRow } from './schema/alerts.ts'
import type { Schema } from './schema.ts'

export type DeliveryFields = Selectable<NotificationDeliveryRow>

export interface StoredDelivery extends DeliveryFields {
  readonly alert_ids: readonly number[]
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined
  readonly channel_id?: number | undefined
  /** Only those that were queued at or after this time (epoch ms). */
  readonly since?: number | undefined
}

/** Counts a change of deliveries, so that every process announces it. Must be the last change of the transaction. */
export async function countDeliveryChange(tx: Tx): Promise<void> {
  await nextRevision(tx, 'notification_deliveries')
}

export async function listDeliveries(
  reader: Reader,
  filter: DeliveryFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<StoredDelivery[]> {
  const query = filtered(reader.selectFrom('notification_deliveries'), filter).selectAll()
  return withAlertIds(reader, await query.orderBy('id', 'desc').limit(limit).offset(offset).execute())
}

export async function countDeliveries(reader: Reader, filter: DeliveryFilter): Promise<number> {
  const query = filtered(reader.selectFrom('notification_deliveries'), filter)
  const { total } = await query.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow()
  return Number(total)
}

function filtered(
  query: SelectQueryBuilder<Schema, 'notification_deliveries', object>,
  { status, channel_id, since }: DeliveryFilter,
) {
  let result = query
  if (status !== undefined) result = result.where('status', '=', status)
  if (channel_id !== undefined) result = result.where('notification_channel_id', '=', channel_id)
  if (since !== undefined) result = result.where('created_at', '>=', since)
  return result
}

async function withAlertIds(reader: Reader, rows: readonly DeliveryFields[]): Promise<StoredDelivery[]> {
  const byDelivery = await listDeliveryAlerts(
    reader,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({ ...row, alert_ids: (byDelivery.get(row.id) ?? []).map(({ id }) => id) }))
}

async function listDeliveryAlerts(reader: Reader, ids: readonly number[]): Promise<Map<number, QueuedAlert[]>> {
  const byDelivery = new Map<number, QueuedAlert[]>()
  await inChunks(ids, async (chunk) => {
    const rows = await reader
      .selectFrom('notification_delivery_alerts')
      .selectAll()
      .where('delivery_id', 'in', chunk)
      .orderBy('alert_id')
      .execute()
    for (const { delivery_id, alert_id: id, ...alert } of rows) {
      const alerts = byDelivery.get(delivery_id) ?? []
      alerts.push({ id, ...alert })
      byDelivery.set(delivery_id, alerts)
    }
  })
  return byDelivery
}

// --- Planning --------------------------------------------------------------------------------------------------------

/**
 * Returns the earlier messages that rules depend on. These are deliveries that contain one of the alerts, without their
 * other alerts, and those queued after `openSince` that were not tried yet. Of repeated messages, only the last ones are
 * returned.
 */
export async function listQueuedDeliveries(
  reader: Reader,
  alertIds: readonly number[],
  openSince: number,
): Promise<QueuedDelivery[]> {
  const deliveries = new Map<number, QueuedDelivery & { readonly alerts: QueuedAlert[] }>()
  const know = ({ id, rule_id, notification_channel_id, type, status, attempts, created_at }: DeliveryState) => {
    const found = deliveries.get(id)
    if (found !== undefined) return found
    const fields = { id, rule_id, notification_channel_id, type, status, attempts, created_at }
    const delivery = { ...fields, alerts: [] }
    deliveries.set(id, delivery)
    return delivery
  }
  const open = reader.selectFrom('notification_deliveries').select(stateColumns).where('status', '=', 'pending')
  for (const row of await open.where('created_at', '>', openSince).where('attempts', '=', 0).execute()) know(row)
  const read = async (chunk: readonly number[]) => {
    const parts = reader
      .selectFrom('notification_delivery_alerts as part')
      .innerJoin('notification_deliveries as delivery', 'delivery.id', 'part.delivery_id')
      .where('part.alert_id', 'in', chunk)
    const last = parts
      .select(({ fn }) => fn.max('delivery.id').as('id'))
      .where('delivery.type', '=', 'alert.repeated')
      .groupBy([
        'part.alert_id',
        'delivery.rule_id',
        'delivery.notification_channel_id',
        'part.round',
        'delivery.status',
      ])
    const rows = await parts
      .select(stateColumns.map((column) => `delivery.${column}` as const))
      .select(['part.alert_id', 'part.kind', 'part.severity', 'part.round'])
      .where((eb) => eb.or([eb('delivery.type', '<>', 'alert.repeated'), eb('delivery.id', 'in', last)]))
      .execute()
    for (const row of rows) {
      const { alert_id: id, kind, severity, round } = row
      know(row).alerts.push({ id, kind, severity, round })
    }
  }
  await inChunks(alertIds, read, alertsPerRead)
  return [...deliveries.values()]
}

/** Each rule may have sent each alert several times. */
const alertsPerRead = 20

type DeliveryState = Omit<QueuedDelivery, 'alerts'>
const stateColumns = [
  'id',
  'rule_id',
  'notification_channel_id',
  'type',
  'status',
  'attempts',
  'created_at',
] as const satisfies readonly (keyof DeliveryState)[]

export interface NewDelivery {
  readonly message_id: string
  readonly notification_channel_id: number
  readonly rule_id: number
  readonly type: NotificationType
  readonly created_at: number
  readonly next_attempt_at: number
}

export async function insertDelivery(tx: Tx, delivery: NewDelivery, alerts: readonly QueuedAlert[]): Promise<void> {
  const { id } = await tx.query
    .insertInto('notification_deliveries')
    .values({ ...delivery, status: 'pending', attempts: 0 })
    .returning('id')
    .executeTakeFirstOrThrow()
  await putAlerts(tx, id, alerts)
}

export async function extendDelivery(tx: Tx, id: number, alerts: readonly QueuedAlert[]): Promise<boolean> {
  // The update locks the row, so that the message is not sent before the alerts have been added.
  const { numUpdatedRows } = await tx.query
    .updateTable('notification_deliveries')
    .set({ attempts: 0 })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('attempts', '=', 0)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await putAlerts(tx, id, alerts)
  return true
}

async function putAlerts(tx: Tx, deliveryId: number, alerts: readonly QueuedAlert[]): Promise<void> {
  await inChunks(alerts, async (chunk) => {
    const rows = chunk.map(({ id, ...alert }) => ({ delivery_id: deliveryId, alert_id: id, ...alert }))
    // SQLite would read `on conflict` as the condition of a join without `where true`.
    await executeForRows<unknown, keyof typeof partColumns>(
      tx,
      partColumns,
      rows,
      (input) => sql`
        insert into notification_delivery_alerts (delivery_id, alert_id, kind, severity, round)
        select delivery_id, alert_id, kind, severity, round from ${input} where true
        on conflict (delivery_id, alert_id)
        do update set kind = excluded.kind, severity = excluded.severity, round = excluded.round`,
    )
  })
}

const partColumns = {
  delivery_id: 'bigint',
  alert_id: 'bigint',
  kind: 'text',
  severity: 'text',
  round: 'bigint',
} as const

/** A delivery that has no alerts left is deleted if it was never tried; otherwise it fails. */
export async function withdrawAlerts(
  tx: Tx,
  id: number,
  alertIds: readonly number[],
  { reason }: { readonly reason: string },
): Promise<void> {
  const delivery = await tx.query
    .updateTable('notification_deliveries')
    .set((eb) => ({ attempts: eb.ref('attempts') }))
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returning('attempts')
    .executeTakeFirst()
  if (delivery === undefined) return
  const parts = tx.query.selectFrom('notification_delivery_alerts').select('alert_id').where('delivery_id', '=', id)
  const remaining = (await parts.execute()).filter(({ alert_id }) => !alertIds.includes(alert_id))
  if (remaining.length === 0 && delivery.attempts > 0)
    return finishDelivery(tx, id, { status: 'failed', error: reason })
  const deletion = tx.query.deleteFrom('notification_delivery_alerts').where('delivery_id', '=', id)
  await deletion.where('alert_id', 'in', alertIds).execute()
  if (remaining.length === 0) await tx.query.deleteFrom('notification_deliveries').where('id', '=', id).execute()
}

export async function listNotificationRounds(
  reader: Reader,
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rounds = new Map<number, number>()
  await inChunks(alertIds, async (chunk) => {
    const rows = await reader
      .selectFrom('alerts')
      .select(['id', 'notification_round'])
      .where('id', 'in', chunk)
      .execute()
    for (const { id, notification_round } of rows) rounds.set(id, notification_round)
  })
  return rounds
}

export async function saveNotificationRound(tx: Tx, alertId: number, round: number): Promise<void> {
  await tx.query.updateTable('alerts').set({ notification_round: round }).where('id', '=', alertId).execute()
}

// --- Sending ---------------------------------------------------------------------------------------------------------

export interface PendingDelivery {
  readonly id: number
  readonly notification_channel_id: number | null
  readonly created_at: number
  readonly next_attempt_at: number | null
}

/** Returns pending deliveries in the order of their next attempt, without those of some notification channels. */
export async function listPendingDeliveries(
  reader: Reader,
  { without, limit }: { readonly without: readonly number[]; readonly limit: number },
): Promise<PendingDelivery[]> {
  const query = reader
    .selectFrom('notification_deliveries')
    .select(['id', 'notification_channel_id', 'created_at', 'next_attempt_at'])
    .where('status', '=', 'pending')
    .where('next_attempt_at', 'is not', null)
  const others = without.length === 0 ? query : query.where('notification_channel_id', 'not in', without)
  return others.orderBy('next_attempt_at').orderBy('id').limit(limit).execute()
}

export async function findOldestPending(reader: Reader): Promise<number | null> {
  const row = await reader
    .selectFrom('notification_deliveries')
    .select('created_at')
    .where('status', '=', 'pending')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at ?? null
}

export interface Expiry {
  /** Deliveries that were queued until then expire (epoch ms). */
  readonly before: number
  /** The clock was set back if a delivery was queued at or after this time; it expires too. */
  readonly after: number
  readonly except: readonly number[]
  /** Notification channels whose services respond. Their messages do not expire before the first try. */
  readonly responding: readonly number[]
}

/** Ends the pending deliveries that have expired. Returns their notification channels. */
export async function expireDeliveries(
  tx: Tx,
  { before, after, except, responding }: Expiry,
): Promise<{ readonly id: number; readonly notification_channel_id: number | null }[]> {
  let query = tx.query
    .updateTable('notification_deliveries')
    .set((eb) => ({
      status: 'expired',
      next_attempt_at: null,
      last_error: eb.fn.coalesce('last_error', eb.val(notTried)),
    }))
    .where('status', '=', 'pending')
    .where((eb) => eb.or([eb('created_at', '<=', before), eb('created_at', '>=', after)]))
  if (except.length > 0) query = query.where('id', 'not in', except)
  if (responding.length > 0) {
    const isElsewhere = sql<boolean>`coalesce(notification_channel_id, 0) not in (${sql.join(responding)})`
    query = query.where((eb) => eb.or([eb('attempts', '>', 0), isElsewhere]))
  }
  return query.returning(['id', 'notification_channel_id']).execute()
}

/** The error of a delivery that expired before a try ended. */
const notTried =
  'It was not tried in time: the service did not respond to earlier messages or had asked for a pause, or Micwatch was not running.'

/** Counts an attempt before it is made. Returns undefined if the delivery is no longer pending. */
export function beginAttempt(tx: Tx, id: number, at: number): Promise<DeliveryFields | undefined> {
  return tx.query
    .updateTable('notification_deliveries')
    .set({ attempts: sql<number>`attempts + 1`, last_attempt_at: at })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returningAll()
    .executeTakeFirst()
}

export function listSeverities(reader: Reader, deliveryId: number) {
  return reader
    .selectFrom('notification_delivery_alerts as part')
    .innerJoin('alerts', 'alerts.id', 'part.alert_id')
    .select(['alerts.id', 'alerts.severity'])
    .where('part.delivery_id', '=', deliveryId)
    .orderBy('alerts.id')
    .execute()
}

export async function saveRetry(
  tx: Tx,
  id: number,
  { error, next_attempt_at }: { readonly error: string; readonly next_attempt_at: number | null },
): Promise<void> {
  const query = tx.query.updateTable('notification_deliveries').set({ last_error: error, next_attempt_at })
  await query.where('id', '=', id).where('status', '=', 'pending').execute()
}

export interface DeliveryEnd {
  readonly status: Exclude<DeliveryStatus, 'pending'>
  /** If absent, the last error stays. */
  readonly error?: string | null
  readonly sent_at?: number
}

export async function finishDelivery(tx: Tx, id: number, { status, error, sent_at }: DeliveryEnd): Promise<void> {
  const values = {
    status,
    next_attempt_at: null,
    ...(error !== undefined && { last_error: error }),
    ...(sent_at !== undefined && { sent_at }),
  }
  // A message that was sent counts as sent, even if the delivery expired meanwhile.
  const query = tx.query.updateTable('notification_deliveries').set(values).where('id', '=', id)
  await (status === 'sent' ? query : query.where('status', '=', 'pending')).execute()
}

export async function hasClearedAlert(reader: Reader, id: number): Promise<boolean> {
  const row = await reader
    .selectFrom('notification_delivery_alerts as part')
    .innerJoin('alerts', 'alerts.id', 'part.alert_id')
    .select('part.alert_id')
    .where('part.delivery_id', '=', id)
    .where('alerts.cleared_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function detachChannel(tx: Tx, channelId: number, reason: string): Promise<void> {
  const ofChannel = tx.query.updateTable('notification_deliveries').where('notification_channel_id', '=', channelId)
  const failed = { status: 'failed', next_attempt_at: null, last_error: reason } as const
  await ofChannel.set(failed).where('status', '=', 'pending').execute()
  await ofChannel.set({ notification_channel_id: null }).execute()
}

export async function detachRule(tx: Tx, ruleId: number, reason: string): Promise<void> {
  const ofRule = tx.query.updateTable('notification_deliveries').where('rule_id', '=', ruleId)
  const failed = { status: 'failed', next_attempt_at: null, last_error: reason } as const
  await ofRule.set(failed).where('status', '=', 'pending').execute()
  await ofRule.set({ rule_id: null }).execute()
}

export async function insertTest(
  tx: Tx,
  test: Pick<StoredDelivery, 'message_id' | 'notification_channel_id' | 'created_at' | 'last_error'> & {
    readonly status: 'sent' | 'failed'
    readonly ended_at: number
  },
): Promise<void> {
  const { ended_at, ...fields } = test
  await tx.query
    .insertInto('notification_deliveries')
    .values({
      ...fields,
      type: 'test',
      attempts: 1,
      last_attempt_at: fields.created_at,
      sent_at: fields.status === 'sent' ? ended_at : null,
    })
    .execute()
}

const deliveryLimits = { ageMs: 30 * 24 * 3_600_000, rows: 10_000 } as const

/** Returns the time before which deliveries are no longer listed. */
export function oldestListed(now: number): number {
  return now - deliveryLimits.ageMs
}

/** Deliveries of open alerts stay, because the alerts would otherwise be sent again. */
export async function pruneDeliveries(
  tx: Tx,
  now: number,
  limits: { ageMs: number; rows: number } = deliveryLimits,
): Promise<void> {
  const deliveries = () =>
    tx.query
      .deleteFrom('notification_deliveries')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('notification_delivery_alerts as part')
              .innerJoin('alerts', 'alerts.id', 'part.alert_id')
              .select('part.alert_id')
              .whereRef('part.delivery_id', '=', 'notification_deliveries.id')
              .where('notification_deliveries.type', '<>', 'alert.repeated')
              .where('alerts.cleared_at', 'is', null),
          ),
        ),
      )
  await deliveries()
    .where('created_at', '<', now - limits.ageMs)
    .execute()
  const ids = tx.query.selectFrom('notification_deliveries').select('id').orderBy('id', 'desc')
  await deliveries().where('id', '<=', ids.limit(1).offset(limits.rows)).execute()
}
