/** `PUT /api/slots/`: moves of several channels and placeholders at once. */

import { describe, expect, it } from 'vitest'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'
import { createTestDatabase, type Engine, engines } from './support/store/databases.ts'

interface Moved {
  readonly channel_id?: number
  readonly placeholder_id?: number
  readonly slot: number
}

function putSlots(app: TestApp, moves: readonly Moved[]) {
  const headers = { 'content-type': 'application/json' }
  return app.send('PUT', '/api/slots/', { headers, body: JSON.stringify({ moves }) })
}

/** Starts a service with four channels in the slots 1 to 4. */
async function startWall(engine: Engine) {
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const app = await startApp({
    databaseUrl: database.url,
    manufacturers: [configFor(withoutPush(await startShure()), { poll_interval: 3600 })],
  })
  const ids = await until('all channels are known', async () => {
    const channels = (await app.receivers()).flatMap((receiver) => receiver.channels)
    return channels.length === 4 && channels.map(({ id }) => id)
  })
  const [first = 0, second = 0, third = 0, fourth = 0] = ids
  return { app, databaseUrl: database.url, ids: [first, second, third, fourth] as const }
}

async function slotsOf(app: TestApp): Promise<Record<number, number>> {
  const channels = (await app.receivers()).flatMap((receiver) => receiver.channels)
  return Object.fromEntries(channels.map(({ id, slot }) => [id, slot]))
}

describe.concurrent.each(engines)('moves of slots on %s', (engine) => {
  // Conformance: C-13.1, C-13.3.
  it('take place at once, and are announced as one message a commit', async () => {
    const { app, ids } = await startWall(engine)
    const [a, b, c, d] = ids
    const client = await openLive(app)
    const before = (await app.get('/api/data.json')).headers.etag
    // Inserts the last channel before the first, and shifts the others. The channels belong to two receivers.
    const moves = [
      { channel_id: d, slot: 1 },
      { channel_id: a, slot: 2 },
      { channel_id: b, slot: 3 },
      { channel_id: c, slot: 4 },
    ]
    const response = await putSlots(app, moves)
    expect([response.status, response.json]).toEqual([200, { moves }])
    expect(await slotsOf(app)).toEqual({ [d]: 1, [a]: 2, [b]: 3, [c]: 4 })
    expect((await app.get('/api/data.json')).headers.etag).not.toBe(before)
    await putSlots(app, [{ channel_id: a, slot: 2 }])
    const requests = [a, b, c, d].map((channel_id, index) => putSlots(app, [{ channel_id, slot: 101 + index }]))
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const messages = await until('all moves are announced', () => {
      const received = client.ofType('slots')
      return received.length >= 5 && received
    })
    const [first, ...others] = messages.map(({ values }) => values)
    expect(first).toHaveLength(4)
    expect(first).toEqual(
      expect.arrayContaining([
        [d, 1],
        [a, 2],
        [b, 3],
        [c, 4],
      ]),
    )
    // Requests that are sent at the same time are applied in any order.
    const slotOf = ([move]: number[][]) => move?.[1] ?? 0
    expect(others.toSorted((one, other) => slotOf(one) - slotOf(other))).toEqual([
      [[a, 101]],
      [[b, 102]],
      [[c, 103]],
      [[d, 104]],
    ])
  })

  // Conformance: C-13.2.
  it('change nothing when one of them is rejected', async () => {
    const { app, ids } = await startWall(engine)
    const [a, b] = ids
    const before = await slotsOf(app)
    const one = { channel_id: a, slot: 60 }
    const rejected = [
      [400, [one, { channel_id: 999, slot: 61 }]],
      [400, [one, { channel_id: b, slot: 0 }]],
      [400, [one, { channel_id: b, slot: 65_536 }]],
      [400, [one, { slot: 61 }]],
      [400, [one, { channel_id: b, placeholder_id: 1, slot: 61 }]],
      [400, [one, { channel_id: a, slot: 61 }]],
      [400, Array.from({ length: 1001 }, (_, index) => ({ channel_id: index + 1, slot: index + 1 }))],
      [409, [one, { channel_id: b, slot: 3 }]],
      [409, [one, { channel_id: b, slot: 60 }]],
    ] as const
    for (const [status, moves] of rejected) {
      const response = await putSlots(app, moves)
      expect([response.status, moves.length]).toEqual([status, moves.length])
    }
    const headers = { 'content-type': 'application/json' }
    for (const body of [
      '{}',
      '{"moves": {}}',
      '{"moves": [], "more": 1}',
      '{"moves": [{"channel_id": 1, "slots": 2}]}',
    ]) {
      expect((await app.send('PUT', '/api/slots/', { headers, body })).status).toBe(400)
    }
    expect(await slotsOf(app)).toEqual(before)
  })

  // Conformance: C-13.4.
  it('apply one after the other when several processes request them at once', async () => {
    const { app, databaseUrl, ids } = await startWall(engine)
    const other = await startApp({ databaseUrl, servesOnly: true, dataDir: app.dataDir })
    const requests = ids.map((channel_id, index) =>
      putSlots(index % 2 === 0 ? app : other, [{ channel_id, slot: 200 }]),
    )
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 409, 409, 409])
    const slots = await slotsOf(app)
    await until('both show the same', async () => JSON.stringify(await slotsOf(other)) === JSON.stringify(slots))
    expect(Object.values(slots).filter((slot) => slot === 200)).toHaveLength(1)
  })
})
