import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { draft } from '../../test/support/store/draft.ts'
import { conflictEntry, insertDrafts, openStore } from '../../test/support/store/helpers.ts'
import { type Connection, newConnection } from '../domain/equipment/connection.ts'
import type { SourceRecord } from '../domain/equipment/health.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { listConnections, saveConnections } from './connections.ts'
import type { Database } from './database.ts'
import { listEntries, listMovements, logMovement, savePending } from './discovery.ts'
import { acquireLease, isLeaseHeld, leaseHolder, releaseLease, takeLease } from './leases.ts'
import { addChannels, insertReceivers, listReceivers, saveReceivers } from './receivers.ts'
import { currentRevision, nextRevision } from './revision.ts'
import { deleteSetting, listSettings, saveSetting } from './settings.ts'
import { deleteGroup, insertGroup, insertPlaceholder, listGroups, nextSlots } from './slots.ts'
import { listSourceRecords, saveSourceRecords } from './sources.ts'

describe.each(engines)('receivers on %s', (engine) => {
  // Conformance: S-2.11.
  test('are read as they were inserted, with ids and slots', async () => {
    const db = await openStore(engine)
    const bare = {
      api_device_id: null,
      model: null,
      serial_number: null,
      mac_address: null,
      ip: null,
      subnet_mask: null,
      gateway: null,
      network_mode: null,
      firmware_version: null,
      is_active: false,
      channelNumbers: [],
    }
    const inserted = await insertDrafts(db, [
      draft(1, { channelNumbers: [2, 1] }),
      draft(2, { name: 'O\'Brien "Größe" \\ 🎤', description: '{"not":"json"}' }),
      draft(3, bare),
    ])
    expect(inserted.map(({ name }) => name)).toEqual(['Receiver 1', 'O\'Brien "Größe" \\ 🎤', 'Receiver 3'])
    expect(inserted.map(({ channels }) => channels.map(({ channel, slot }) => [channel, slot]))).toEqual([
      [
        [1, 1],
        [2, 2],
      ],
      [
        [1, 3],
        [2, 4],
      ],
      [],
    ])
    expect(await listReceivers(db.read)).toEqual(inserted)
  })

  test('are stored completely, with readings, and listed by the revision of their last change', async () => {
    const db = await openStore(engine)
    const [first, second] = (await insertDrafts(db, [draft(1), draft(2)])) as [Receiver, Receiver]
    const changed: Receiver = {
      ...first,
      name: 'Stage left',
      serial_number: ' New1 ',
      ip: null,
      is_active: false,
      last_seen: 1_800_000_000_000,
      channels: first.channels.map((channel) => ({
        ...channel,
        name: 'Vox',
        frequency: '540.000',
        audio_level: -18,
        rf_level: null,
        transmitter: {
          upstream_slot: 3,
          name: 'Tx',
          battery: 0,
          audio_level: -18,
          rf_level: -48,
          frequency: '540.000',
          details: { model: 'ULXD2', battery_minutes: null, battery_is_estimate: true },
        },
        details: { antennas: 'AB', muted: false },
      })),
    }
    const revision = await db.transaction(async (tx) => {
      const next = await nextRevision(tx)
      await saveReceivers(tx, next, [changed])
      expect(await listReceivers(tx.query, next - 1)).toEqual([changed])
      return next
    })
    expect(await listReceivers(db.read)).toEqual([changed, second])
    expect(await listReceivers(db.read, revision - 1)).toEqual([changed])
    expect(await listReceivers(db.read, revision)).toEqual([])
    expect(await currentRevision(db.read)).toBe(revision)
    const row = await db.read.selectFrom('receivers').selectAll().where('id', '=', first.id).executeTakeFirstOrThrow()
    expect(row).toMatchObject({ serial_number: ' New1 ', serial_key: 'new1', mac_key: '000edd000001' })
  })

  // Conformance: C-2.14.
  test('have one of the four known network modes, whatever an earlier version stored', async () => {
    const db = await openStore(engine)
    await insertDrafts(db, [draft(1), draft(2), draft(3)])
    await db.transaction(async ({ query }) => {
      await query.updateTable('receivers').set({ network_mode: 'DHCP' }).where('name', '=', 'Receiver 1').execute()
      await query.updateTable('receivers').set({ network_mode: 'weird' }).where('name', '=', 'Receiver 2').execute()
    })
    const receivers = await listReceivers(db.read)
    expect(receivers.map(({ network_mode }) => network_mode)).toEqual(['dhcp', null, 'dhcp'])
  })

  test('keep their order and do not block the event loop with more than a thousand', async () => {
    const db = await openStore(engine)
    const drafts = Array.from({ length: 8_050 }, (_, index) => draft(index, { channelNumbers: [1, 2, 3, 4] }))
    const inserted = await insertDrafts(db, drafts)
    expect(inserted.map(({ name }) => name)).toEqual(drafts.map(({ name }) => name))
    expect(inserted.flatMap(({ channels }) => channels.map(({ slot }) => slot))).toEqual(
      Array.from({ length: 32_200 }, (_, index) => index + 1),
    )
    let ticks = 0
    const ticking = setInterval(() => {
      ticks += 1
    }, 1)
    const updatedReceivers = inserted.map((receiver) => ({ ...receiver, last_seen: receiver.last_seen + 1 }))
    await db.transaction(async (tx) => saveReceivers(tx, await nextRevision(tx), updatedReceivers))
    clearInterval(ticking)
    expect(ticks).toBeGreaterThan(5)
    expect(await listReceivers(db.read)).toEqual(updatedReceivers)
  })
})

