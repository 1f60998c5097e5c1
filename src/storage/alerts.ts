/**
 * Stores alerts. Each is raised, acknowledged and cleared once, even with several processes. Cleared alerts are pruned
 * by age.
 */

import type { Selectable, SelectQueryBuilder, UpdateQueryBuilder, UpdateResult } from 'kysely'
import {
  type Acknowledgement,
  type Alert,
  type AlertCause,
  type AlertCopy,
  type AlertResponse,
  alertState,
  noData,
  noResponse,
  type SnoozeEnd,
  toFirst,
} from '../domain/alerts/alert.ts'
import type { AlertFilter } from '../domain/alerts/alert-filter.ts'
import type { Silence } from '../domain/alerts/silences.ts'
import { localSite } from '../domain/equipment/sites.ts'
import type { Unstored } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import { chunkSize, inChunks, inPages } from './rows.ts'
import type { AlertRow } from './schema/alerts.ts'
import type { Schema } from './schema.ts'
import { nextVersion } from './versions.ts'

export async function listOpenAlerts(reader: Reader): Promise<Alert[]> {
  const open = await reader.selectFrom('alerts').select('id').where('cleared_at', 'is', null).execute()
  const alerts = await listAlertsById(reader, toIds(open))
  return alerts.filter(({ cleared_at }) => cleared_at === null)
}

/** Returns the alerts that were raised after `since` (epoch ms), with their times and subjects. */
export async function listAlertRanges(reader: Reader, since: number) {
  return inPages((after) =>
    reader
      .selectFrom('alerts')
      .select(['id', 'channel_id', 'receiver_id', 'raised_at', 'cleared_at'])
      .where('raised_at', '>', since)
      .where('id', '>', after)
      .orderBy('id')
      .limit(chunkSize)
      .execute(),
  )
}

/** Returns the alerts that were open in a range of time (epoch ms, inclusive) for a report, oldest first. */
export async function listAlertsDuring(reader: Reader, { from, to }: { readonly from: number; readonly to: number }) {
  const columns = ['id', 'kind', 'channel_id', 'receiver_id', 'raised_at', 'acknowledged_at'] as const
  const raised = reader.selectFrom('alerts').select([...columns, 'snoozed_until', 'data'])
  const earlier = raised.where('raised_at', '<', from)
  const parts = await Promise.all([
    raised.where('raised_at', '>=', from).where('raised_at', '<=', to).execute(),
    earlier.where('cleared_at', '>=', from).execute(),
    earlier.where('cleared_at', 'is', null).execute(),
  ])
  return parts
    .flat()
    .map(({ data, snoozed_until, ...alert }) => ({
      ...alert,
      snoozed_until: readSnooze(snoozed_until),
      data: readData(data),
    }))
    .sort((a, b) => a.raised_at - b.raised_at || a.id - b.id)
}

/** Returns the newest alerts of batteries that died in a range of time (epoch ms). */
export async function listDeaths(
  reader: Reader,
  { from, to }: { readonly from: number; readonly to: number },
  limit: number,
): Promise<Alert[]> {
  const rows = await reader
    .selectFrom('alerts')
    .selectAll()
    .where('kind', '=', 'battery_died')
    .where('raised_at', '<=', to)
    .where((where) => where.or([where('cleared_at', 'is', null), where('cleared_at', '>=', from)]))
    .orderBy('raised_at', 'desc')
    .limit(limit)
    .execute()
  const diedAt = ({ raised_at, data }: Alert) => Date.parse(data.died_at ?? '') || raised_at
  return rows.map(toAlert).filter((alert) => diedAt(alert) >= from)
}

