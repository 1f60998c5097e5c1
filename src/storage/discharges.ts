/** The discharges of batteries. Times are epoch milliseconds. */

import { sql } from 'kysely'
import { type Discharge, kindKey } from '../domain/forecast/discharge.ts'
import type { Reader, Tx } from './database.ts'
import { executeForRows, inChunks } from './rows.ts'

export interface StoredDischarge {
  readonly channelId: number
  readonly discharge: Discharge
  readonly endedAt: number | null
}

/** Limits of ended discharges for one kind of battery, and for all kinds. */
export const keptPerKind = 50
const keptInTotal = 2_000
/** Batteries that have not been received for this time are forgotten. */
const keepOpenMs = 60 * 86_400_000

/** Returns the discharges that were saved after `since`, the oldest first. */
export async function listDischarges(reader: Reader, since = -1): Promise<StoredDischarge[]> {
  const rows = await reader
    .selectFrom('discharges')
    .select(['channel_id', 'ended_at', 'discharge'])
    .where('saved_at', '>', since)
    .orderBy('started_at')
    .execute()
  return rows.map(({ channel_id, ended_at, discharge }) => ({
    channelId: channel_id,
    discharge: JSON.parse(discharge) as Discharge,
    endedAt: ended_at,
  }))
}

/** Replaces discharges of the same channel and start. */
export async function saveDischarges(tx: Tx, discharges: readonly StoredDischarge[], now: number): Promise<void> {
  await inChunks(discharges, async (chunk) => {
    const rows = chunk.map(({ channelId, discharge, endedAt }) => ({
      channel_id: channelId,
      started_at: discharge.startedAt,
      ended_at: endedAt,
      kind: kindKey(discharge),
      discharge: JSON.stringify(discharge),
      saved_at: now,
    }))
    await executeForRows<unknown, 'channel_id' | 'started_at' | 'ended_at' | 'kind' | 'discharge' | 'saved_at'>(
      tx,
      {
        ...{ channel_id: 'bigint', started_at: 'bigint', ended_at: 'bigint' },
        ...{ kind: 'text', discharge: 'text', saved_at: 'bigint' },
      },
      rows,
      (input) => sql`
        insert into discharges (channel_id, started_at, ended_at, kind, discharge, saved_at)
        select channel_id, started_at, ended_at, kind, discharge, saved_at from ${input} where true
        on conflict (channel_id, started_at) do update
        set ended_at = excluded.ended_at, kind = excluded.kind, discharge = excluded.discharge, saved_at = excluded.saved_at`,
    )
  })
}

export async function deleteDischarge(tx: Tx, { channelId, discharge }: StoredDischarge): Promise<void> {
  await tx.query
    .deleteFrom('discharges')
    .where('channel_id', '=', channelId)
    .where('started_at', '=', discharge.startedAt)
    .execute()
}

/** Deletes the oldest ended discharges beyond the limits, and batteries that were taken away. */
export async function pruneDischarges(tx: Tx, now: number): Promise<void> {
  await sql`
    delete from discharges where ended_at is not null and (channel_id, started_at) not in (
      select channel_id, started_at from (
        select
          channel_id,
          started_at,
          row_number() over (partition by kind order by ended_at desc, channel_id) as number_in_kind,
          row_number() over (order by ended_at desc, channel_id) as number
        from discharges where ended_at is not null
      ) as ranked
      where number_in_kind <= ${keptPerKind} and number <= ${keptInTotal}
    )`.execute(tx.query)
  await tx.query
    .deleteFrom('discharges')
    .where('ended_at', 'is', null)
    .where('saved_at', '<', now - keepOpenMs)
    .execute()
}