describe.each(engines)('new receivers on %s', (engine) => {
  // Conformance: C-2.5.
  test('get further channels on free slots, in the order of their numbers', async () => {
    const db = await openStore(engine)
    const [receiver] = (await insertDrafts(db, [draft(1, { channelNumbers: [3] }), draft(2)])) as [Receiver, Receiver]
    const [extended, revision] = await db.transaction(async (tx) => {
      const next = await nextRevision(tx)
      return [await addChannels(tx, next, receiver, [4, 1]), next] as const
    })
    expect(extended.channels.map(({ channel, slot }) => [channel, slot])).toEqual([
      [1, 4],
      [3, 1],
      [4, 5],
    ])
    expect(await listReceivers(db.read, revision - 1)).toEqual([extended])
  })

  // Conformance: C-2.6.
  test('get the lowest free slots', async () => {
    const db = await openStore(engine)
    await insertDrafts(db, [draft(1, { channelNumbers: [1, 2, 3, 4] }), draft(2, { channelNumbers: [1, 2] })])
    await db.transaction(async (tx) => {
      expect(await nextSlots(tx, 2)).toEqual([7, 8])
      await tx.query.deleteFrom('channels').where('slot', 'in', [1, 3, 4]).execute()
      expect(await nextSlots(tx, 0)).toEqual([])
      expect(await nextSlots(tx, 2)).toEqual([1, 3])
      expect(await nextSlots(tx, 5)).toEqual([1, 3, 4, 7, 8])
    })
  })

  // Conformance: C-13.6.
  test('pass over the slots of placeholders', async () => {
    const db = await openStore(engine)
    await insertDrafts(db, [draft(1, { channelNumbers: [1, 2] })])
    await db.transaction(async (tx) => {
      for (const slot of [3, 5, 6]) {
        await insertPlaceholder(tx, { slot, name: 'DI', kind: 'wired', frequency: null, note: '', created_at: 0 })
      }
      expect(await nextSlots(tx, 3)).toEqual([4, 7, 8])
      await tx.query.deleteFrom('channels').where('slot', '=', 1).execute()
      expect(await nextSlots(tx, 4)).toEqual([1, 4, 7, 8])
    })
  })

  test('reject a duplicate serial number within a manufacturer, but not a missing one', async () => {
    const db = await openStore(engine)
    await insertDrafts(db, [draft(1), draft(2, { serial_number: null }), draft(3, { serial_number: '0000' })])
    await insertDrafts(db, [draft(1, { manufacturer: 'sennheiser' }), draft(4, { serial_number: '0000' })])
    await expect(insertDrafts(db, [draft(5), draft(9, { serial_number: ' sn1' })])).rejects.toThrow(/unique/i)
    expect(await listReceivers(db.read)).toHaveLength(5)
  })

  test('do not reuse ids of removed receivers', async () => {
    const db = await openStore(engine)
    const [removed] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    await db.transaction((tx) => tx.query.deleteFrom('receivers').where('id', '=', removed.id).execute())
    const [next] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    expect(next.id).toBeGreaterThan(removed.id)
    expect(next.channels.map(({ slot }) => slot)).toEqual([1, 2])
  })
})

