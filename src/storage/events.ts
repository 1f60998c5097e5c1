/**
 * Events and markers. Every transaction that changes them increments their counter (see `revision.ts`), after all other
 * counters.
 */

import { type ExpressionBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { EventKind } from '../contract/values.ts'
import { localSite } from '../domain/equipment/sites.ts'
import { type EventDraft, type EventRecord, isRange } from '../domain/events/event.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Reader, Tx } from './database.ts'
import { nextRevision } from './revision.ts'
import { chunkSize } from './rows.ts'
import type { EventRow } from './schema/history.ts'
import type { Schema } from './schema.ts'
import { nextVersion } from './versions.ts'

/** The end of ranges that continue. */
const endOfTime = Number.MAX_SAFE_INTEGER

/** Stores new events, except those that are already stored (see `EventDraft.subject`). Returns the stored ones. */
export async function insertEvents(tx: Tx, drafts: readonly EventDraft[]): Promise<EventRecord[]> {
  if (drafts.length === 0) return []
  const revision = await nextRevision(tx, 'events')
  const stored: EventRecord[] = []
  for (const draft of drafts) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    if (!(await isRepeated(tx, draft))) stored.push(await insertEvent(tx, draft, revision))
  }
  return stored
}

/** A revision that precedes all others, so that no client is notified. */
const unannounced = 0

/** Stores events of an earlier time. They are not news, so they are not announced. */
export async function importEvents(tx: Tx, drafts: readonly EventDraft[]): Promise<void> {
  for (const draft of drafts) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    await insertEvent(tx, draft, unannounced)
  }
}

/** A transaction that inserts a marker of this installation must have incremented `versions` already. */
export async function insertEvent(tx: Tx, draft: EventDraft, revision: number): Promise<EventRecord> {
  const isOwnMarker = draft.kind === 'marker' && draft.site === null
  const version = isOwnMarker ? await nextVersion(tx) : null
  const row = { ...toRow(draft), version, created_revision: revision, revision }
  return toEvent(await tx.query.insertInto('events').values(row).returningAll().executeTakeFirstOrThrow())
}

async function isRepeated(tx: Tx, { subject, kind, follows, time, until }: EventDraft): Promise<boolean> {
  if (subject === null) return false
  const last = await tx.query
    .selectFrom('events')
    .select(['kind', 'time', 'ends_at'])
    .where('subject', '=', subject)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last === undefined || follows !== undefined) return last?.kind !== follows
  return isRange(kind) ? time <= last.ends_at && last.time <= (until ?? endOfTime) : last.kind === kind
}

/** Ends the range of a subject that continues. Does nothing if another process has already ended it. */
export async function closeEvent(tx: Tx, subject: string, ended: EventDraft | EventRecord): Promise<void> {
  const open = await tx.query
    .selectFrom('events')
    .select('id')
    .where('subject', '=', subject)
    .where('is_open', '=', 1)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  if (open !== undefined) await saveEvent(tx, { ...ended, id: open.id })
}

export async function saveEvent(tx: Tx, { id, ...event }: EventRecord): Promise<void> {
  const revision = await nextRevision(tx, 'events')
  await tx.query
    .updateTable('events')
    .set({ ...toRow(event), revision })
    .where('id', '=', id)
    .execute()
}

/** Other processes must read deletions within this time. */
const keepRemovedMs = 3_600_000

export async function deleteEvent(tx: Tx, id: number, now: number): Promise<void> {
  const revision = await nextRevision(tx, 'events')
  await tx.query
    .deleteFrom('removed_events')
    .where('removed_at', '<', now - keepRemovedMs)
    .execute()
  await tx.query.deleteFrom('events').where('id', '=', id).execute()
  await tx.query.insertInto('removed_events').values({ id, removed_at: now, revision }).execute()
}

export async function findEvent(reader: Reader, id: number): Promise<EventRecord | undefined> {
  const row = await reader.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toEvent(row)
}

export async function hasEventOfChannel(reader: Reader, channelId: number): Promise<boolean> {
  const query = reader.selectFrom('events').select('id').where('channel_id', '=', channelId).limit(1)
  return (await query.executeTakeFirst()) !== undefined
}

