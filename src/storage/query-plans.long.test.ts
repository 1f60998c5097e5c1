/**
 * An installation with 200,000 channels on PostgreSQL: the regular statements of a running service read only the rows
 * they need. Every statement is captured as the service sends it, and is also executed.
 */

import { createQueryId, type KyselyPlugin, PostgresQueryCompiler, type RootOperationNode } from 'kysely'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../test/support/store/helpers.ts'
import { draftEvent } from '../domain/events/event.ts'
import { listAlerts, listAlertsSince, listOpenAlerts } from './alerts.ts'
import { listAudit } from './audit.ts'
import {
  listConditions,
  listLastChannelStates,
  listStatesOfChannel,
  saveChannelStates,
  saveConditions,
} from './channel-states.ts'
import { findConnections, listConnections } from './connections.ts'
import type { Reader, Tx } from './database.ts'
import { countEntries, listEntries, listMovements, listReviewed, logMovement } from './discovery.ts'
import { insertEvents, listEvents, listEventsSince, listOpenEvents, pruneEvents } from './events.ts'
import { listFollowedLevels, pruneFollowedLevels } from './followed-sites.ts'
import { acquireLease, isLeaseHeld, renewLeases } from './leases.ts'
import { listReceivers, listRemovals, saveReceivers } from './receivers.ts'
import { nextSlots } from './slots.ts'
import { listUnits } from './units.ts'

const receivers = 50_000
/** Large tables, except those that are always read completely (requested polls, leases of sources, scan results). */
const large = [
  'receivers',
  'channels',
  'units',
  'discovery_queue',
  'movements',
  'connections',
  'audit',
  'alerts',
  'events',
  'channel_conditions',
  'channel_states',
  'followed_levels',
]

it('no regular statement of an installation with 200,000 channels scans a large table', async () => {
  const db = await openStore('postgres')
  await fill(db.url)
  const [sample] = await listReceivers(db.read, 4)
  if (sample === undefined) throw new Error('nothing is stored')

  const readStatements: Record<string, (reader: Reader) => Promise<unknown>> = {
    'receivers changed since a revision': (reader) => listReceivers(reader, 5),
    'few receivers changed since a revision': (reader) => listReceivers(reader, 4),
    'readings since a value of a counter': async (reader) =>
      expect(await listReceivers(reader, changedReadings)).toHaveLength(7),
    'conditions since a value of a counter': async (reader) =>
      expect(await listConditions(reader, changedReadings)).toHaveLength(28),
    'last states of channels': (reader) => listLastChannelStates(reader, [17, 18, 19]),
    'states of a channel': (reader) => listStatesOfChannel(reader, 17, { from: 5, to: 9 }),
    'levels of channels of sites': async (reader) =>
      expect(await listFollowedLevels(reader, [17, 18], { step: 1, from: 0, to: 600 })).toHaveLength(2),
    'events of a site': (reader) => listEvents(reader, { site: 'north' }, page),
    'all receivers, in pages': async (reader) => expect(await listReceivers(reader)).toHaveLength(receivers),
    'removals since a revision': (reader) => listRemovals(reader, 5),
    'entries changed since a revision': (reader) => listEntries(reader, 5),
    'units changed since a revision': (reader) => listUnits(reader, 5),
    'connections changed since a revision': (reader) => listConnections(reader, 5),
    'connections of some receivers': (reader) => findConnections(reader, [1, 2, 3]),
    'alerts since a revision': (reader) => listAlertsSince(reader, 5),
    'open alerts': (reader) => listOpenAlerts(reader),
    'newest alerts': (reader) => listAlerts(reader, {}, { limit: 1000, offset: 0 }),
    'alerts of a receiver': (reader) => listAlerts(reader, { receiver: 17 }, { limit: 1000, offset: 0 }),
    'alerts of a channel': (reader) => listAlerts(reader, { channel: 17 }, { limit: 1000, offset: 0 }),
    'newest events': (reader) => listEvents(reader, {}, page),
    'events after another': (reader) => listEvents(reader, {}, { limit: 100, after: { time: 5000, id: 7 } }),
    'events of a time': (reader) => listEvents(reader, { from: 5000, to: 5100 }, page),
    'events of two channels': (reader) =>
      listEvents(reader, { channels: { ids: [17, 18], receivers: [5], sites: [null] } }, page),
    'events of a receiver': (reader) => listEvents(reader, { receiver: 17 }, page),
    markers: (reader) => listEvents(reader, { kinds: ['marker'] }, page),
    'events since a revision': (reader) => listEventsSince(reader, 5),
    'open events': (reader) => listOpenEvents(reader),
    'a page of pending entries': (reader) => listReviewed(reader, { status: 'pending' }, { limit: 50, offset: 100 }),
    'the number of pending entries': (reader) => countEntries(reader, { status: 'pending' }),
    'unacknowledged movements': (reader) => listMovements(reader, { acknowledged: false }),
    'a page of the audit log': (reader) => listAudit(reader, { limit: 50, offset: 0 }),
    'a page of one action': (reader) => listAudit(reader, { action: 'auth.sign_in', limit: 50, offset: 0 }),
    'a page of one kind of actions': (reader) => listAudit(reader, { action: 'auth.', limit: 50, offset: 0 }),
  }
  const writeStatements: Record<string, (tx: Tx) => Promise<unknown>> = {
    'free slots': async (tx) => {
      await tx.query.deleteFrom('channels').where('slot', '=', 777).execute()
      expect(await nextSlots(tx, 2)).toEqual([777, 200_001])
    },
    'the levels of a cycle': (tx) => saveReceivers(tx, 6, [sample]),
    'conditions of a cycle': (tx) => saveConditions(tx, 6, [{ channelId: 17, memory: {} as never }]),
    'states of channels': (tx) => saveChannelStates(tx, [{ channel_id: 17, time: 9, state: null }]),
    'old levels of sites': (tx) => pruneFollowedLevels(tx, 5, 1000),
    'a movement': (tx) => logMovement(tx, movement),
    'an event that alternates': (tx) => insertEvents(tx, [muted]),
    'old events': (tx) => pruneEvents(tx, 100, 1000),
    'a lease': (tx) => acquireLease(tx, 'source-17', 'me', 15_000),
    'renewed leases': (tx) => renewLeases(tx, ['source-17', 'source-18'], 'me', 15_000),
    'a lease check': (tx) => isLeaseHeld(tx, 'source-17', 'me', 1),
  }

  const found: Record<string, string[]> = {}
  const explain = await openExplain(db.url)
  for (const [name, runRead] of Object.entries(readStatements)) {
    const { plugin, statements } = createRecorder()
    await runRead(db.read.withPlugin(plugin))
    found[name] = await explain(statements)
  }
  for (const [name, write] of Object.entries(writeStatements)) {
    const { plugin, statements } = createRecorder()
    await db.transaction((tx) => write({ ...tx, query: tx.query.withPlugin(plugin) }))
    found[name] = await explain(statements)
  }
  const expectedScans: Readonly<Record<string, readonly string[]>> = {
    // Counts all channels once for every batch of new receivers. The rows of the table are small.
    'free slots': ['channels: select count(*) as "taken", max("slot") as "highest" from "channels"'],
    // A process lists all ids once, when it starts.
    'all receivers, in pages': ['receivers: select id from "receivers" where revision > $1'],
  }
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, expectedScans[name] ?? []])))
})

