/** The status of each receiver's real-time subscription. Rows carry a revision of the counter `connections`. */

import { sql } from 'kysely'
import type { Connection, ConnectionStatus } from '../domain/equipment/connection.ts'
import type { Reader, Tx } from './database.ts'
import { executeForRows, inChunks } from './rows.ts'
import type { ConnectionRow } from './schema.ts'

/** Returns the connections that changed after `sinceRevision`, ordered by receiver. */
export async function listConnections(reader: Reader, sinceRevision = -1): Promise<Connection[]> {
  const query = reader.selectFrom('connections').selectAll().where('revision', '>', sinceRevision).orderBy('receiver')
  return (await query.execute()).map(toConnection)
}

/** Returns the number of connections by status; statuses without connections are absent. */
export async function countConnections(reader: Reader): Promise<ReadonlyMap<ConnectionStatus, number>> {
  const rows = await reader
    .selectFrom('connections')
    .select((eb) => ['status', eb.fn.countAll<number>().as('count')] as const)
    .groupBy('status')
    .execute()
  return new Map(rows.map(({ status, count }) => [status, count]))
}

/** Returns the connections of these receivers; receivers without one are skipped. */
export async function findConnections(reader: Reader, receivers: readonly number[]): Promise<Connection[]> {
  const found: Connection[] = []
  await inChunks(receivers, async (chunk) => {
    const query = reader
      .selectFrom('connections')
      .selectAll()
      .where('receiver', 'in', [...chunk])
      .orderBy('receiver')
    found.push(...(await query.execute()).map(toConnection))
  })
  return found
}

/** Saves status changes. A connection that a user has stopped or started in the meantime is not overwritten. */
export async function saveConnections(tx: Tx, revision: number, connections: readonly Connection[]): Promise<void> {
  await upsert(tx, revision, connections, false)
}

/** Saves status changes that a user requested. */
export async function overrideConnections(tx: Tx, revision: number, connections: readonly Connection[]): Promise<void> {
  await upsert(tx, revision, connections, true)
}

/** Saves the time of each receiver's last message, without raising the revision. */
export async function saveLastMessages(tx: Tx, messages: readonly (readonly [receiver: number, at: number])[]) {
  const rows = messages.map(([receiver, at]) => ({ receiver, at }))
  await executeForRows(
    tx,
    { receiver: 'bigint', at: 'bigint' },
    rows,
    (input) =>
      sql`update connections set last_message_at = input.at from ${input} where connections.receiver = input.receiver`,
  )
}

async function upsert(
  tx: Tx,
  revision: number,
  connections: readonly Connection[],
  isOverride: boolean,
): Promise<void> {
  await inChunks(connections, async (chunk) => {
    await tx.query
      .insertInto('connections')
      .values(chunk.map((connection) => ({ ...connection, revision })))
      .onConflict((conflict) => {
        const replaced = conflict.column('receiver').doUpdateSet((eb) => ({
          manufacturer: eb.ref('excluded.manufacturer'),
          source: eb.ref('excluded.source'),
          status: eb.ref('excluded.status'),
          transport: eb.ref('excluded.transport'),
          connected_at: eb.ref('excluded.connected_at'),
          disconnected_at: eb.ref('excluded.disconnected_at'),
          last_message_at: eb.ref('excluded.last_message_at'),
          error_message: eb.ref('excluded.error_message'),
          error_count: eb.ref('excluded.error_count'),
          reconnect_attempts: eb.ref('excluded.reconnect_attempts'),
          revision,
        }))
        return isOverride
          ? replaced
          : replaced.where(sql<boolean>`(connections.status = 'stopped') = (excluded.status = 'stopped')`)
      })
      .execute()
  })
}

function toConnection({ revision: _, ...row }: ConnectionRow): Connection {
  return row
}
