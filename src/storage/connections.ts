/**
 * The status of the real-time subscriptions, of receivers and of followed installations in a table each. Rows carry a
 * revision of the counter `connections`.
 */

import { type Selectable, sql } from 'kysely'
import {
  type Connection,
  type ConnectionStatus,
  neverConnected,
  type Transport,
} from '../domain/equipment/connection.ts'
import type { Reader, Tx } from './database.ts'
import { executeForRows, inChunks } from './rows.ts'
import type { ConnectionRow, SiteConnectionRow } from './schema/monitoring.ts'

export async function listConnections(reader: Reader, sinceRevision = -1): Promise<Connection[]> {
  const query = reader.selectFrom('connections').selectAll().where('revision', '>', sinceRevision).orderBy('receiver')
  const ofSites = reader.selectFrom('site_connections').selectAll().where('revision', '>', sinceRevision).orderBy('id')
  return [...(await query.execute()).map(toConnection), ...(await ofSites.execute()).map(toSiteConnection)]
}

export async function countConnections(reader: Reader): Promise<ReadonlyMap<ConnectionStatus, number>> {
  const counts = new Map<ConnectionStatus, number>()
  for (const table of ['connections', 'site_connections'] as const) {
    const query = reader.selectFrom(table).select((eb) => ['status', eb.fn.countAll<number>().as('count')] as const)
    for (const { status, count } of await query.groupBy('status').execute()) {
      counts.set(status, (counts.get(status) ?? 0) + count)
    }
  }
  return counts
}

export async function findConnections(reader: Reader, ids: readonly number[]): Promise<Connection[]> {
  const found: Connection[] = []
  const ofReceivers = ids.filter((id) => id > 0)
  await inChunks(ofReceivers, async (chunk) => {
    const query = reader
      .selectFrom('connections')
      .selectAll()
      .where('receiver', 'in', [...chunk])
      .orderBy('receiver')
    found.push(...(await query.execute()).map(toConnection))
  })
  const ofSites = ids.filter((id) => id < 0).map((id) => -id)
  await inChunks(ofSites, async (chunk) => {
    const query = reader
      .selectFrom('site_connections')
      .selectAll()
      .where('id', 'in', [...chunk])
    found.push(...(await query.execute()).map(toSiteConnection))
  })
  return found
}

/** Adds the connection of the record's source, or moves it from an earlier address of the record. */
export async function openSiteConnection(
  tx: Tx,
  revision: number,
  { manufacturer, source, transport }: { manufacturer: string; source: string; transport: Transport },
): Promise<Connection> {
  const row = await tx.query
    .insertInto('site_connections')
    .values({ manufacturer, source, ...neverConnected(transport), revision })
    .onConflict((conflict) => conflict.column('manufacturer').doUpdateSet({ source, transport, revision }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return toSiteConnection(row)
}

/** Skips connections that a user has stopped or started since they were read. */
export async function saveConnections(tx: Tx, revision: number, connections: readonly Connection[]): Promise<void> {
  await save(tx, revision, connections, false)
}

export async function overrideConnections(tx: Tx, revision: number, connections: readonly Connection[]): Promise<void> {
  await save(tx, revision, connections, true)
}

/** Saves the time of the last message of each connection, without raising the revision. */
export async function saveLastMessages(tx: Tx, messages: readonly (readonly [id: number, at: number])[]) {
  const columns = { id: 'bigint', at: 'bigint' } as const
  const rows = messages.map(([id, at]) => ({ id, at }))
  const [ofReceivers, ofSites] = [rows.filter(({ id }) => id > 0), rows.filter(({ id }) => id < 0)]
  await executeForRows(
    tx,
    columns,
    ofReceivers,
    (input) =>
      sql`update connections set last_message_at = input.at from ${input} where connections.receiver = input.id`,
  )
  await executeForRows(
    tx,
    columns,
    ofSites,
    (input) =>
      sql`update site_connections set last_message_at = input.at from ${input} where site_connections.id = -input.id`,
  )
}

async function save(tx: Tx, revision: number, connections: readonly Connection[], isOverride: boolean): Promise<void> {
  const ofReceivers = connections.flatMap(({ id: _, receiver, ...rest }) =>
    receiver === null ? [] : { receiver, ...rest },
  )
  await upsert(tx, revision, ofReceivers, isOverride)
  for (const connection of connections) {
    if (connection.receiver === null) await updateOfSite(tx, revision, connection, isOverride)
  }
}

/** The row is added by `openSiteConnection`, and removed with the manufacturer. */
async function updateOfSite(tx: Tx, revision: number, connection: Connection, isOverride: boolean): Promise<void> {
  const { id, receiver: _, manufacturer: __, source: ___, ...state } = connection
  let query = tx.query
    .updateTable('site_connections')
    .set({ ...state, revision })
    .where('id', '=', -id)
  if (!isOverride) query = query.where('status', state.status === 'stopped' ? '=' : '!=', 'stopped')
  await query.execute()
}

async function upsert(
  tx: Tx,
  revision: number,
  connections: readonly Omit<ConnectionRow, 'revision'>[],
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
  return { id: row.receiver, ...row }
}

function toSiteConnection({ revision: _, id, ...row }: Selectable<SiteConnectionRow>): Connection {
  return { ...row, id: -id, receiver: null }
}
