/** Stores the events of followed installations, which have ids of their own here. */

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { EventDraft, EventRecord } from '../domain/events/event.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Reader, Tx } from './database.ts'
import { deleteEvent, insertEvent, saveEvent, toEvent } from './events.ts'
import { nextRevision } from './revision.ts'

export async function saveFollowedEvents(tx: Tx, events: readonly EventDraft[]): Promise<void> {
  if (events.length === 0) return
  const revision = await nextRevision(tx, 'events')
  for (const event of events) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    const stored = await findBySubject(tx, event.subject ?? '')
    if (stored === undefined) await insertEvent(tx, event, revision)
    else if (!isDeepStrictEqual(stored, { ...event, id: stored.id })) await saveEvent(tx, { ...event, id: stored.id })
  }
}

export async function deleteFollowedEvents(tx: Tx, subject: string, now: number): Promise<void> {
  const stored = await findBySubject(tx, subject)
  if (stored !== undefined) await deleteEvent(tx, stored.id, now)
}

export async function removeFollowedEvents(tx: Tx, record: string): Promise<void> {
  await tx.query.deleteFrom('events').where('site', 'is not', null).where(ofRecord(record)).execute()
}

/** Returns when the newest event of a record began, in epoch milliseconds; null if no event is stored. */
export async function findNewestTime(reader: Reader, record: string): Promise<number | null> {
  const { time } = await reader
    .selectFrom('events')
    .select(({ fn }) => fn.max('time').as('time'))
    .where('site', 'is not', null)
    .where(ofRecord(record))
    .executeTakeFirstOrThrow()
  return time
}

async function findBySubject(tx: Tx, subject: string): Promise<EventRecord | undefined> {
  const row = await tx.query.selectFrom('events').selectAll().where('subject', '=', subject).executeTakeFirst()
  return row && toEvent(row)
}

/** The sites along a chain have codes that begin with that of the record. */
function ofRecord(record: string) {
  return sql<boolean>`(site = ${record} or substr(site, 1, ${record.length + 1}) = ${`${record}/`})`
}
