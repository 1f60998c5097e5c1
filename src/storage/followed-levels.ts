/** Recorded levels that were received from other installations, in blocks of one channel. Times are epoch seconds. */

import { sql } from 'kysely'
import type { Reader, Tx } from './database.ts'
import { inChunks } from './rows.ts'

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
