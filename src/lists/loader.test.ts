/** When a running service reads its lists, on both engines. */

import type { KyselyPlugin } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { configFor, startApp, startShure, type TestApp, until } from '../../test/support/app.ts'
import { eventually } from '../../test/support/eventually.ts'
import { engines, withDatabase } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { discoveredRetentionMs } from '../domain/equipment/discovery.ts'
import { UnitStore } from '../ingest/unit-store.ts'
import { now } from '../platform/clock.ts'
import { insertSilence } from '../storage/alerts.ts'
import { countedTables } from '../storage/list-changes.ts'
import { insertLocation, saveDiscovered } from '../storage/locations.ts'
import { listSealedManufacturers, saveSetting } from '../storage/settings.ts'
import { Cast } from './cast.ts'
import { StoredLists } from './stored-lists.ts'

const listTables: readonly string[] = [...countedTables.lists.tables, ...countedTables.cast.tables]

/** Records which tables the service reads, apart from joins. */
function watchReads({ service }: TestApp) {
  const select = vi.spyOn(service.db.read, 'selectFrom')
  const tables = () => select.mock.calls.map(([table]) => String(table))
  return {
    ofLists: () => tables().filter((table) => listTables.includes(table)),
    count: (table: string) => tables().filter((read) => read === table).length,
    forget: () => select.mockClear(),
  }
}

const retired = { serial_number: null, mac_address: null, model: null, address: null } as const

describe.concurrent.each(engines)('a service (%s)', (engine) => {
  it('reads lists only after a process has changed one, even if not through an action, or after time has', async () => {
    const shure = await startShure()
    const first = await startApp({ manufacturers: [configFor(shure)], engine })
    await until('the receivers are stored', async () => (await first.receivers()).length === 2)
    const second = await startApp({ databaseUrl: first.databaseUrl, dataDir: first.dataDir, servesOnly: true })
    const services = [first, second]
    const lists = services.map(watchReads)
    /** Waits until both have checked the database several times. */
    const checked = async () => {
      const before = lists.map(({ count }) => count('meta'))
      await until('both check', () => lists.every(({ count }, index) => count('meta') > Number(before[index]) + 20))
    }
    const polls = shure.requests.count()
    // The machine's clock may be set back, which also causes a load, but not twice in a minute.
    await eventually(async () => {
      for (const { forget } of lists) forget()
      await checked()
      return lists.map(({ ofLists }) => ofLists())
    }).toEqual([[], []])
    expect(shure.requests.count()).toBeGreaterThan(polls)

    const current = () => services.map(({ service }) => service.lists.current)
    // No action of the first service asks to load what is committed here.
    const hall = {
      name: 'Hall',
      description: '',
      parent: null,
      zone: null,
      country: null,
      latitude: null,
      longitude: null,
    }
    await first.service.db.transaction((tx) => insertLocation(tx, hall))
    await until('both know the location', () => current().every(({ locations }) => locations.length === 1))
    const changed = { manufacturer: null, group: null, key: 'MINUTES_LOW', value: '77' }
    await withDatabase(first, (db) => db.transaction((tx) => saveSetting(tx, changed)))
    const minutes = () => services.map(({ service }) => service.settings.get('shure').MINUTES_LOW)
    await until('both apply the setting', () => minutes().every((value) => value === 77))

    // Both must have read it before it ends, even on a busy machine.
    const soon = now() + 30_000
    const silence = { channels: [], groups: [], kinds: ['battery_low'], until: soon, reason: '', by: 'Ada' } as const
    const device = { manufacturer: 'shure', api_device_id: 'd9', ip: '192.0.2.9', device_type: 'ulxd', channels: 1 }
    const seen = { discovered_at: 1, last_seen: soon - discoveredRetentionMs }
    await withDatabase(first, (db) =>
      db.transaction(async (tx) => {
        await insertSilence(tx, { ...silence, created_at: now() })
        await saveDiscovered(tx, [{ ...device, ...retired, ...seen }])
      }),
    )
    const have = (count: number) =>
      current().every(({ silences, discovered }) => silences.length === count && discovered.length === count)
    await until('both know the silence and the device', () => have(1))
    await until('both have ended', () => have(0))
    const reads = lists.map(({ ofLists }) => ofLists().length)
    await checked()
    expect(lists.map(({ ofLists }) => ofLists().length)).toEqual(reads)
  })
})

describe('the lists', () => {
  it('are current until the first silence ends, and not after the clock was set back', async () => {
    const db = await openStore('sqlite')
    const lists = new StoredLists()
    expect(lists.areCurrent(now())).toBe(false)
    const end = now() + 60_000
    const silence = { channels: [], groups: [], kinds: [], reason: '', by: 'Ada', created_at: now() } as const
    await db.transaction((tx) => insertSilence(tx, { ...silence, until: end }))
    await lists.load(db.read)
    expect([end - 1, end, now() - 3_600_000].map((time) => lists.areCurrent(time))).toEqual([true, false, false])
  })

  it('and the manufacturers are read from the tables whose changes are counted', async () => {
    const db = await openStore('sqlite')
    const tables = new Set<string>()
    const recorder: KyselyPlugin = {
      transformQuery({ node }) {
        for (const [, name] of JSON.stringify(node).matchAll(/"kind":"TableNode".*?"name":"(\w+)"/g))
          tables.add(`${name}`)
        if (node.kind === 'RawNode') tables.add(node.sqlFragments.join('?'))
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const reader = db.read.withPlugin(recorder)
    await new StoredLists().load(reader)
    await new Cast(new UnitStore(), '').read(reader)
    await listSealedManufacturers(reader)
    expect([...tables].sort()).toEqual([...listTables, 'meta'].sort())
  })
})