describe.each(engines)('the review queue on %s', (engine) => {
  const save = (db: Database, entry: ReturnType<typeof conflictEntry>) =>
    db.transaction(async (tx) => savePending(tx, await nextRevision(tx), entry))

  // Conformance: C-4.11.
  test('updates the pending entry in a later poll and adds none', async () => {
    const db = await openStore(engine)
    const [existing] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    const first = await save(db, conflictEntry())
    expect(first).toEqual({ ...conflictEntry(), id: first.id, status: 'pending' })
    const changes = { ip: '10.0.0.77', existing_device: existing.id, discovered_at: 1_800_000_000_000, metadata: null }
    const second = await save(db, conflictEntry(changes))
    expect(second).toEqual({ ...first, ip: '10.0.0.77', existing_device: existing.id, metadata: null })
    expect(await listEntries(db.read)).toEqual([second])
  })

  test('keeps the revision of an unchanged entry and raises it for a changed one', async () => {
    const db = await openStore(engine)
    await save(db, conflictEntry())
    const revisionBefore = await currentRevision(db.read)
    await save(db, conflictEntry({ discovered_at: 1_800_000_000_000 }))
    expect(await listEntries(db.read, revisionBefore)).toEqual([])
    const changed = await save(db, conflictEntry({ is_duplicate: true }))
    expect(await listEntries(db.read, revisionBefore)).toEqual([changed])
  })

  test('does not change a reviewed entry, and other devices and manufacturers get separate ones', async () => {
    const db = await openStore(engine)
    const entry = await save(db, conflictEntry())
    await db.transaction((tx) => tx.query.updateTable('discovery_queue').set({ status: 'rejected' }).execute())
    const again = await save(db, conflictEntry({ ip: '10.0.0.78' }))
    expect(again).toEqual({ ...entry, status: 'rejected' })
    await save(db, conflictEntry({ manufacturer: 'sennheiser' }))
    await save(db, conflictEntry({ identity_key: 'serial:sn10' }))
    expect((await listEntries(db.read)).map(({ status }) => status)).toEqual(['rejected', 'pending', 'pending'])
  })
})

describe.each(engines)('movements on %s', (engine) => {
  // Conformance: C-4.20.
  test('are counted as repeats until the first is acknowledged', async () => {
    const db = await openStore(engine)
    const [receiver] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    const moved: Parameters<typeof logMovement>[1] = {
      device: receiver.id,
      old_ip: '10.0.0.1',
      new_ip: '10.0.0.2',
      movement_type: 'ip_only',
      detected_at: 1_700_000_000_000,
      detected_by: 'sync',
      reason: '',
    }
    const log = (movement: typeof moved) => db.transaction((tx) => logMovement(tx, movement))
    const first = await log(moved)
    expect(first).toEqual({ ...moved, id: first.id, times_seen: 1, acknowledged: false })
    expect(await log({ ...moved, detected_at: 1_800_000_000_000 })).toEqual({ ...first, times_seen: 2 })
    await log({ ...moved, old_ip: null })
    expect(await log({ ...moved, old_ip: null })).toMatchObject({ old_ip: null, times_seen: 2 })
    await db.transaction((tx) =>
      tx.query
        .updateTable('movements')
        .set({ acknowledged: 1, acknowledged_by: 1 })
        .where('id', '=', first.id)
        .execute(),
    )
    const third = await log(moved)
    expect(third).toMatchObject({ times_seen: 1, acknowledged: false })
    expect(await listMovements(db.read)).toHaveLength(3)
    expect((await listMovements(db.read, { acknowledged: true })).map(({ id }) => id)).toEqual([first.id])
    expect(await listMovements(db.read, { acknowledged: false })).toHaveLength(2)
  })
})

