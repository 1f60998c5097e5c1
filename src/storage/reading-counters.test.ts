/** The counters of readings: transactions of different manufacturers do not wait for each other. */

import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { until } from '../../test/support/app.ts'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { engines } from '../../test/support/store/databases.ts'
import { draft } from '../../test/support/store/draft.ts'
import { insertDrafts, openStore } from '../../test/support/store/helpers.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { openDatabase } from './database.ts'
import { listReceivers, saveReadings } from './receivers.ts'
import { currentRevisions, nextReadingRevision, nextRevision, nextRevisions } from './revision.ts'

const codes = ['shure', 'sennheiser'] as const

/** Opens a database with a receiver of each manufacturer, and a second connection pool, as another process has. */
async function openTwo(engine: (typeof engines)[number]) {
  const db = await openStore(engine)
  const other = await openDatabase({ url: db.url })
  onTestEnd(() => other.close())
  const [shure, sennheiser] = await insertDrafts(
    db,
    codes.map((manufacturer, number) => draft(number, { manufacturer })),
  )
  if (shure === undefined || sennheiser === undefined) throw new Error('nothing was inserted')
  return { db, other, shure, sennheiser }
}

function withLevel(receiver: Receiver, rf_level: number): Receiver {
  return { ...receiver, channels: receiver.channels.map((channel) => ({ ...channel, rf_level })) }
}

const levelsOf = (receivers: readonly Receiver[]) => receivers.map(({ channels }) => channels[0]?.rf_level)

describe.each(engines)('readings on %s', (engine) => {
  it('are listed by manufacturer, and do not count as other changes', async () => {
    const { db, shure, sennheiser } = await openTwo(engine)
    const before = await currentRevisions(db.read)
    expect([...before.readings].sort()).toEqual([
      ['sennheiser', 0],
      ['shure', 0],
    ])
    for (const level of [-50, -51]) {
      await db.transaction(async (tx) => {
        const { readings, revision } = await nextReadingRevision(tx, 'shure')
        expect(revision).toBe(before.revision)
        await saveReadings(tx, readings, [withLevel(shure, level)], 'reading_revision')
      })
    }
    expect((await currentRevisions(db.read)).readings.get('shure')).toBe(2)
    expect(levelsOf(await listReceivers(db.read, { manufacturer: 'shure', readings: 1 }))).toEqual([-51])
    expect(await listReceivers(db.read, { manufacturer: 'shure', readings: 2 })).toEqual([])
    expect(await listReceivers(db.read, { manufacturer: 'sennheiser', readings: 0 })).toEqual([])
    expect(await listReceivers(db.read, before.revision)).toEqual([])
    expect(await listReceivers(db.read)).toEqual([withLevel(shure, -51), sennheiser])
  })
})

describe('transactions on PostgreSQL', () => {
  it('of two manufacturers do not wait for each other, and both changes are found in the order of their commits', async () => {
    const { db, other, shure, sennheiser } = await openTwo('postgres')
    const since = (manufacturer: string) => listReceivers(db.read, { manufacturer, readings: 0 })
    await db.transaction(async (tx) => {
      const { readings } = await nextReadingRevision(tx, 'shure')
      await saveReadings(tx, readings, [withLevel(shure, -60)], 'reading_revision')
      await other.transaction(async (second) => {
        const next = await nextReadingRevision(second, 'sennheiser')
        await saveReadings(second, next.readings, [withLevel(sennheiser, -61)], 'reading_revision')
      })
      expect([...(await currentRevisions(db.read)).readings].sort()).toEqual([
        ['sennheiser', 1],
        ['shure', 0],
      ])
      expect([await since('shure'), levelsOf(await since('sennheiser'))]).toEqual([[], [-61]])
    })
    expect((await currentRevisions(db.read)).readings.get('shure')).toBe(1)
    expect(levelsOf(await since('shure'))).toEqual([-60])
  })

  it('on anything else wait for those on readings, and the other way round', async () => {
    const { db, other } = await openTwo('postgres')
    const isWaiting = async () => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`.execute(db.read)
      return Number(rows[0]?.count) > 0
    }
    const order: unknown[] = []
    let waiting: Promise<void> = Promise.resolve()
    await db.transaction(async (tx) => {
      await nextReadingRevision(tx, 'shure')
      waiting = other.transaction(async (second) => {
        const { readings } = await nextRevisions(second)
        order.push(readings.get('shure'))
      })
      await until('the other transaction waits', isWaiting)
      order.push('readings')
    })
    await waiting
    await db.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      waiting = other.transaction(async (second) => {
        order.push((await nextReadingRevision(second, 'sennheiser')).revision - revision)
      })
      await until('the other transaction waits', isWaiting)
      order.push('all')
    })
    await waiting
    expect(order).toEqual(['readings', 1, 'all', 0])
  })

  it('that change receivers of several manufacturers in any order do not lead to a deadlock', async () => {
    const { db, other, shure, sennheiser } = await openTwo('postgres')
    const saveOne = (store: typeof other, receiver: Receiver, level: number) =>
      store.transaction(async (tx) => {
        const { readings } = await nextReadingRevision(tx, receiver.manufacturer)
        await saveReadings(tx, readings, [withLevel(receiver, level)], 'reading_revision')
      })
    const saveAll = (store: typeof other, receivers: readonly Receiver[], level: number) =>
      store.transaction(async (tx) => {
        const revision = await nextRevision(tx)
        for (const receiver of receivers) await saveReadings(tx, revision, [withLevel(receiver, level)])
      })
    const rounds = Array.from({ length: 10 }, (_, round) => -round)
    await Promise.all([
      ...rounds.map((level) => saveOne(db, shure, level)),
      ...rounds.map((level) => saveOne(other, sennheiser, level)),
      ...rounds.map((level) => saveAll(db, [shure, sennheiser], level)),
      ...rounds.map((level) => saveAll(other, [sennheiser, shure], level)),
    ])
    const { revision, readings } = await currentRevisions(db.read)
    expect([revision, readings.get('shure'), readings.get('sennheiser')]).toEqual([21, 10, 10])
  })
})
