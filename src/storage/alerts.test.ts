import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { draft } from '../../test/support/store/draft.ts'
import { insertDrafts, openStore } from '../../test/support/store/helpers.ts'
import { type AlertCause, noData, noResponse, type SnoozeEnd, toFirst } from '../domain/alerts/alert.ts'
import type { AlertFilter } from '../domain/alerts/alert-filter.ts'
import { applyConnectionEvent, newConnection } from '../domain/equipment/connection.ts'
import {
  acknowledgeAlert,
  clearAlert,
  countAlerts,
  deleteSilence,
  endSnooze,
  insertSilence,
  listAlerts,
  listAlertsSince,
  listOpenAlerts,
  listSilences,
  pruneAlerts,
  raiseAlert,
  snoozeAlert,
  unacknowledgeAlert,
  updateAlert,
} from './alerts.ts'
import {
  countConnections,
  findConnections,
  listConnections,
  openSiteConnection,
  overrideConnections,
  saveConnections,
  saveLastMessages,
} from './connections.ts'
import type { Tx } from './database.ts'
import { currentRevision, nextRevision } from './revision.ts'
import { deleteManufacturer } from './settings.ts'
import { completePolls, findPollOutcome, listRequestedPolls, requestPoll } from './sources.ts'

function alertCause(number: number, fields: Partial<AlertCause> = {}): AlertCause {
  return {
    subject: `battery:${number}`,
    kind: 'battery_low',
    severity: 'warning',
    message: `Battery ${number}`,
    manufacturer: 'shure',
    receiver_id: null,
    channel_id: number,
    data: { ...noData, name: `Vox ${number}`, battery: 18 },
    ...fields,
  }
}

const all = { limit: 100, offset: 0 }

