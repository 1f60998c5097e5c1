import { describe, expect, test } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { draft } from '../../test/support/store/draft.ts'
import { conflictEntry, insertDrafts, openStore } from '../../test/support/store/helpers.ts'
import type { QueueStatus } from '../contract/values.ts'
import type { QueueEntry } from '../domain/equipment/discovery.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import type { Database } from './database.ts'
import {
  acknowledgeMovements,
  countEntries,
  countMovements,
  findEntries,
  listEntries,
  listMovementDetails,
  listMovements,
  listReviewed,
  logMovement,
  savePending,
  saveReview,
  trimMovements,
  trimQueue,
} from './discovery.ts'
import {
  forgetDiscovered,
  insertLocation,
  listDiscovered,
  listLocations,
  removeLocation,
  saveDiscovered,
  saveLocation,
} from './locations.ts'
import { listReceivers, listRemovals, removeReceiver, saveReceivers } from './receivers.ts'
import { currentRevision, nextRevision } from './revision.ts'

const all = { limit: 1_000, offset: 0 }

function addEntry(db: Database, number: number, fields: Partial<QueueEntry> = {}) {
  const entry = conflictEntry({ identity_key: `serial:${number}`, serial_number: `${number}`, ...fields })
  return db.transaction(async (tx) => savePending(tx, await nextRevision(tx), entry))
}

function review(db: Database, { id }: QueueEntry, status: QueueStatus, existing_device: number | null = null) {
  const reviewer = { id: 3, name: 'maria', at: 5_000 }
  return db.transaction(async (tx) =>
    saveReview(tx, await nextRevision(tx), id, {
      status,
      is_duplicate: status === 'duplicate',
      existing_device,
      reviewer,
    }),
  )
}

describe.each(engines)('the review queue on %s', (engine) => {
  test('is counted, filtered and paginated by the database', async () => {
    const db = await openStore(engine)
    const entries = []
    for (const number of [1, 2, 3, 4]) entries.push(await addEntry(db, number, { discovered_at: number * 1_000 }))
    await addEntry(db, 5, {
      manufacturer: 'sennheiser',
      is_ip_conflict: false,
      device_type: 'transmitter',
      discovered_at: 9_000,
    })
    await review(db, entries[1] as QueueEntry, 'duplicate')
    const serials = async (filter: Parameters<typeof listReviewed>[1], slice = all) => {
      const listed = await listReviewed(db.read, filter, slice)
      if (slice === all) expect(await countEntries(db.read, filter)).toBe(listed.length)
      return listed.map((entry) => entry.serial_number)
    }
    expect(await serials({})).toEqual(['1', '2', '3', '4', '5'])
    expect(await serials({}, { limit: 2, offset: 1 })).toEqual(['2', '3'])
    expect(await serials({ status: 'pending', manufacturer: 'shure' })).toEqual(['1', '3', '4'])
    expect(await serials({ is_duplicate: true })).toEqual(['2'])
    expect(await serials({ is_ip_conflict: false })).toEqual(['5'])
    expect(await serials({ device_type: 'transmitter' })).toEqual(['5'])
    expect(await serials({ discovered_after: 2_000, discovered_before: 4_000 })).toEqual(['2', '3'])
    expect(await listReviewed(db.read, { is_duplicate: true }, all)).toMatchObject([
      { status: 'duplicate', reviewed_by: 'maria', reviewed_at: 5_000 },
    ])
  })

  // Conformance: S-2.14, C-4.16.
  test('stores the device data with the entry, and a review action raises the revision', async () => {
    const db = await openStore(engine)
    const [receiver] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    const device = {
      id: 'device-9',
      kind: 'receiver',
      channels: [{ channel: 1, rf_level: -50 }],
      metadata: 'much',
    } as const
    const entry = await db.transaction(async (tx) => savePending(tx, await nextRevision(tx), conflictEntry(), device))
    const found = (await findEntries(db.read, [entry.id, 999])).get(entry.id)
    expect(found).toEqual({
      entry,
      report: { id: 'device-9', kind: 'receiver', channels: [{ channel: 1, rf_level: -50 }] },
    })
    const before = await currentRevision(db.read)
    await review(db, entry, 'imported', receiver.id)
    expect(await listEntries(db.read, before)).toEqual([{ ...entry, status: 'imported', existing_device: receiver.id }])
  })

  // Reliability: 1.12, 3.12.9.
  test('at its limit deletes imported entries first, then the newest pending ones, and never a rejection', async () => {
    const db = await openStore(engine)
    const entries: QueueEntry[] = []
    for (let number = 1; number <= 6; number += 1) entries.push(await addEntry(db, number))
    const [a, b, c, d, e, f] = entries as [QueueEntry, QueueEntry, QueueEntry, QueueEntry, QueueEntry, QueueEntry]
    await review(db, b, 'imported')
    await review(db, d, 'imported')
    await review(db, a, 'rejected')
    const trimTo = (limit: number) => db.transaction((tx) => trimQueue(tx, limit))
    expect(await trimTo(6)).toEqual([])
    expect(await trimTo(5)).toEqual([b.id])
    expect((await trimTo(3)).sort()).toEqual([d.id, f.id])
    expect((await trimTo(0)).sort()).toEqual([c.id, e.id])
    expect((await listEntries(db.read)).map(({ id }) => id)).toEqual([a.id])
  })
})