export async function listAlerts(
  reader: Reader,
  filter: AlertFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Alert[]> {
  const query = filtered(reader.selectFrom('alerts'), filter).selectAll()
  const rows = await query.orderBy('raised_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
  return rows.map(toAlert)
}

export async function countAlerts(reader: Reader, filter: AlertFilter): Promise<number> {
  const query = filtered(reader.selectFrom('alerts'), filter)
  const { total } = await query.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow()
  return Number(total)
}

type AlertQuery = SelectQueryBuilder<Schema, 'alerts', object>

function filtered(query: AlertQuery, filter: AlertFilter): AlertQuery {
  const { manufacturer, site, kind, channel, receiver, from, to } = filter
  let result = filteredByState(query, filter.state)
  if (manufacturer !== undefined) result = result.where('manufacturer', '=', manufacturer)
  if (site !== undefined)
    result = site === localSite ? result.where('site', 'is', null) : result.where('site', '=', site)
  if (kind !== undefined) result = result.where('kind', '=', kind)
  if (channel !== undefined) result = result.where('channel_id', '=', channel)
  if (receiver !== undefined) result = result.where('receiver_id', '=', receiver)
  if (from !== undefined) result = result.where('raised_at', '>=', from)
  if (to !== undefined) result = result.where('raised_at', '<=', to)
  return result
}

function filteredByState(query: AlertQuery, state: AlertFilter['state']): AlertQuery {
  if (state === undefined) return query
  if (state === 'cleared') return query.where('cleared_at', 'is not', null)
  const uncleared = query.where('cleared_at', 'is', null)
  if (state === 'acknowledged') return uncleared.where('acknowledged_at', 'is not', null)
  const open = uncleared.where('acknowledged_at', 'is', null)
  return state === 'open' ? open : open.where('snoozed_until', state === 'snoozed' ? 'is not' : 'is', null)
}

export async function listAlertsSince(reader: Reader, since: number): Promise<{ alert: Alert; revision: number }[]> {
  const rows = await reader.selectFrom('alerts').selectAll().where('revision', '>', since).orderBy('id').execute()
  return rows.map((row) => ({ alert: toAlert(row), revision: row.revision }))
}

export async function listAlertsOpenSince(reader: Reader, time: number): Promise<Alert[]> {
  const ids = reader.selectFrom('alerts').select('id')
  const open = await ids.where('cleared_at', 'is', null).execute()
  const cleared = await ids.where('cleared_at', '>=', time).execute()
  return listAlertsById(reader, [...new Set(toIds([...open, ...cleared]))])
}

function toIds(rows: readonly { readonly id: number }[]): readonly number[] {
  return rows.map(({ id }) => id)
}

export async function listAlertsById(reader: Reader, ids: readonly number[]): Promise<Alert[]> {
  const alerts: Alert[] = []
  await inChunks(ids, async (chunk) => {
    const rows = await reader.selectFrom('alerts').selectAll().where('id', 'in', chunk).orderBy('id').execute()
    alerts.push(...rows.map(toAlert))
  })
  return alerts.sort((a, b) => a.id - b.id)
}

export async function findAlert(reader: Reader, id: number): Promise<Alert | undefined> {
  const row = await reader.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toAlert(row)
}

export async function findOpenAlert(reader: Reader, subject: string): Promise<Alert | undefined> {
  const query = reader.selectFrom('alerts').selectAll().where('subject', '=', subject)
  const row = await query.where('cleared_at', 'is', null).executeTakeFirst()
  return row && toAlert(row)
}

export async function raiseAlert(tx: Tx, revision: number, cause: AlertCause, at: number): Promise<Alert | null> {
  const row = await tx.query
    .insertInto('alerts')
    .values({ ...toRow(cause), raised_at: at, cleared_at: null, revision })
    .onConflict((conflict) => conflict.column('subject').where('cleared_at', 'is', null).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : toAlert(row)
}

/**
 * Updates an open alert. A worse one loses its acknowledgement and snooze. Returns null if the alert is already cleared
 * or another process has already changed its kind or severity.
 */
export function updateAlert(
  tx: Tx,
  revision: number,
  before: Alert,
  { cause, isWorse }: { readonly cause: AlertCause; readonly isWorse: boolean },
): Promise<Alert | null> {
  const { kind, severity, message, data } = toRow(cause)
  const query = tx.query
    .updateTable('alerts')
    .set({ kind, severity, message, data, first: JSON.stringify(before.first), revision })
    .$if(isWorse, (query) => query.set({ ...noResponse, acknowledgements: JSON.stringify(before.acknowledgements) }))
    .where('kind', '=', before.kind)
    .where('severity', '=', before.severity)
  return changeOpen(query, before.id)
}

/** Stores the current state of a site's alert. Returns null if it is cleared and has no open copy. */
export async function copyAlert(tx: Tx, revision: number, copy: AlertCopy): Promise<Alert | null> {
  const { subject, raised_at, cleared_at, acknowledged_by, acknowledged_at, note, snoozed_by, snoozed_at } = copy
  const responses = { acknowledged_by, acknowledged_at, note, snoozed_by, snoozed_at }
  const values = {
    ...{ ...toRow(copy), first: JSON.stringify(copy.first), ...responses, raised_at, cleared_at, revision },
    acknowledgements: JSON.stringify(copy.acknowledgements),
    snoozed_until: copy.snoozed_until === null ? null : JSON.stringify(copy.snoozed_until),
    ...{ site: copy.site.code, site_name: copy.site.name },
  }
  const changed = await tx.query
    .updateTable('alerts')
    .set(values)
    .where('subject', '=', subject)
    .where('cleared_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (changed !== undefined || cleared_at !== null) return changed === undefined ? null : toAlert(changed)
  return toAlert(await tx.query.insertInto('alerts').values(values).returningAll().executeTakeFirstOrThrow())
}

export function clearAlert(
  tx: Tx,
  revision: number,
  id: number,
  { message, at }: { readonly message: string; readonly at: number },
): Promise<Alert | null> {
  return changeOpen(tx.query.updateTable('alerts').set({ message, cleared_at: at, revision }), id)
}

/** Stores an acknowledgement. Returns null if the alert is cleared or already acknowledged. */
export function acknowledgeAlert(
  tx: Tx,
  revision: number,
  { id, severity, acknowledgements }: Alert,
  { by, at, note }: Omit<Acknowledgement, 'severity'>,
): Promise<Alert | null> {
  const all = JSON.stringify([...acknowledgements, { at, by, note, severity }])
  const values = { acknowledged_by: by, acknowledged_at: at, note, acknowledgements: all, revision }
  return changeOpen(tx.query.updateTable('alerts').set(values).where('acknowledged_at', 'is', null), id)
}

/** Undoes an acknowledgement. Returns null if the alert is cleared or not acknowledged. */
export function unacknowledgeAlert(tx: Tx, revision: number, { id, acknowledgements }: Alert): Promise<Alert | null> {
  const none = { acknowledged_by: null, acknowledged_at: null, note: null }
  // Alerts of version 1.0.0 have no list yet.
  const values = { ...none, acknowledgements: JSON.stringify(acknowledgements), revision }
  return changeOpen(tx.query.updateTable('alerts').set(values).where('acknowledged_at', 'is not', null), id)
}

/** Stores a snooze, which replaces an earlier one. Returns null if the alert is cleared or acknowledged. */
export function snoozeAlert(
  tx: Tx,
  revision: number,
  id: number,
  { by, at, until }: { readonly by: string; readonly at: number; readonly until: SnoozeEnd },
): Promise<Alert | null> {
  const values = { snoozed_by: by, snoozed_at: at, snoozed_until: JSON.stringify(until), revision }
  return changeOpen(tx.query.updateTable('alerts').set(values).where('acknowledged_at', 'is', null), id)
}

/** Ends a snooze. Returns null if the alert is cleared or has another snooze. */
export function endSnooze(
  tx: Tx,
  revision: number,
  { id, snoozed_until }: Pick<Alert, 'id' | 'snoozed_until'>,
): Promise<Alert | null> {
  const values = { snoozed_by: null, snoozed_at: null, snoozed_until: null, revision }
  const query = tx.query.updateTable('alerts').set(values)
  return changeOpen(query.where('snoozed_until', '=', JSON.stringify(snoozed_until)), id)
}

export async function pruneAlerts(tx: Tx, time: number): Promise<void> {
  await tx.query.deleteFrom('alerts').where('cleared_at', '<', time).execute()
}

type AlertUpdate = UpdateQueryBuilder<Schema, 'alerts', 'alerts', UpdateResult>

async function changeOpen(update: AlertUpdate, id: number): Promise<Alert | null> {
  const row = await update.where('id', '=', id).where('cleared_at', 'is', null).returningAll().executeTakeFirst()
  return row === undefined ? null : toAlert(row)
}

function toRow({ manufacturer, data, ...cause }: AlertCause) {
  const { subject, kind, severity, message, receiver_id, channel_id } = cause
  const stored = { subject, kind, severity, message, receiver_id, channel_id }
  return { ...stored, manufacturer: manufacturer ?? '', data: JSON.stringify(data) }
}

function readData(json: string | null): Alert['data'] {
  return json === null ? noData : JSON.parse(json)
}

function toAlert(stored: Selectable<AlertRow>): Alert {
  const { revision: _, notification_round: __, manufacturer, data: json, snoozed_until: until, ...others } = stored
  const { site, site_name, first, acknowledgements, ...row } = others
  const { cleared_at, acknowledged_at } = row
  const snoozed_until = readSnooze(until)
  const data = readData(json)
  return {
    ...row,
    site: site === null ? null : { code: site, name: site_name ?? site },
    snoozed_until,
    manufacturer: manufacturer === '' ? null : manufacturer,
    data,
    first: first === null ? toFirst({ ...row, data }, row.raised_at) : JSON.parse(first),
    acknowledgements: acknowledgements === null ? listLatest(row) : JSON.parse(acknowledgements),
    state: alertState({ cleared_at, acknowledged_at, snoozed_until }),
  }
}

function readSnooze(json: string | null): AlertResponse['snoozed_until'] {
  return json === null ? null : JSON.parse(json)
}

/** Version 1.0.0 stored only the current acknowledgement. */
function listLatest({
  acknowledged_at: at,
  acknowledged_by: by,
  note,
  severity,
}: Pick<
  Selectable<AlertRow>,
  'acknowledged_at' | 'acknowledged_by' | 'note' | 'severity'
>): readonly Acknowledgement[] {
  return at === null || by === null ? [] : [{ at, by, note, severity }]
}

export async function listSilences(reader: Reader, now: number): Promise<Silence[]> {
  const rows = await reader.selectFrom('silences').selectAll().where('until', '>', now).orderBy('id').execute()
  return rows.map(({ channels, groups, kinds, created_by: by, ...row }) => ({
    ...row,
    channels: JSON.parse(channels),
    groups: JSON.parse(groups),
    kinds: JSON.parse(kinds),
    by,
  }))
}

/** Stores a silence, and deletes those that have ended before it was created. */
export async function insertSilence(
  tx: Tx,
  { channels, groups, kinds, by, ...silence }: Unstored<Silence>,
): Promise<Silence> {
  await tx.query.deleteFrom('silences').where('until', '<=', silence.created_at).execute()
  const lists = {
    channels: JSON.stringify(channels),
    groups: JSON.stringify(groups),
    kinds: JSON.stringify(kinds),
  }
  const version = await nextVersion(tx)
  const { id } = await tx.query
    .insertInto('silences')
    .values({ ...silence, ...lists, created_by: by, version })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, channels, groups, kinds, by, ...silence, version }
}

/** Returns false if there is no such silence, or it has ended. */
export async function deleteSilence(tx: Tx, id: number, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('silences')
    .where('id', '=', id)
    .where('until', '>', now)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