const page = { limit: 100 }

/** Changes of one manufacturer in the last cycle. */
const changedReadings = { manufacturer: 'system-8', readings: 999 }

const muted = draftEvent(
  'muted',
  { channel_id: 7, receiver_id: 2, manufacturer: 'shure' },
  { time: 5, subject: 'mute:7' },
)

const movement = {
  device: 9,
  old_ip: '10.0.0.1',
  new_ip: '10.0.0.2',
  movement_type: 'ip_only',
  detected_at: 5,
  detected_by: 'sync',
  reason: 'Moved.',
} as const

interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

function createRecorder(): { plugin: KyselyPlugin; statements: Map<string, Statement> } {
  const statements = new Map<string, Statement>()
  const compiler = new PostgresQueryCompiler()
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const { sql, parameters } = compiler.compileQuery(node as RootOperationNode, createQueryId())
      // Keeps only the last of the statements that differ in nothing but their parameters.
      statements.set(sql, { sql, parameters })
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return { plugin, statements }
}

/** Connects to the database, and returns a function that lists the large tables that statements scan. */
async function openExplain(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return async (statements: Map<string, Statement>): Promise<string[]> => {
    if (statements.size === 0) throw new Error('no statement was captured')
    const scans: string[] = []
    for (const statement of statements.values()) {
      const { rows } = await client.query(`explain (format json) ${statement.sql}`, [...statement.parameters])
      for (const table of findScannedTables(rows[0]['QUERY PLAN'][0].Plan)) scans.push(`${table}: ${statement.sql}`)
    }
    return scans
  }
}

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

function findScannedTables(plan: Plan): string[] {
  const scanned = plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []
  return [...scanned.filter((table) => large.includes(table)), ...(plan.Plans ?? []).flatMap(findScannedTables)]
}

/**
 * Fills the database as in a large installation after a few months. The last cycles wrote few rows, and nearly
 * everything in the logs is old.
 */