describe.each(engines)('other records on %s', (engine) => {
  // Conformance: S-2.19.
  test('connections: one per receiver, inserted and updated', async () => {
    const db = await openStore(engine)
    const receivers = await insertDrafts(
      db,
      Array.from({ length: 120 }, (_, index) => draft(index)),
    )
    const connections = receivers.map(({ id }) => newConnection(id, 'shure', 'shure:http://x', 'websocket'))
    const changed: Connection[] = connections.map((connection) => ({
      ...connection,
      manufacturer: 'sennheiser',
      status: 'error',
      transport: 'sse',
      connected_at: 1_700_000_000_001,
      disconnected_at: 1_700_000_000_002,
      last_message_at: 1_700_000_000_003,
      error_message: 'refused',
      error_count: 4,
      reconnect_attempts: 5,
    }))
    await db.transaction((tx) => saveConnections(tx, 1, []))
    await db.transaction((tx) => saveConnections(tx, 1, connections))
    expect(await listConnections(db.read)).toEqual(connections)
    await db.transaction((tx) => saveConnections(tx, 2, changed.slice(0, 110)))
    expect(await listConnections(db.read)).toEqual([...changed.slice(0, 110), ...connections.slice(110)])
  })

  // Conformance: S-2.6.
  test('settings: one per scope and key; those of a group are deleted with it', async () => {
    const db = await openStore(engine)
    const group = { title: 'Drums', slots: [1], hide_charts: false, zone: null, manufacturer: null }
    const { id } = await db.transaction((tx) => insertGroup(tx, group))
    const global = { manufacturer: null, group: null, key: 'polling_interval', value: '10' }
    const records = [
      global,
      { ...global, manufacturer: 'shure', value: '5' },
      { ...global, key: 'enable_websocket', value: 'true' },
      { ...global, group: id, key: 'RF_WEAK_DBM', value: '-80' },
    ]
    for (const record of records) await db.transaction((tx) => saveSetting(tx, record))
    const changed = records.map((record) => (record.manufacturer === null ? { ...record, value: '30' } : record))
    for (const record of changed) await db.transaction((tx) => saveSetting(tx, record))
    expect(await listSettings(db.read)).toEqual(changed)
    await db.transaction((tx) => deleteGroup(tx, id))
    expect(await listSettings(db.read)).toEqual(changed.slice(0, 3))
    expect(await db.transaction((tx) => deleteSetting(tx, global))).toBe(true)
    expect(await db.transaction((tx) => deleteSetting(tx, global))).toBe(false)
    expect(await listSettings(db.read)).toEqual(changed.slice(1, 3))
  })

  test('source statuses: one per source', async () => {
    const db = await openStore(engine)
    const healthy: SourceRecord = {
      manufacturer: 'shure',
      source: 'shure:https://10.0.0.1',
      consecutive_failures: 0,
      error: null,
      hold_until: 0,
      last_success_at: 1_700_000_000_000,
      overruns: 0,
      warning: null,
      device_errors: { listed: [], more: 0 },
      silent_since: null,
    }
    const unhealthy = {
      ...healthy,
      consecutive_failures: 3,
      error: 'It refuses.',
      hold_until: 1_700_000_030_000,
      overruns: 7,
      warning: 'x',
      device_errors: { listed: [{ device: 'd3', error: 'ip cannot be read' }], more: 4 },
      silent_since: 1_700_000_020_000,
    }
    const other = { ...healthy, source: 'shure:https://10.0.0.2', last_success_at: null }
    for (const report of [other, healthy, unhealthy]) await db.transaction((tx) => saveSourceRecords(tx, [report]))
    expect(await listSourceRecords(db.read)).toEqual([unhealthy, other])
  })

  test('groups', async () => {
    const db = await openStore(engine)
    await db.transaction((tx) =>
      tx.query
        .insertInto('groups')
        .values([
          { title: 'Stage', slots: '[1,3]', hide_charts: 1, manufacturer: null, version: 1 },
          { title: 'Foyer', slots: '[]', hide_charts: 0, manufacturer: 'shure', version: 1 },
        ])
        .execute(),
    )
    expect(await listGroups(db.read)).toEqual([
      { id: 1, title: 'Stage', slots: [1, 3], hide_charts: true, zone: null, manufacturer: null, version: 1 },
      { id: 2, title: 'Foyer', slots: [], hide_charts: false, zone: null, manufacturer: 'shure', version: 1 },
    ])
  })
})