describe.each(engines)('alerts on %s', (engine) => {
  const opened = async () => {
    const db = await openStore(engine)
    const write = <T>(work: (tx: Tx, revision: number) => Promise<T>) =>
      db.transaction(async (tx) => work(tx, await nextRevision(tx, 'alerts')))
    const raise = (number: number, at: number, fields?: Partial<AlertCause>) =>
      write((tx, revision) => raiseAlert(tx, revision, alertCause(number, fields), at))
    return { db, write, raise }
  }

  test('have one open record per subject, get worse, and are cleared once', async () => {
    const { db, write, raise } = await opened()
    const first = await raise(1, 1000)
    expect(first).toEqual({
      ...alertCause(1),
      ...noResponse,
      acknowledgements: [],
      id: 1,
      state: 'raised',
      raised_at: 1000,
      cleared_at: null,
      first: toFirst(alertCause(1), 1000),
      site: null,
    })
    if (first === null) throw new Error('not raised')
    expect(await raise(1, 2000)).toBeNull()
    const worse = { cause: alertCause(1, { kind: 'battery_critical', severity: 'critical' }), isWorse: true }
    const escalate = () => write((tx, revision) => updateAlert(tx, revision, first, worse))
    expect(await escalate()).toMatchObject({ id: 1, ...worse.cause, first: first.first })
    expect(await escalate()).toBeNull()
    const clear = () => write((tx, revision) => clearAlert(tx, revision, 1, { message: 'Full', at: 3000 }))
    expect(await clear()).toMatchObject({ id: 1, cleared_at: 3000, state: 'cleared' })
    expect(await clear()).toBeNull()
    expect((await raise(1, 4000))?.id).toBeGreaterThan(1)
    expect((await listOpenAlerts(db.read)).map(({ raised_at }) => raised_at)).toEqual([4000])
    expect((await listAlertsSince(db.read, 4)).map(({ alert, revision }) => [alert.id, revision])).toEqual([
      [1, 5],
      [expect.any(Number), 7],
    ])
    expect(await currentRevision(db.read)).toBe(0)
  })

  // Conformance: C-21.92.
  test('keep the first acknowledgement until they get worse', async () => {
    const { write, raise } = await opened()
    const alert = await raise(1, 1000)
    if (alert === null) throw new Error('not raised')
    const acknowledge = (by: string) =>
      write((tx, revision) => acknowledgeAlert(tx, revision, alert, { by, at: 2000, note: 'seen' }))
    const entry = { by: 'ann', at: 2000, note: 'seen', severity: alert.severity }
    const response = { acknowledged_by: 'ann', acknowledged_at: 2000, note: 'seen' }
    const acknowledged = { state: 'acknowledged', ...response, acknowledgements: [entry] }
    expect(await acknowledge('ann')).toMatchObject(acknowledged)
    expect(await acknowledge('bob')).toBeNull()
    const snooze = { by: 'bob', at: 3000, until: 'cleared' } as const
    expect(await write((tx, revision) => snoozeAlert(tx, revision, alert.id, snooze))).toBeNull()
    const milder = { cause: alertCause(1, { severity: 'info' }), isWorse: false }
    expect(await write((tx, revision) => updateAlert(tx, revision, alert, milder))).toMatchObject(acknowledged)
    const worse = { cause: alertCause(1, { severity: 'critical' }), isWorse: true }
    const before = { ...alert, severity: 'info', acknowledgements: [entry] } as const
    const again = await write((tx, revision) => updateAlert(tx, revision, before, worse))
    if (again === null) throw new Error('not updated')
    expect(again).toMatchObject({ ...noResponse, state: 'raised', acknowledgements: [entry] })
    const second = { by: 'bob', at: 5000, note: null }
    const both = [entry, { ...second, severity: 'critical' }]
    const twice = await write((tx, revision) => acknowledgeAlert(tx, revision, again, second))
    if (twice === null) throw new Error('not acknowledged')
    expect(twice).toMatchObject({ state: 'acknowledged', acknowledged_by: 'bob', acknowledgements: both })
    const open = await write((tx, revision) => unacknowledgeAlert(tx, revision, twice))
    expect(open).toMatchObject({ ...noResponse, state: 'raised', acknowledgements: both })
    expect(await write((tx, revision) => unacknowledgeAlert(tx, revision, twice))).toBeNull()
  })

  test('are snoozed until a time or an event, and the newest snooze applies', async () => {
    const { write, raise } = await opened()
    const alert = await raise(1, 1000)
    if (alert === null) throw new Error('not raised')
    const snooze = (until: SnoozeEnd) =>
      write((tx, revision) => snoozeAlert(tx, revision, alert.id, { by: 'ann', at: 2000, until }))
    const first = await snooze(1_900_000_000_000)
    expect(first).toMatchObject({ state: 'snoozed', snoozed_by: 'ann', snoozed_until: 1_900_000_000_000 })
    if (first === null) throw new Error('not snoozed')
    expect(await snooze('show_end')).toMatchObject({ snoozed_until: 'show_end' })
    expect(await write((tx, revision) => endSnooze(tx, revision, first))).toBeNull()
    const current = { id: alert.id, snoozed_until: 'show_end' } as const
    expect(await write((tx, revision) => endSnooze(tx, revision, current))).toMatchObject({
      ...noResponse,
      state: 'raised',
    })
  })

  // Conformance: C-11.13.
  test('are filtered, ordered and counted by the database', async () => {
    const { db, write, raise } = await opened()
    const first = await raise(1, 3000)
    if (first === null) throw new Error('not raised')
    await raise(2, 1000, { manufacturer: 'sennheiser' })
    await raise(3, 2000, { kind: 'stale', receiver_id: 7 })
    await raise(4, 2000, { manufacturer: null, kind: 'recording_stopped', receiver_id: 7, channel_id: null })
    await write((tx, revision) => acknowledgeAlert(tx, revision, first, { by: 'ann', at: 1, note: null }))
    await write((tx, revision) => snoozeAlert(tx, revision, 2, { by: 'ann', at: 1, until: 'cleared' }))
    await write((tx, revision) => clearAlert(tx, revision, 3, { message: 'over', at: 9000 }))
    const list = async (filter: AlertFilter, part = all) =>
      (await listAlerts(db.read, filter, part)).map(({ id }) => id)
    expect(await list({})).toEqual([1, 4, 3, 2])
    expect(await list({}, { limit: 2, offset: 1 })).toEqual([4, 3])
    expect(await list({ state: 'raised' })).toEqual([4])
    expect(await list({ state: 'open' })).toEqual([4, 2])
    expect(await list({ state: 'snoozed' })).toEqual([2])
    expect(await list({ state: 'acknowledged' })).toEqual([1])
    expect(await list({ state: 'cleared' })).toEqual([3])
    expect(await list({ manufacturer: 'sennheiser' })).toEqual([2])
    expect(await list({ kind: 'battery_low' })).toEqual([1, 2])
    expect(await list({ channel: 3 })).toEqual([3])
    expect(await list({ receiver: 7 })).toEqual([4, 3])
    expect(await list({ from: 2000, to: 2000 })).toEqual([4, 3])
    expect(await countAlerts(db.read, { from: 2000 })).toBe(3)
    expect((await listAlerts(db.read, { kind: 'recording_stopped' }, all))[0]?.manufacturer).toBeNull()
  })

  test('of a version without data are read', async () => {
    const { db } = await opened()
    const columns = 'subject, kind, severity, message, manufacturer, channel_id, raised_at, revision'
    const values = "'battery:1', 'battery_low', 'warning', 'Vox: battery at 9%', 'shure', 1, 1000, 1"
    await db.transaction((tx) => sql.raw(`insert into alerts (${columns}) values (${values})`).execute(tx.query))
    expect(await listOpenAlerts(db.read)).toMatchObject([{ ...noResponse, state: 'raised', data: noData }])
  })

  test('raised by several processes at once are stored once', async () => {
    const { raise } = await opened()
    const raised = await Promise.all([1, 2, 3].map(() => raise(1, 1000)))
    expect(raised.filter((alert) => alert !== null)).toHaveLength(1)
  })

  // Conformance: C-12.48.
  test('are deleted by age once cleared; open alerts stay', async () => {
    const { db } = await opened()
    await db.transaction(async (tx) => {
      for (let index = 1; index <= 6; index += 1) {
        const alert = await raiseAlert(tx, index, alertCause(index), index)
        if (index > 1 && alert !== null) await clearAlert(tx, index, alert.id, { message: 'well', at: index * 1000 })
      }
      await pruneAlerts(tx, 3000)
    })
    expect((await listAlerts(db.read, {}, all)).map(({ channel_id }) => channel_id)).toEqual([6, 5, 4, 3, 1])
  })
})