async function fill(url: string): Promise<void> {
  // Not a connection of the service, which cancels slow statements.
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const statements = [
    `insert into manufacturers (code, name, plugin, api_enabled, config)
     select 'system-' || n, 'System ' || n, 'shure', 1, '{}' from generate_series(0, 99) n`,
    `insert into receivers (manufacturer, api_device_id, name, device_type, serial_number, serial_key, mac_address,
       mac_key, ip, is_active, last_seen, readings, revision, reading_revision)
     select 'system-' || n % 100, 'device-' || n, 'Receiver ' || n, 'ulxd', 'SN' || n, 'SN' || n, 'mac' || n, 'mac' || n,
       '10.' || n / 65536 || '.' || n / 256 % 256 || '.' || n % 256, 1, n, '{"1":{"name":"' || repeat('x', 900) || '"}}',
       case when n % 1000 = 0 then 5 else n % 5 end, case when n % 7500 = 8 then 1000 else n % 1000 end
     from generate_series(1, ${receivers}) n`,
    `insert into channels (receiver_id, channel, slot)
     select (n - 1) / 4 + 1, (n - 1) % 4 + 1, n from generate_series(1, ${receivers * 4}) n`,
    `insert into channel_conditions (channel_id, memory, revision)
     select n, '{}', case when ((n - 1) / 4 + 1) % 7500 = 8 then 1000 else n % 1000 end
     from generate_series(1, ${receivers * 4}) n`,
    `insert into channel_states (channel_id, time, state)
     select n % ${receivers * 4} + 1, n, '{}' from generate_series(1, ${receivers * 8}) n`,
    `insert into followed_levels (channel_id, step, start, until, kept_at, levels)
     select n % 20000 + 1, 1, n / 20000 * 600, n / 20000 * 600 + 600, n, '' from generate_series(1, 100000) n`,
    `insert into units (manufacturer, channel_id, receiver_id, device_type, is_online, revision)
     select 'shure', n, (n - 1) / 4 + 1, 'ulxd', 1, n % 5 from generate_series(1, ${receivers * 4}) n`,
    `insert into connections (receiver, manufacturer, status, transport, error_count, reconnect_attempts, revision)
     select n, 'shure', 'connected', 'websocket', 0, 0, n % 5 from generate_series(1, ${receivers}) n`,
    `insert into discovery_queue (manufacturer, identity_key, api_device_id, serial_number, ip, device_type, status,
       conflict_type, is_duplicate, is_ip_conflict, discovered_at, metadata, revision)
     select 'shure', 'serial:q' || n, 'q' || n, 'q' || n, '10.9.0.' || n % 256, 'ulxd',
       case when n % 100 = 0 then 'pending' else 'imported' end, 'ip_conflict', 0, 1, n, '{}', n % 5
     from generate_series(1, 20000) n`,
    `insert into movements (device, old_ip, new_ip, movement_type, detected_at, detected_by, reason, times_seen,
       acknowledged)
     select n % ${receivers} + 1, '10.0.0.1', '10.0.0.' || n % 256, 'ip_only', n, 'sync', 'Moved.', 1,
       case when n % 100 = 0 then 0 else 1 end
     from generate_series(1, 20000) n`,
    `insert into audit (at, actor_kind, actor_name, action, target, result, request_id, details)
     select n, 'user', 'ana', case when n % 100 = 0 then 'auth.sign_in' else 'receiver.edit' || n % 50 end,
       'receiver:' || n, 'ok', md5(n::text), '{"name":"' || repeat('x', 150) || '"}' from generate_series(1, 50000) n`,
    `insert into alerts (subject, kind, severity, message, manufacturer, receiver_id, raised_at, cleared_at, revision)
     select 'battery:' || n, 'battery_low', 'warning', 'The battery is low.', 'shure', n, n,
       case when n % 200 = 0 then null else n end, n % 5
     from generate_series(1, 10000) n`,
    `insert into events (time, until, ends_at, is_open, kind, severity, channel_id, receiver_id, manufacturer, text, data,
       subject, created_revision, revision)
     select n, case when n % 10 = 0 then n + 5 end, case when n % 10 = 0 then n + 5 else n end,
       case when n % 5000 = 0 then 1 else 0 end, case when n % 500 = 0 then 'marker' else 'muted' end, 'info',
       n % 1000, n % 1000 / 4, 'shure', 'Muted.', '{}', 'mute:' || n % 1000, n, case when n > 49900 then 6 else n % 5 end
     from generate_series(1, 50000) n`,
    `insert into leases (source, owner, epoch, expires_at)
     select 'source-' || n, 'me', 1, epoch_ms() + 30000 from generate_series(1, 2000) n`,
  ]
  for (const statement of statements) await client.query(statement)
  // In a real installation, autovacuum does this.
  await client.query('vacuum analyze')
}