describe.each(engines)('leases on %s', (engine) => {
  const source = 'shure:https://10.0.0.1'
  const acquire = (db: Database, owner: string, ttlMs: number) =>
    db.transaction((tx) => acquireLease(tx, source, owner, ttlMs))
  const isHeld = (db: Database, owner: string, epoch: number) =>
    db.transaction((tx) => isLeaseHeld(tx, source, owner, epoch))

  // Conformance: C-9.22.
  // Reliability: P5.
  test('have one holder, which renews them, and the epoch rises when the holder changes', async () => {
    const db = await openStore(engine)
    expect(await leaseHolder(db.read, source)).toBeNull()
    expect(await acquire(db, 'a', 60_000)).toEqual({ epoch: 1 })
    expect(await acquire(db, 'b', 60_000)).toBeNull()
    expect(await acquire(db, 'a', 60_000)).toEqual({ epoch: 1 })
    const holder = await leaseHolder(db.read, source)
    expect(holder).toMatchObject({ owner: 'a', epoch: 1 })
    const { rows } = await sql<{ now: number }>`select epoch_ms() as now`.execute(db.read)
    expect(Math.abs((holder?.expires_at ?? 0) - (rows[0]?.now ?? 0) - 60_000)).toBeLessThan(5_000)
    expect([await isHeld(db, 'a', 1), await isHeld(db, 'b', 1), await isHeld(db, 'a', 2)]).toEqual([true, false, false])

    await db.transaction((tx) => releaseLease(tx, source, 'b'))
    expect(await isHeld(db, 'a', 1)).toBe(true)
    await db.transaction((tx) => releaseLease(tx, source, 'a'))
    expect(await leaseHolder(db.read, source)).toBeNull()
    expect(await isHeld(db, 'a', 1)).toBe(false)
    expect(await acquire(db, 'b', 60_000)).toEqual({ epoch: 2 })
    expect(await db.transaction((tx) => acquireLease(tx, 'shure:other', 'a', 1_000))).toEqual({ epoch: 1 })
  })

  test('expire', async () => {
    const db = await openStore(engine)
    await acquire(db, 'a', 60_000)
    expect(await acquire(db, 'b', 100)).toBeNull()
    await acquire(db, 'a', 100)
    await pause(150)
    expect(await leaseHolder(db.read, source)).toBeNull()
    // No other process has taken the lease, so the results of its last holder are still the newest.
    expect(await isHeld(db, 'a', 1)).toBe(true)
    expect(await acquire(db, 'a', 100)).toEqual({ epoch: 1 })
    await pause(150)
    expect(await acquire(db, 'b', 60_000)).toEqual({ epoch: 2 })
    expect(await isHeld(db, 'a', 1)).toBe(false)
  })

  // Reliability: P12.
  test('that were released report the time since then when they are acquired again', async () => {
    const db = await openStore(engine)
    const takeOver = (owner: string) => db.transaction((tx) => takeLease(tx, source, owner, 60_000))
    expect(await takeOver('a')).toEqual({ epoch: 1, idleMs: null })
    await db.transaction((tx) => releaseLease(tx, source, 'a'))
    await pause(60)
    const second = await takeOver('b')
    expect(second?.epoch).toBe(2)
    expect(second?.idleMs).toBeGreaterThanOrEqual(50)
    expect(second?.idleMs).toBeLessThan(60_000)
    expect(await takeOver('b')).toEqual({ epoch: 2, idleMs: 0 })
  })

  test('have one winner among many concurrent requests', async () => {
    const db = await openStore(engine)
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => acquire(db, `owner-${index}`, 60_000)))
    expect(results.filter((lease) => lease !== null)).toEqual([{ epoch: 1 }])
  })
})

