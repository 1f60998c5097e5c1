import { describe, expect, it } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { draft } from '../../test/support/store/draft.ts'
import { insertDrafts, openStore } from '../../test/support/store/helpers.ts'
import type { UnitDraft } from '../domain/equipment/hardware.ts'
import type { Database } from './database.ts'
import { findActiveAssignment, insertAssignment, insertPerformer, listAssignments, saveAssignment } from './hardware.ts'
import { listReceivers } from './receivers.ts'
import { nextRevision } from './revision.ts'
import { deleteManufacturer, hasReceivers } from './settings.ts'
import { deleteGroup, findGroup, insertGroup, listGroups, placeChannels, saveGroup } from './slots.ts'
import { insertUnits, listUnitRemovals, listUnits, saveUnits, trimPacks } from './units.ts'

const separateUnit = (id: string): UnitDraft => ({
  manufacturer: 'shure',
  channel_id: null,
  receiver_id: null,
  api_device_id: id,
  name: 'Größe “A”',
  model: null,
  serial_number: null,
  upstream_slot: null,
  device_type: 'mic_transmitter',
  battery: 50,
  details: { battery_cycles: 12, battery_minutes_to_full: null },
  is_online: true,
})

async function addUnits(db: Database, drafts: readonly UnitDraft[]) {
  return db.transaction(async (tx) => insertUnits(tx, await nextRevision(tx), drafts))
}