describe.each(engines)('movements on %s', (engine) => {
  const moved = { movement_type: 'ip_only', detected_at: 1, detected_by: 'sync', reason: '' } as const

  test('name receivers and locations, and the user who acknowledged them', async () => {
    const db = await openStore(engine)
    const [receiver, foreign] = (await insertDrafts(db, [draft(1), draft(2, { manufacturer: 'sennheiser' })])) as [
      Receiver,
      Receiver,
    ]
    const location = await db.transaction((tx) =>
      insertLocation(tx, {
        name: 'Rack',
        description: '',
        zone: null,
        country: null,
        latitude: null,
        longitude: null,
        parent: null,
      }),
    )
    const log = (fields: Partial<Parameters<typeof logMovement>[1]>) =>
      db.transaction((tx) => logMovement(tx, { device: receiver.id, old_ip: 'a', new_ip: 'b', ...moved, ...fields }))
    const first = await log({})
    const placed = {
      old_ip: 'a',
      new_ip: 'a',
      new_location: location.id,
      movement_type: 'location_only',
      detected_by: 'manual',
    } as const
    const second = await log(placed)
    await log(placed)
    await log({ device: foreign.id })
    expect(await db.transaction((tx) => acknowledgeMovements(tx, [first.id, 999], { id: null, name: 'ci' }))).toEqual([
      first.id,
    ])
    expect(await db.transaction((tx) => acknowledgeMovements(tx, [first.id], { id: 4, name: 'eve' }))).toEqual([])
    expect(await listMovementDetails(db.read, { manufacturer: 'shure' }, all)).toMatchObject([
      { id: first.id, acknowledged: true, acknowledged_by: 'ci', old_location: null, new_location: null },
      {
        id: second.id,
        receiver: { id: receiver.id, name: 'Receiver 1', serial_number: 'SN1' },
        manufacturer: 'shure',
        times_seen: 2,
        new_location: { id: location.id, name: 'Rack' },
        acknowledged_by: null,
      },
    ])
    expect(await countMovements(db.read, { acknowledged: false })).toBe(2)
    expect(
      (await listMovementDetails(db.read, {}, { limit: 1, offset: 2 })).map(({ receiver }) => receiver.id),
    ).toEqual([foreign.id])
  })

  // Reliability: 3.12.9.
  test('at their limit delete the oldest acknowledged ones first', async () => {
    const db = await openStore(engine)
    const [receiver] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    const ids: number[] = []
    for (const ip of ['a', 'b', 'c', 'd']) {
      ids.push(
        (await db.transaction((tx) => logMovement(tx, { device: receiver.id, old_ip: null, new_ip: ip, ...moved }))).id,
      )
    }
    await db.transaction((tx) => acknowledgeMovements(tx, ids.slice(2, 3), { id: 1, name: 'eve' }))
    const remaining = async (limit: number) => {
      await db.transaction((tx) => trimMovements(tx, limit))
      return (await listMovements(db.read)).map(({ id }) => id)
    }
    expect(await remaining(4)).toEqual(ids)
    expect(await remaining(3)).toEqual([ids[0], ids[1], ids[3]])
    expect(await remaining(2)).toEqual([ids[1], ids[3]])
  })
})

