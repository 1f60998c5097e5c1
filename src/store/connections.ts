/** How each receiver's real-time subscription fares. */

import type { Connection } from '../model/connection.ts'
import type { Reader, Tx } from './database.ts'
import { inChunks } from './rows.ts'

/** By receiver. */
export async function listConnections(reader: Reader): Promise<Connection[]> {
  return reader.selectFrom('connections').selectAll().orderBy('receiver').execute()
}

export async function saveConnections(tx: Tx, connections: readonly Connection[]): Promise<void> {
  await inChunks(connections, async (chunk) => {
    await tx.query
      .insertInto('connections')
      .values([...chunk])
      .onConflict((conflict) =>
        conflict.column('receiver').doUpdateSet((eb) => ({
          manufacturer: eb.ref('excluded.manufacturer'),
          status: eb.ref('excluded.status'),
          transport: eb.ref('excluded.transport'),
          connected_at: eb.ref('excluded.connected_at'),
          disconnected_at: eb.ref('excluded.disconnected_at'),
          last_message_at: eb.ref('excluded.last_message_at'),
          error_message: eb.ref('excluded.error_message'),
          error_count: eb.ref('excluded.error_count'),
          reconnect_attempts: eb.ref('excluded.reconnect_attempts'),
        })),
      )
      .execute()
  })
}
