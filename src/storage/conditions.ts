/** What the evaluation of each channel's condition remembers. */

import { sql } from 'kysely'
import type { ConditionMemory } from '../domain/conditions/memory.ts'
import type { Reader, Tx } from './database.ts'
import { chunkSize, executeForRows, inChunks, inPages } from './rows.ts'

export interface StoredCondition {
  readonly channelId: number
  readonly memory: ConditionMemory
}

/** Returns the conditions that changed after `sinceRevision`, ordered by channel. */
export async function listConditions(reader: Reader, sinceRevision = -1): Promise<StoredCondition[]> {
  const rows = await inPages((after) =>
    reader
      .selectFrom('channel_conditions')
      .select(['channel_id as id', 'memory'])
      .where('revision', '>', sinceRevision)
      .where('channel_id', '>', after)
      .orderBy('channel_id')
      .limit(chunkSize)
      .execute(),
  )
  return rows.map(({ id, memory }) => ({ channelId: id, memory: JSON.parse(memory) as ConditionMemory }))
}

/** Stores the conditions of those channels that have not been removed in the meantime. */
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