export async function listOpenEvents(reader: Reader): Promise<EventRecord[]> {
  const open = reader.selectFrom('events').selectAll().where('is_open', '=', 1).where('site', 'is', null)
  const rows = await open.orderBy('id').execute()
  return rows.map(toEvent)
}

export async function listMarkers(reader: Reader): Promise<EventRecord[]> {
  const query = reader.selectFrom('events').selectAll().where('kind', '=', 'marker').where('site', 'is', null)
  return (await query.orderBy('time').orderBy('id').execute()).map(toEvent)
}

/** Returns the RF dropouts that overlap a time, in epoch milliseconds. Those that continue end in the future. */
export async function listDropouts(
  reader: Reader,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<{ readonly channel_id: number | null; readonly ends_at: number }[]> {
  const dropouts = reader.selectFrom('events').select(['channel_id', 'ends_at']).where('kind', '=', 'rf_dropout')
  const earlier = dropouts.where('time', '<', from).where('ends_at', '>=', from).whereRef('ends_at', '>', 'time')
  const later = dropouts.where('time', '>=', from).where('time', '<=', to)
  return [...(await earlier.execute()), ...(await later.execute())]
}

export interface EventsSince {
  readonly events: readonly { readonly event: EventRecord; readonly isNew: boolean }[]
  readonly removed: readonly number[]
  /** The revision of the newest of these events. */
  readonly revision: number
}

export async function listEventsSince(reader: Reader, since: number): Promise<EventsSince> {
  const rows: Selectable<EventRow>[] = []
  for (let after = { revision: since, id: Number.MAX_SAFE_INTEGER }; ; ) {
    const { revision, id } = after
    const page = await reader
      .selectFrom('events')
      .selectAll()
      .where('revision', '>=', revision)
      .where((where) => where.or([where('revision', '>', revision), where('id', '>', id)]))
      .orderBy('revision')
      .orderBy('id')
      .limit(chunkSize)
      .execute()
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < chunkSize) break
    after = last
    if (isTimeSliceUsed()) await yieldToEventLoop()
  }
  const removed = await reader.selectFrom('removed_events').select('id').where('revision', '>', since).execute()
  return {
    events: rows.map((row) => ({ event: toEvent(row), isNew: row.created_revision > since })),
    removed: removed.map(({ id }) => id),
    revision: rows.at(-1)?.revision ?? since,
  }
}

export interface EventFilter {
  /** Events that overlap this time; both are inclusive, in epoch milliseconds. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Includes the events of their receivers and sites; null is this installation. */
  readonly channels?:
    | {
        readonly ids: readonly number[]
        readonly receivers: readonly number[]
        readonly sites: readonly (string | null)[]
      }
    | undefined
  /** Includes the events of the receiver's channels. */
  readonly receiver?: number | undefined
  readonly kinds?: readonly EventKind[] | undefined
  /** Code of a site; `local` is this installation. */
  readonly site?: string | undefined
}

type Position = Pick<EventRecord, 'time' | 'id'>

/** Returns the matching events that follow `after`, newest first. */
export async function listEvents(
  reader: Reader,
  filter: EventFilter,
  { limit, after }: { readonly limit: number; readonly after?: Position | undefined },
): Promise<EventRecord[]> {
  const { from } = filter
  const events: EventRecord[] = []
  const add = async (condition: (query: EventQuery) => EventQuery) => {
    if (events.length >= limit) return
    const found = await Promise.all(
      selectBranches(filter).map((branch) => {
        const selected = condition(filtered(reader.selectFrom('events'), filter, after)).where(branch)
        return selected.selectAll().orderBy('time', 'desc').orderBy('id', 'desc').limit(limit).execute()
      }),
    )
    events.push(
      ...found
        .flat()
        .map(toEvent)
        .sort(newestFirst)
        .slice(0, limit - events.length),
    )
  }
  if (from === undefined) await add((query) => query)
  else {
    await add((query) => query.where('time', '>=', from))
    // Ranges that began earlier; they are few, and have an index of their own.
    await add((query) => query.where('time', '<', from).where('ends_at', '>=', from).whereRef('ends_at', '>', 'time'))
  }
  return events
}

const pageSize = 1000