describe.each(engines)('silences on %s', (engine) => {
  test('are listed until they end or are deleted', async () => {
    const db = await openStore(engine)
    const silence = {
      channels: [1, 2],
      groups: [],
      kinds: ['stale' as const],
      until: 2000,
      reason: 'changeover',
      by: 'ann',
      created_at: 1000,
    }
    const first = await db.transaction((tx) => insertSilence(tx, silence))
    expect(await listSilences(db.read, 1999)).toEqual([first])
    expect(first).toEqual({ ...silence, id: first.id, version: expect.any(Number) })
    expect(await listSilences(db.read, 2000)).toEqual([])
    expect(await db.transaction((tx) => deleteSilence(tx, first.id, 2000))).toBe(false)
    expect(await db.transaction((tx) => deleteSilence(tx, first.id, 1999))).toBe(true)
    expect(await listSilences(db.read, 0)).toEqual([])
    await db.transaction((tx) => insertSilence(tx, silence))
    await db.transaction((tx) => insertSilence(tx, { ...silence, created_at: 2000, until: 3000 }))
    expect((await listSilences(db.read, 0)).map(({ until }) => until)).toEqual([3000])
  })
})

describe.each(engines)('connections on %s', (engine) => {
  test('that a user stopped stay stopped whatever a subscription reports, until they are started', async () => {
    const db = await openStore(engine)
    const receivers = await insertDrafts(db, [draft(1), draft(2)])
    const connections = receivers.map(({ id }) => newConnection(id, 'shure', 'shure:http://x', 'websocket'))
    const [first, other] = connections
    if (first === undefined || other === undefined) throw new Error('no connections')
    await db.transaction((tx) => saveConnections(tx, 1, connections))
    const stopped = applyConnectionEvent(first, { type: 'stopped', at: 5 })
    await db.transaction((tx) => overrideConnections(tx, 2, [stopped]))
    const opened = [first, other].map((before) => applyConnectionEvent(before, { type: 'opened', at: 6 }))
    await db.transaction((tx) => saveConnections(tx, 3, opened))
    expect((await listConnections(db.read)).map(({ status }) => status)).toEqual(['stopped', 'connected'])
    expect((await listConnections(db.read, 2)).map(({ receiver }) => receiver)).toEqual([other.receiver])
    await db.transaction((tx) =>
      overrideConnections(tx, 4, [applyConnectionEvent(stopped, { type: 'started', at: 7 })]),
    )
    await db.transaction((tx) => saveConnections(tx, 5, [stopped]))
    const lastMessages = [[first.id, 99]] as const
    await db.transaction((tx) => saveLastMessages(tx, lastMessages))
    expect(await findConnections(db.read, [first.id, 4711])).toMatchObject([
      { receiver: first.receiver, status: 'disconnected', last_message_at: 99 },
    ])
  })

  // Conformance: C-18.46.
  test('of a followed installation are one for each record, also when its address changes, and end with it', async () => {
    const db = await openStore(engine)
    const open = (source: string) =>
      db.transaction((tx) => openSiteConnection(tx, 1, { manufacturer: 'shure', source, transport: 'websocket' }))
    const first = await open('shure:http://x')
    expect(first).toMatchObject({ receiver: null, source: 'shure:http://x', status: 'disconnected' })
    expect(first.id).toBeLessThan(0)
    const opened = applyConnectionEvent(first, { type: 'opened', at: 5 })
    await db.transaction((tx) => saveConnections(tx, 2, [opened]))
    await db.transaction((tx) => saveLastMessages(tx, [[first.id, 99]]))
    expect(await listConnections(db.read, 1)).toEqual([{ ...opened, last_message_at: 99 }])
    expect(await countConnections(db.read)).toEqual(new Map([['connected', 1]]))
    await db.transaction((tx) => overrideConnections(tx, 3, [applyConnectionEvent(opened, { type: 'stopped', at: 6 })]))
    await db.transaction((tx) => saveConnections(tx, 4, [opened]))
    expect(await findConnections(db.read, [first.id])).toMatchObject([{ status: 'stopped' }])
    const source = 'shure:http://y'
    expect(await open(source)).toMatchObject({ id: first.id, source, status: 'stopped' })
    await db.transaction((tx) => deleteManufacturer(tx, 'shure', 5))
    expect(await listConnections(db.read)).toEqual([])
  })
})

describe.each(engines)('requested polls on %s', (engine) => {
  test('are marked as done up to the number that was read', async () => {
    const db = await openStore(engine)
    const request = () => db.transaction((tx) => requestPoll(tx, 'shure:http://x'))
    expect([await request(), await request()]).toEqual([1, 2])
    expect(await listRequestedPolls(db.read)).toEqual([{ source: 'shure:http://x', requestNumber: 2 }])
    expect(await findPollOutcome(db.read, 'shure:http://x', 1)).toBeUndefined()
    await db.transaction((tx) => completePolls(tx, 'shure:http://x', 1, { devices: 3 }))
    expect(await findPollOutcome(db.read, 'shure:http://x', 1)).toEqual({ devices: 3 })
    expect(await findPollOutcome(db.read, 'shure:http://x', 2)).toBeUndefined()
    await db.transaction((tx) => completePolls(tx, 'shure:http://x', 2, { devices: 4 }))
    expect(await listRequestedPolls(db.read)).toEqual([])
    expect(await findPollOutcome(db.read, 'shure:http://x', 1)).toEqual({ devices: 4 })
  })
})
