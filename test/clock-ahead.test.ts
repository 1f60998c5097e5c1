/**
 * Times that were stored while the system's clock was ahead, and offline detection that does not depend on that clock.
 */

import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import type { Tx } from '../src/storage/database.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { device, respondJson, startSystem } from './support/faults/system.ts'
import { receiversInMemory } from './support/internals.ts'
import { engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const hour = 3_600_000

async function startService(engine: (typeof engines)[number]) {
  const system = await startSystem(respondJson({ devices: [device(1)] }))
  const manufacturers = [system.entry('shure', { poll_interval: 3600 })]
  const app = await startApp({ engine, manufacturers })
  const receiver = await until('the device is known', async () => (await app.receivers())[0])
  return { app, system, manufacturers, id: receiver.id }
}

const lastSeen = async (app: TestApp) => Date.parse((await app.summaries())[0]?.last_seen ?? '')

async function storedLastSeen(app: TestApp) {
  const rows = await withDatabase(app, (db) => db.read.selectFrom('receivers').select('last_seen').execute())
  return rows[0]?.last_seen ?? Number.NaN
}

/** Stores times as a process does whose clock is an hour ahead. */
const changeStored = (app: TestApp, change: (tx: Tx) => Promise<unknown>) =>
  withDatabase(app, (db) => db.transaction(change))

// Reliability: T1.
describe.each(engines)('a stored time in the future (%s)', (engine) => {
  it('is corrected while the service runs, in memory and in the database, and activates no receiver', async () => {
    const { app, id } = await startService(engine)
    const receiverStore = receiversInMemory(app)
    const receivedAt = receiverStore.lastReceivedAt(id)
    const ahead = { id, last_seen: now() + hour }
    const stored = receiverStore.get(id)
    if (stored === undefined) throw new Error('it is not in memory')
    await changeStored(app, ({ query }) =>
      query.updateTable('receivers').set({ last_seen: ahead.last_seen }).where('id', '=', id).execute(),
    )
    receiverStore.put({ ...stored, last_seen: stored.last_seen - 1 })
    receiverStore.put({ ...stored, ...ahead })
    const receivedAgainAt = receiverStore.lastReceivedAt(id)
    expect(receivedAgainAt).toBeGreaterThan(receivedAt)
    await until('memory is corrected', async () => (await lastSeen(app)) <= now())
    await until('the database is corrected', async () => (await storedLastSeen(app)) <= now())
    expect(receiverStore.lastReceivedAt(id)).toBe(receivedAgainAt)
  })

  it('is not restored from the database at the next start', async () => {
    const { app, manufacturers, id } = await startService(engine)
    await changeStored(app, ({ query }) =>
      query
        .updateTable('receivers')
        .set({ last_seen: now() + hour })
        .where('id', '=', id)
        .execute(),
    )
    const headers = await tokenHeaders(app, 'admin')
    const connections = async () => (await app.get('/api/admin/realtime-connections/', headers)).json
    await until('its connection is known', async () => (await connections()).length === 1)
    await changeStored(app, ({ query }) =>
      query
        .updateTable('connections')
        .set({ connected_at: now() + hour, last_message_at: now() + hour })
        .execute(),
    )
    await changeStored(app, ({ query }) =>
      query
        .insertInto('alerts')
        .values({
          ...{ subject: 'x', kind: 'battery_low', severity: 'warning', message: 'x', manufacturer: 'shure' },
          ...{ receiver_id: id, channel_id: null, raised_at: now() + hour, cleared_at: null, revision: 0 },
        })
        .execute(),
    )
    const dataDir = app.dataDir
    await app.close()
    const next = await startApp({ databaseUrl: app.databaseUrl, dataDir, manufacturers, servesOnly: true })
    expect(await lastSeen(next)).toBeLessThanOrEqual(now())
    const bodies = [...(await next.get('/api/alerts/')).json, (await next.get(`/api/receivers/${id}/`)).json]
    const times = JSON.stringify(bodies).match(/\d{4}-\d\d-\d\dT[^"]*Z/g) ?? []
    expect(times.length).toBeGreaterThan(1)
    for (const time of times) expect(Date.parse(time)).toBeLessThanOrEqual(now())
  })
})
