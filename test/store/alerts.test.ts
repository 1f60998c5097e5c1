import { describe, expect, test } from 'vitest'
import type { AlertCause } from '../../src/domain/alerts/alert.ts'
import { applyConnectionEvent, newConnection } from '../../src/domain/equipment/connection.ts'
import {
  clearAlert,
  listAlerts,
  listAlertsSince,
  pruneAlerts,
  raiseAlert,
  worsenAlert,
} from '../../src/storage/alerts.ts'
import {
  findConnections,
  listConnections,
  overrideConnections,
  saveConnections,
  saveLastMessages,
} from '../../src/storage/connections.ts'
import { completePolls, findPollOutcome, listRequestedPolls, requestPoll } from '../../src/storage/polls.ts'
import { currentRevision, nextRevision } from '../../src/storage/revision.ts'
import { engines } from '../databases.ts'
import { draft } from './draft.ts'
import { insertDrafts, openStore } from './helpers.ts'

function alertCause(number: number, fields: Partial<AlertCause> = {}): AlertCause {
  return {
    subject: `battery:${number}`,
    kind: 'battery_low',
    severity: 'warning',
    message: `Battery ${number}`,
    manufacturer: 'shure',
    receiver_id: null,
    channel_id: number,
    ...fields,
  }
}

describe.each(engines)('alerts on %s', (engine) => {
  test('have one open record per subject, escalate, and are cleared once', async () => {
    const db = await openStore(engine)
    const raiseOnce = (number: number, index: number, fields?: Partial<AlertCause>) =>
      db.transaction(async (tx) => raiseAlert(tx, await nextRevision(tx, 'alerts'), alertCause(number, fields), index))
    const first = await raiseOnce(1, 1000)
    expect(first).toEqual({ ...alertCause(1), id: 1, state: 'raised', raised_at: 1000, cleared_at: null })
    const id = first?.id ?? 0
    expect(await raiseOnce(1, 2000)).toBeNull()
    const escalation = { severity: 'critical', message: 'Empty' } as const
    expect(await db.transaction((tx) => worsenAlert(tx, 8, id, escalation))).toMatchObject({ id, ...escalation })
    expect(await db.transaction((tx) => worsenAlert(tx, 9, id, escalation))).toBeNull()
    const cleared = { message: 'Full', at: 3000 }
    expect(await db.transaction((tx) => clearAlert(tx, 10, id, cleared))).toMatchObject({ id, cleared_at: 3000 })
    expect(await db.transaction((tx) => clearAlert(tx, 11, id, cleared))).toBeNull()
    expect((await raiseOnce(1, 4000))?.id).toBeGreaterThan(id)
    await raiseOnce(2, 5000, { manufacturer: 'sennheiser' })
    expect((await listAlerts(db.read)).map(({ state }) => state)).toEqual(['cleared', 'raised', 'raised'])
    expect(await listAlerts(db.read, { state: 'raised', manufacturer: 'shure' })).toHaveLength(1)
    expect((await listAlertsSince(db.read, 9)).map(({ alert, revision }) => [alert.id, revision])).toEqual([[id, 10]])
    expect(await currentRevision(db.read, 'alerts')).toBe(4)
    expect(await currentRevision(db.read)).toBe(0)
  })

  test('raised by several processes at once are stored once', async () => {
    const db = await openStore(engine)
    const raised = await Promise.all(
      [1, 2, 3].map(() =>
        db.transaction(async (tx) => raiseAlert(tx, await nextRevision(tx, 'alerts'), alertCause(1), 1000)),
      ),
    )
    expect(raised.filter((alert) => alert !== null)).toHaveLength(1)
  })

  test('are deleted by age and number once cleared; open alerts stay', async () => {
    const db = await openStore(engine)
    await db.transaction(async (tx) => {
      for (let index = 1; index <= 6; index += 1) {
        const alert = await raiseAlert(tx, index, alertCause(index), index)
        if (index > 1 && alert !== null) await clearAlert(tx, index, alert.id, { message: 'well', at: index * 1000 })
      }
      await pruneAlerts(tx, 3000, 2)
    })
    expect((await listAlerts(db.read)).map(({ channel_id }) => channel_id)).toEqual([1, 5, 6])
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
    const lastMessages = [[first.receiver, 99]] as const
    await db.transaction((tx) => saveLastMessages(tx, lastMessages))
    expect(await findConnections(db.read, [first.receiver, 4711])).toMatchObject([
      { receiver: first.receiver, status: 'disconnected', last_message_at: 99 },
    ])
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
