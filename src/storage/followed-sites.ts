/** Stores receivers, events and recorded levels of followed installations. Receivers and events have ids of their own here. */

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import type { EventDraft, EventRecord } from '../domain/events/event.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Reader, Tx } from './database.ts'
import { deleteEvent, insertEvent, saveEvent, toEvent } from './events.ts'
import { addChannels, insertReceivers, saveReceivers } from './receivers.ts'
import { nextRevision } from './revision.ts'
import { inChunks } from './rows.ts'
import { keepSlotEntries } from './slot-entries.ts'

/**
 * Inserts receivers with the id 0, and saves the others. Adds and deletes channels as they are listed, assigns their
 * ids and slots, and returns the receivers as stored.
 */
export async function saveFollowedReceivers(
  tx: Tx,
  revision: number,
  receivers: readonly Receiver[],
): Promise<readonly Receiver[]> {
  const added = receivers.filter(({ id }) => id === 0)
  const inserted = added.length === 0 ? [] : await insertReceivers(tx, revision, added)
  const saved: Receiver[] = []
  for (const receiver of receivers) {
    if (receiver.id !== 0) saved.push(await saveChannels(tx, revision, receiver))
  }
  await saveReceivers(tx, revision, saved)
  return [...inserted, ...saved]
}

/** Adds the channels whose id is 0, and deletes those that are not listed. */
async function saveChannels(tx: Tx, revision: number, receiver: Receiver): Promise<Receiver> {
  const { id, channels } = receiver
  const added = channels.filter((channel) => channel.id === 0)
  const known = channels.filter((channel) => channel.id !== 0)
  const stored = await tx.query.selectFrom('channels').select('id').where('receiver_id', '=', id).execute()
  const removed = stored.map((row) => row.id).filter((channelId) => known.every((channel) => channel.id !== channelId))
  if (removed.length > 0) {
    await keepSlotEntries(tx, removed)
    await tx.query.deleteFrom('channels').where('id', 'in', removed).execute()
  }
  if (added.length === 0) return receiver
  const numbers = added.map(({ channel }) => channel)
  return withChannelsOf(await addChannels(tx, revision, { ...receiver, channels: known }, numbers), channels)
}

/** Returns the stored receiver with the values of these channels, which are matched by number. */
function withChannelsOf(stored: Receiver, channels: readonly Channel[]): Receiver {
  const values = stored.channels.map(({ id, channel, slot }) => {
    const value = channels.find((candidate) => candidate.channel === channel) ?? emptyChannel(id, channel, slot)
    return { ...value, id, slot }
  })
  return { ...stored, channels: values }
}

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

/** Levels of one channel. Times are epoch seconds. */
export interface StoredBlock {
  readonly channelId: number
  readonly start: number
  /** The levels are complete until then. */
  readonly until: number
  /** See `encodeSteps`; null if the other installation has no steps of this length. */
  readonly levels: Uint8Array | null
}

export async function listFollowedLevels(
  reader: Reader,
  channelIds: readonly number[],
  { step, from, to }: { readonly step: number; readonly from: number; readonly to: number },
): Promise<StoredBlock[]> {
  const blocks: StoredBlock[] = []
  await inChunks(channelIds, async (chunk) => {
    const rows = await reader
      .selectFrom('followed_levels')
      .select(['channel_id as channelId', 'start', 'until', 'levels'])
      .where('channel_id', 'in', [...chunk])
      .where('step', '=', step)
      .where('start', '>=', from)
      .where('start', '<', to)
      .orderBy('start')
      .execute()
    blocks.push(...rows)
  })
  return blocks
}

export async function saveFollowedLevels(
  tx: Tx,
  blocks: readonly StoredBlock[],
  { step, now }: { readonly step: number; readonly now: number },
): Promise<void> {
  for (const { channelId: channel_id, start, until, levels } of blocks) {
    const kept = { until, kept_at: now, levels }
    await tx.query
      .insertInto('followed_levels')
      .values({ channel_id, step, start, ...kept })
      .onConflict((conflict) => conflict.columns(['channel_id', 'step', 'start']).doUpdateSet(kept))
      .execute()
  }
}

/**
 * Deletes at most `count` blocks that were received before `time` (epoch ms), oldest first. Returns how many were
 * deleted.
 */
export async function pruneFollowedLevels(tx: Tx, time: number, count: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    delete from followed_levels where (channel_id, step, start) in (
      select channel_id, step, start from followed_levels where kept_at < ${time} order by kept_at limit ${count}
    ) returning 1 as n`.execute(tx.query)
  return rows.length
}

/** Returns the size of the blocks in bytes, without indexes. */
export async function sizeOfFollowedLevels(reader: Reader): Promise<number> {
  const { bytes } = await reader
    .selectFrom('followed_levels')
    .select(({ fn }) => fn.coalesce(fn.sum<number>(sql`length(levels)`), sql.val(0)).as('bytes'))
    .executeTakeFirstOrThrow()
  return Number(bytes)
}
