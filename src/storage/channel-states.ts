/**
 * The states of channels over time, without levels, and the memory of the evaluation of their conditions. Times are
 * epoch milliseconds.
 */

import { sql } from 'kysely'
import type { ConditionMemory } from '../domain/conditions/memory.ts'
import type { ChannelState } from '../domain/history/channel-state.ts'
import type { Reader, Tx } from './database.ts'
import type { ReadingsSince } from './receivers.ts'
import { chunkSize, executeForRows, inChunks, inPages } from './rows.ts'

export interface StoredChannelState {
  readonly channel_id: number
  readonly time: number
  /** Null if the channel was removed. */
  readonly state: ChannelState | null
}

export interface ChannelStateAt {
  readonly channel_id: number
  readonly state: ChannelState
}

/** Returns the state of every channel that existed at a time. Reads one row per channel. */
export async function listChannelStatesAt(reader: Reader, time: number): Promise<ChannelStateAt[]> {
  const { rows } = await sql<{ readonly channel_id: number; readonly state: string | null }>`
    with recursive known (channel_id) as (
      select min(channel_id) from channel_states
      union all
      select (select min(later.channel_id) from channel_states as later where later.channel_id > known.channel_id)
      from known where known.channel_id is not null
    )
    select channel_id, (
      select state from channel_states
      where channel_states.channel_id = known.channel_id and channel_states.time <= ${time}
      order by channel_states.time desc limit 1
    ) as state
    from known where channel_id is not null`.execute(reader)
  return rows.flatMap(({ channel_id, state }) =>
    state === null ? [] : { channel_id, state: JSON.parse(state) as ChannelState },
  )
}

/** Returns the states of all channels that were in force in a range of time (inclusive). */
export async function listChannelStatesDuring(
  reader: Reader,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ChannelStateAt[]> {
  const later = await reader
    .selectFrom('channel_states')
    .select(['channel_id', 'state'])
    .where('time', '>', from)
    .where('time', '<=', to)
    .execute()
  const changed = later.flatMap(({ channel_id, state }) =>
    state === null ? [] : { channel_id, state: JSON.parse(state) as ChannelState },
  )
  return [...(await listChannelStatesAt(reader, from)), ...changed]
}

/** Returns the states of a channel that were in force in a range of time (inclusive), oldest first. */
export async function listStatesOfChannel(
  reader: Reader,
  channelId: number,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ChannelState[]> {
  const ofChannel = reader.selectFrom('channel_states').where('channel_id', '=', channelId)
  const before = ofChannel.where('time', '<=', from).select(({ fn }) => fn.max('time').as('time'))
  const rows = await ofChannel
    .select('state')
    .where('time', '<=', to)
    .where('time', '>=', ({ fn }) => fn.coalesce(before, sql.val(from)))
    .orderBy('time')
    .execute()
  return rows.flatMap(({ state }) => (state === null ? [] : (JSON.parse(state) as ChannelState)))
}

export async function listLastChannelStates(
  reader: Reader,
  channelIds: readonly number[],
): Promise<ReadonlyMap<number, ChannelState | null>> {
  const states = new Map<number, ChannelState | null>()
  await inChunks(channelIds, async (ids) => {
    const rows = await reader
      .selectFrom('channel_states')
      .select(['channel_id', 'state'])
      .where('channel_id', 'in', [...ids])
      .where('time', '=', (query) =>
        query
          .selectFrom('channel_states as other')
          .select(({ fn }) => fn.max('other.time').as('time'))
          .whereRef('other.channel_id', '=', 'channel_states.channel_id'),
      )
      .execute()
    for (const { channel_id, state } of rows)
      states.set(channel_id, state === null ? null : (JSON.parse(state) as ChannelState))
  })
  return states
}

export async function saveChannelStates(tx: Tx, states: readonly StoredChannelState[]): Promise<void> {
  await inChunks(states, async (chunk) => {
    await executeForRows<unknown, 'channel_id' | 'time' | 'state'>(
      tx,
      { channel_id: 'bigint', time: 'bigint', state: 'text' },
      chunk.map(({ channel_id, time, state }) => ({
        channel_id,
        time,
        state: state === null ? null : JSON.stringify(state),
      })),
      (input) => sql`
        insert into channel_states (channel_id, time, state)
        select channel_id, time, state from ${input} where true
        on conflict (channel_id, time) do update set state = excluded.state`,
    )
  })
}

/** Deletes the oldest states that were replaced before `before`. Returns how many were deleted. */
export async function pruneChannelStates(tx: Tx, before: number, count: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from channel_states where (channel_id, time) in (
      select channel_id, time from channel_states as replaced
      where time < ${before} and exists (
        select 1 from channel_states as later
        where later.channel_id = replaced.channel_id and later.time > replaced.time and later.time <= ${before}
      )
      order by time limit ${count}
    )`.execute(tx.query)
  return Number(numAffectedRows ?? 0)
}

export interface StoredCondition {
  readonly channelId: number
  readonly memory: ConditionMemory
}

/** With `since`, returns only the conditions that changed since. */
export async function listConditions(reader: Reader, since?: ReadingsSince): Promise<StoredCondition[]> {
  const rows = await inPages((after) => {
    const page = reader
      .selectFrom('channel_conditions')
      .select(['channel_conditions.channel_id as id', 'channel_conditions.memory'])
      .where('channel_conditions.channel_id', '>', after)
      .orderBy('channel_conditions.channel_id')
      .limit(chunkSize)
    if (since === undefined) return page.execute()
    return page
      .innerJoin('channels', 'channels.id', 'channel_conditions.channel_id')
      .innerJoin('receivers', 'receivers.id', 'channels.receiver_id')
      .where('receivers.manufacturer', '=', since.manufacturer)
      .where('channel_conditions.revision', '>', since.readings)
      .execute()
  })
  return rows.map(({ id, memory }) => ({ channelId: id, memory: JSON.parse(memory) as ConditionMemory }))
}

/** Skips removed channels. `revision` is the value of their manufacturer's counter of readings. */
export async function saveConditions(tx: Tx, revision: number, conditions: readonly StoredCondition[]): Promise<void> {
  await inChunks(conditions, async (chunk) => {
    const rows = chunk.map(({ channelId, memory }) => ({
      channel_id: channelId,
      memory: JSON.stringify(memory),
      revision,
    }))
    await executeForRows<unknown, 'channel_id' | 'memory' | 'revision'>(
      tx,
      { channel_id: 'bigint', memory: 'text', revision: 'bigint' },
      rows,
      (input) => sql`
        insert into channel_conditions (channel_id, memory, revision)
        select channel_id, memory, revision from ${input}
        where exists (select 1 from channels where channels.id = input.channel_id)
        on conflict (channel_id) do update set memory = excluded.memory, revision = excluded.revision`,
    )
  })
}