describe.each(engines)('hardware (%s)', (engine) => {
  it('stores units, and returns the ones that changed', async () => {
    const db = await openStore(engine)
    const [receiver] = await insertDrafts(db, [draft(1, { channelNumbers: [1] })])
    const channel_id = receiver?.channels[0]?.id ?? 0
    const unit = {
      ...separateUnit('x'),
      api_device_id: null,
      channel_id,
      receiver_id: receiver?.id ?? 0,
      battery: null,
    }
    const many = Array.from({ length: 250 }, (_, index) => separateUnit(`pack-${index}`))
    const created = await addUnits(db, [unit, ...many])
    const units = await listUnits(db.read)
    expect(units).toHaveLength(251)
    expect([...created].sort((a, b) => a.id - b.id)).toEqual(units)
    expect(units.find((unit) => unit.channel_id === channel_id)).toMatchObject(unit)

    const [first] = units
    const revision = await db.transaction(async (tx) => {
      const next = await nextRevision(tx)
      if (first !== undefined) await saveUnits(tx, next, [{ ...first, name: 'Host', is_online: false }])
      return next
    })
    expect(await listUnits(db.read, revision - 1)).toEqual([{ ...first, name: 'Host', is_online: false }])
    await expect(addUnits(db, [unit])).rejects.toThrow()
    await expect(addUnits(db, [separateUnit('pack-1')])).rejects.toThrow()
  })

  // Conformance: C-21.10.
  it('keeps 1,000 packs without a channel, and those that were assigned', async () => {
    const db = await openStore(engine)
    const drafts = Array.from({ length: 1003 }, () => ({ ...separateUnit(''), api_device_id: null }))
    const [first, second] = await addUnits(db, [...drafts, separateUnit('pack')])
    const { id: performer } = await db.transaction((tx) =>
      insertPerformer(tx, { name: 'Ada', notes: '', picture: null }),
    )
    await db.transaction((tx) =>
      insertAssignment(tx, {
        ...{ performer, wireless_unit: first?.id ?? 0, role: null },
        ...{ is_active: false, started_at: 1, ended_at: 2 },
      }),
    )
    const revision = await db.transaction(async (tx) => {
      const next = await nextRevision(tx)
      expect(await trimPacks(tx, next, 'shure')).toEqual(expect.arrayContaining([second?.id]))
      return next
    })
    const left = await listUnits(db.read)
    expect(left).toHaveLength(1002)
    expect(left[0]?.id).toBe(first?.id)
    expect(await listUnitRemovals(db.read, revision - 1)).toHaveLength(2)
    expect(await listUnitRemovals(db.read, revision)).toEqual([])
  })

  it('allows one performer at a time for a unit', async () => {
    const db = await openStore(engine)
    const [unit] = await addUnits(db, [separateUnit('pack')])
    const wireless_unit = unit?.id ?? 0
    const assignment = await db.transaction(async (tx) => {
      const { id: performer } = await insertPerformer(tx, { name: 'Ada', notes: '', picture: null })
      return insertAssignment(tx, {
        performer,
        wireless_unit,
        role: null,
        is_active: true,
        started_at: 1,
        ended_at: null,
      })
    })
    expect(await findActiveAssignment(db.read, wireless_unit)).toEqual(assignment)
    const { id: _, ...copy } = assignment
    await expect(db.transaction((tx) => insertAssignment(tx, copy))).rejects.toThrow()
    await db.transaction((tx) => saveAssignment(tx, { ...assignment, is_active: false, ended_at: 2 }))
    await db.transaction((tx) => insertAssignment(tx, copy))
    expect(await listAssignments(db.read, { is_active: false })).toMatchObject([{ ended_at: 2 }])
    expect(await listAssignments(db.read, { manufacturer: 'shure', wireless_unit })).toHaveLength(2)
    expect(await listAssignments(db.read, { manufacturer: 'sennheiser' })).toEqual([])
  })

  it('moves channels at once, which may swap slots, and the next read lists only receivers with moved channels', async () => {
    const db = await openStore(engine)
    const numbers = Array.from({ length: 120 }, (_, index) => index + 1)
    const receivers = await insertDrafts(db, [
      draft(1, { channelNumbers: numbers }),
      draft(2, { channelNumbers: numbers }),
      draft(3, { channelNumbers: [1] }),
    ])
    const [first, second] = receivers
    const exchange = [first, second].flatMap((receiver, index) => {
      const slots = receivers[1 - index]?.channels.map(({ slot }) => slot) ?? []
      return (receiver?.channels ?? []).map(({ id }, at) => ({ id, slot: slots[at] ?? 0 }))
    })
    const revision = await db.transaction(async (tx) => {
      const next = await nextRevision(tx)
      await placeChannels(tx, next, exchange)
      return next
    })
    const changed = await listReceivers(db.read, revision - 1)
    expect(changed.map(({ channels }) => channels.map(({ slot }) => slot))).toEqual(
      [second, first].map((receiver) => receiver?.channels.map(({ slot }) => slot)),
    )
  })

  it('stores groups', async () => {
    const db = await openStore(engine)
    const group = { title: 'Choir', slots: [3, 1], hide_charts: true, zone: null, manufacturer: 'shure' }
    const created = await db.transaction((tx) => insertGroup(tx, group))
    expect(created).toEqual({ ...group, id: created.id, version: expect.any(Number) })
    expect(await db.transaction((tx) => saveGroup(tx, created))).toEqual(created)
    const changed = await db.transaction((tx) => saveGroup(tx, { ...created, slots: [], manufacturer: null }))
    expect(changed).toEqual({ ...created, slots: [], manufacturer: null, version: changed.version })
    expect(changed.version).toBeGreaterThan(created.version)
    expect(await findGroup(db.read, created.id)).toEqual(changed)
    await db.transaction((tx) => deleteGroup(tx, created.id))
    expect(await listGroups(db.read)).toEqual([])
  })

  it('is deleted with its manufacturer, which cannot be deleted while it has receivers', async () => {
    const db = await openStore(engine)
    await addUnits(db, [separateUnit('pack')])
    expect(await hasReceivers(db.read, 'shure')).toBe(false)
    await db.transaction((tx) => deleteManufacturer(tx, 'shure', 1))
    expect(await listUnits(db.read)).toEqual([])
    await insertDrafts(db, [draft(1, { manufacturer: 'sennheiser' })])
    expect(await hasReceivers(db.read, 'sennheiser')).toBe(true)
    await expect(db.transaction((tx) => deleteManufacturer(tx, 'sennheiser', 1))).rejects.toThrow()
  })
})
