/** Which sources have reported each receiver. Rows are only added, and removed with their receiver. */

import { sql } from 'kysely'
import type { Reader, Tx } from './database.ts'
import { executeForRows } from './rows.ts'
import type { ReceiverSourceRow } from './schema/monitoring.ts'

export function listReceiverSources(reader: Reader): Promise<ReceiverSourceRow[]> {
  return reader.selectFrom('receiver_sources').selectAll().execute()
}

/** Adds rows. Those of removed receivers are skipped. */
export async function addReceiverSources(tx: Tx, rows: readonly ReceiverSourceRow[]): Promise<void> {
  await executeForRows(
    tx,
    { receiver_id: 'bigint', source: 'text' },
    rows,
    (input) => sql`
      insert into receiver_sources (receiver_id, source)
      select input.receiver_id, input.source from ${input} inner join receivers on receivers.id = input.receiver_id
      where true on conflict do nothing`,
  )
}