/** Yields the matching events in pages, newest first, so that they are never all in memory. */
export async function* readEvents(reader: Reader, filter: EventFilter): AsyncIterable<readonly EventRecord[]> {
  for (let after: EventRecord | undefined; ; ) {
    const events = await listEvents(reader, filter, { limit: pageSize, after })
    if (events.length > 0) yield events
    if (events.length < pageSize) return
    after = events.at(-1)
  }
}

type EventQuery = SelectQueryBuilder<Schema, 'events', object>
type Condition = (eb: ExpressionBuilder<Schema, 'events'>) => ReturnType<ExpressionBuilder<Schema, 'events'>['and']>

/** For more channels or kinds than this, events are read by time. */
const maxBranches = 8

/**
 * Returns conditions that together select the filtered channels, receiver and kinds, each event once. Every condition
 * has an index in the order of the list, so that a page is read without its predecessors.
 */
function selectBranches({ channels, receiver, kinds }: EventFilter): readonly Condition[] {
  if (channels !== undefined) {
    const { ids, receivers, sites } = channels
    const ofOthers: Condition = (eb) =>
      eb.and([
        eb('channel_id', 'is', null),
        eb.or([
          eb.and([
            eb('receiver_id', 'is', null),
            eb.or(sites.map((site) => (site === null ? eb('site', 'is', null) : eb('site', '=', site)))),
          ]),
          ...receivers.map((id) => eb('receiver_id', '=', id)),
        ]),
      ])
    if (ids.length > maxBranches) return [(eb) => eb.or([eb('channel_id', 'in', ids), ofOthers(eb)])]
    return [
      ofOthers,
      ...ids.map(
        (id): Condition =>
          (eb) =>
            eb.and([eb('channel_id', '=', id)]),
      ),
    ]
  }
  if (receiver !== undefined) return [(eb) => eb.and([eb('receiver_id', '=', receiver)])]
  if (kinds !== undefined && kinds.length <= maxBranches) {
    return kinds.map(
      (kind): Condition =>
        (eb) =>
          eb.and([eb('kind', '=', kind)]),
    )
  }
  return [(eb) => eb.and([])]
}

function filtered(query: EventQuery, filter: EventFilter, after: Position | undefined): EventQuery {
  const { to, channels, receiver, kinds, site } = filter
  let result = query
  if (to !== undefined) result = result.where('time', '<=', to)
  if (kinds !== undefined) result = result.where('kind', 'in', [...kinds])
  if (site !== undefined)
    result = site === localSite ? result.where('site', 'is', null) : result.where('site', '=', site)
  if (channels !== undefined && receiver !== undefined) result = result.where('receiver_id', '=', receiver)
  if (after !== undefined)
    result = result.where(sql<boolean>`(${sql.ref('time')}, ${sql.ref('id')}) < (${after.time}, ${after.id})`)
  return result
}

function newestFirst(a: Position, b: Position): number {
  return b.time - a.time || b.id - a.id
}

/** Kinds that never expire. */
const keptKinds = ['marker', 'check'] as const satisfies readonly EventKind[]

/** Deletes at most `count` events that ended before `time`, oldest first. Returns how many were deleted. */
export async function pruneEvents(tx: Tx, time: number, count: number): Promise<number> {
  const oldest = tx.query
    .selectFrom('events')
    .select('id')
    .where('time', '<', time)
    .where('ends_at', '<', time)
    .where('kind', 'not in', keptKinds)
    .orderBy('time')
    .limit(count)
  const { numDeletedRows } = await tx.query.deleteFrom('events').where('id', 'in', oldest).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

function toRow({ by, is_open, data, site, follows: _, ...fields }: EventDraft) {
  const { time, until } = fields
  const ends_at = is_open ? endOfTime : (until ?? time)
  return {
    ...fields,
    actor: by,
    is_open: is_open ? (1 as const) : (0 as const),
    ends_at,
    data: JSON.stringify(data),
    site: site?.code ?? null,
    site_name: site?.name ?? null,
  }
}

export function toEvent(row: Selectable<EventRow>): EventRecord {
  const {
    ends_at: _,
    created_revision: __,
    revision: ___,
    actor,
    is_open,
    data,
    site,
    site_name,
    version,
    ...fields
  } = row
  return {
    ...fields,
    by: actor,
    is_open: is_open === 1,
    data: JSON.parse(data),
    site: site === null ? null : { code: site, name: site_name ?? site },
    ...(version !== null && { version }),
  }
}