describe.each(engines)('locations on %s', (engine) => {
  test('have nested locations and receivers', async () => {
    const db = await openStore(engine)
    const [receiver] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    const venue = await db.transaction((tx) =>
      insertLocation(tx, {
        name: 'Venue',
        description: '',
        zone: null,
        country: null,
        latitude: null,
        longitude: null,
        parent: null,
      }),
    )
    const rack = await db.transaction((tx) =>
      insertLocation(tx, {
        name: 'Rack',
        description: 'left',
        zone: null,
        country: null,
        latitude: null,
        longitude: null,
        parent: venue.id,
      }),
    )
    const relocated = { ...receiver, location: rack.id, is_named_by_hand: true }
    await db.transaction(async (tx) => saveReceivers(tx, await nextRevision(tx), [relocated]))
    expect(await listReceivers(db.read)).toEqual([relocated])
    const renamed = await db.transaction((tx) => saveLocation(tx, { ...rack, name: 'Rack B' }))
    expect(renamed).toEqual({ ...rack, name: 'Rack B', version: renamed.version })
    expect(await listLocations(db.read)).toEqual([venue, renamed])
    await expect(db.transaction((tx) => removeLocation(tx, rack.id))).rejects.toThrow(/foreign key/i)
    await db.transaction(async (tx) => saveReceivers(tx, await nextRevision(tx), [receiver]))
    await db.transaction((tx) => removeLocation(tx, rack.id))
    expect(await listLocations(db.read)).toEqual([venue])
  })

  test('a removed receiver leaves a removal record, and its queue entries lose the reference', async () => {
    const db = await openStore(engine)
    const [receiver] = (await insertDrafts(db, [draft(1)])) as [Receiver]
    const entry = await addEntry(db, 1, { existing_device: receiver.id })
    const before = await currentRevision(db.read)
    await db.transaction(async (tx) => removeReceiver(tx, await nextRevision(tx), receiver.id))
    expect(await listReceivers(db.read)).toEqual([])
    expect(await listRemovals(db.read, before)).toEqual([receiver.id])
    expect(await listRemovals(db.read, before + 1)).toEqual([])
    expect(await listEntries(db.read, before)).toEqual([{ ...entry, existing_device: null }])
  })

  // Conformance: S-2.20.
  test('devices from a scan keep their id when they are found again, and are deleted', async () => {
    const db = await openStore(engine)
    const found = {
      manufacturer: 'shure',
      api_device_id: 'd1',
      serial_number: null,
      mac_address: null,
      ip: '10.0.0.1',
      device_type: 'ulxd',
      channels: 2,
      discovered_at: 1_000,
      last_seen: 1_000,
      model: 'ULXD4D',
      address: null,
    }
    await db.transaction((tx) => saveDiscovered(tx, [found]))
    const again = { ...found, ip: '10.0.0.2', discovered_at: 2_000, last_seen: 2_000 }
    await db.transaction((tx) => saveDiscovered(tx, [again, { ...found, api_device_id: 'd2' }]))
    expect(await listDiscovered(db.read, 1_500)).toEqual([{ ...again, id: expect.any(Number), discovered_at: 1_000 }])
    expect(await listDiscovered(db.read, 0)).toHaveLength(2)
    await db.transaction((tx) => forgetDiscovered(tx, 1_500))
    expect(await listDiscovered(db.read, 0)).toHaveLength(1)
  })
})