test('leases use the given clock on SQLite', async () => {
  let now = 1_000_000
  const db = await openStore('sqlite', () => now)
  await db.transaction((tx) => acquireLease(tx, 's', 'a', 15_000))
  now += 14_999
  expect(await db.transaction((tx) => acquireLease(tx, 's', 'b', 15_000))).toBeNull()
  now += 1
  expect(await db.transaction((tx) => acquireLease(tx, 's', 'b', 15_000))).toEqual({ epoch: 2 })
})

// Reliability: P12.
test('leases return a lower bound of the time without a holder when they are acquired', async () => {
  let now = 1_000_000
  const db = await openStore('sqlite', () => now)
  const takeOver = (owner: string) => db.transaction((tx) => takeLease(tx, 's', owner, 15_000))
  expect(await takeOver('a')).toEqual({ epoch: 1, idleMs: null })
  expect(await takeOver('b')).toBeNull()
  now += 5_000
  await db.transaction((tx) => releaseLease(tx, 's', 'a'))
  now += 700
  expect(await takeOver('b')).toEqual({ epoch: 2, idleMs: 700 })
  // The holder was killed and released nothing, so only the time since the lease expired is certain.
  now += 15_000 + 40
  expect(await takeOver('c')).toEqual({ epoch: 3, idleMs: 40 })
  // After a reboot has reset the clock, the time without a holder is unknown.
  now = 1_000
  expect(await takeOver('d')).toEqual({ epoch: 4, idleMs: 0 })
})

// Reliability: T1.
test('leases from before the clock was set back or reset by a reboot block no process', async () => {
  let now = 56 * 365 * 86_400_000
  const db = await openStore('sqlite', () => now)
  await db.transaction((tx) => acquireLease(tx, 's', 'a', 15_000))
  now = 3_600_000
  expect(await leaseHolder(db.read, 's')).toBeNull()
  expect(await db.transaction((tx) => acquireLease(tx, 's', 'b', 15_000))).toEqual({ epoch: 2 })
  expect(await leaseHolder(db.read, 's')).toMatchObject({ owner: 'b' })
})

test('a lease on PostgreSQL cannot change its holder between the check and the commit', async () => {
  const db = await openStore('postgres')
  await db.transaction((tx) => acquireLease(tx, 's', 'a', 100))
  const steps: string[] = []
  let takeover: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    expect(await isLeaseHeld(tx, 's', 'a', 1)).toBe(true)
    await pause(150)
    takeover = db.transaction((other) => acquireLease(other, 's', 'b', 100)).then(() => steps.push('taken over'))
    await pause(100)
    await insertReceivers(tx, await nextRevision(tx), [draft(1)])
    steps.push('written')
  })
  await takeover
  expect(steps).toEqual(['written', 'taken over'])
})
