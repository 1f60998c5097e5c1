/** The memory of the evaluation of each channel's condition. */

import { sql } from 'kysely'
import type { ConditionMemory } from '../domain/conditions/memory.ts'
import type { Reader, Tx } from './database.ts'
import type { ReadingsSince } from './receivers.ts'
import { chunkSize, executeForRows, inChunks, inPages } from './rows.ts'

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
