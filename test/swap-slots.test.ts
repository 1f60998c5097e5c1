/** Swapping the people or the equipment of two slots: `POST /api/slots/{slot}/swap`. */

import { describe, expect, it } from 'vitest'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'
import { startFollower, startOrigin } from './support/sites.ts'
import { createTestDatabase, type Engine, engines } from './support/store/databases.ts'

function send(app: TestApp, method: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  return app.send(method, path, {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

const put = (app: TestApp, slot: number, body: unknown) => send(app, 'PUT', `/api/slots/${slot}/`, body)
const swap = (app: TestApp, slot: number, body: unknown, headers?: Record<string, string>) =>
  send(app, 'POST', `/api/slots/${slot}/swap`, body, headers)

const nora = { performer_name: 'Nora', role: 'Glinda', label: 'Mic 1', color: 'teal' }
const planned = { frequency: '470.300', profile: null, transmitter: null }
const nobody = { performer: null, role: null, label: null, color: null }

/** Starts a service with channels in the slots 1 and 2, which receive packs. Nora has slot 1. */
async function startRack(engine: Engine) {
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ databaseUrl: database.url, manufacturers: [configFor(shure, { poll_interval: 3600 })] })
  await until('both packs are known', async () => {
    const records = (await app.get('/api/slots/')).json as { unit_id: number | null }[]
    return records.length === 2 && records.every(({ unit_id }) => unit_id !== null)
  })
  await put(app, 1, { ...nora, note: 'Wig', planned, spares: [2] })
  const records = async () => (await app.get('/api/slots/')).json
  const active = async () =>
    (await app.get('/api/assignments/?is_active=true&names=true')).json.map(
      ({ wireless_unit, performer_name, role }: Record<string, unknown>) => [wireless_unit, performer_name, role],
    )
  const undo = async ({ headers }: Awaited<ReturnType<typeof swap>>) =>
    (await app.post(`/api/undo/${headers['x-undo-id']}`)).status
  const [one, two] = await records()
  return { app, records, active, undo, one, two }
}

const version = expect.any(Number)
const withoutVersion = ({ version: _, ...record }: Record<string, unknown>) => record

describe.concurrent.each(engines)('a swap on %s', (engine) => {
  // Conformance: C-21.30.
  it('exchanges performer, role, label and color, and assigns the received packs at once', async () => {
    const { app, records, active, undo, one, two } = await startRack(engine)
    const client = await openLive(app)
    expect(await active()).toEqual([[one.unit_id, 'Nora', 'Glinda']])
    const swapped = await swap(app, 1, { with: 2, what: 'people' }, { 'if-match': `"${one.version}"` })
    const { performer, role, label, color } = one
    const people = { performer, role, label, color, title: 'Nora', title_from: 'performer' }
    expect([swapped.status, swapped.json.slots]).toEqual([
      200,
      [
        { ...one, ...nobody, title: expect.any(String), title_from: expect.any(String), version },
        { ...two, ...people, version },
      ],
    ])
    expect(swapped.headers.etag).toBe(`"${swapped.json.slots[0].version}"`)
    expect(await records()).toEqual(swapped.json.slots)
    expect(await active()).toEqual([[two.unit_id, 'Nora', 'Glinda']])
    const message = await client.next(({ type }) => type === 'slot_records')
    expect(message).toMatchObject({ slots: swapped.json.slots, removed: [] })
    const [event] = (await app.get('/api/events/?kind=swapped')).json.results
    expect(event).toMatchObject({
      ...{ channel_id: one.channel_id, by: 'local', text: 'Slots 1 and 2: people swapped' },
      data: { slot: 1, with: 2, what: 'people' },
    })
    const [latest] = (await app.get('/api/undo/')).json
    expect(latest).toMatchObject({ id: Number(swapped.headers['x-undo-id']), what: 'slot.swap', slots: [1, 2] })

    const stale = await swap(app, 1, { with: 2, what: 'people' }, { 'if-match': `W/"${one.version}"` })
    expect([stale.status, stale.json.current]).toEqual([412, swapped.json.slots[0]])
    expect(await undo(swapped)).toBe(200)
    expect((await records()).map(withoutVersion)).toEqual([one, two].map(withoutVersion))
    expect(await active()).toEqual([[one.unit_id, 'Nora', 'Glinda']])
    expect((await undo(swapped)) >= 400).toBe(true)
  })

  // Conformance: C-21.31.
  it('exchanges the equipment, and leaves what was entered in its slot', async () => {
    const { app, records, active, undo, one, two } = await startRack(engine)
    const swapped = await swap(app, 1, { with: 2, what: 'equipment' })
    const [first, second] = swapped.json.slots
    expect(first).toEqual({ ...one, channel_id: two.channel_id, unit_id: two.unit_id, version })
    expect(second).toMatchObject({ slot: 2, channel_id: one.channel_id, unit_id: one.unit_id, ...nobody, spares: [] })
    expect(await records()).toEqual([first, second])
    expect(await active()).toEqual([[two.unit_id, 'Nora', 'Glinda']])
    expect((await app.get('/api/events/?kind=moved')).json.results).toHaveLength(2)
    expect(await undo(swapped)).toBe(200)
    expect((await records()).map(withoutVersion)).toEqual([one, two].map(withoutVersion))
    expect(await active()).toEqual([[one.unit_id, 'Nora', 'Glinda']])

    // The channel moves to a slot without equipment. Its performer stays and waits for a pack.
    const { json: empty } = await put(app, 9, { label: 'Spare' })
    const moved = await swap(app, 9, { with: 1, what: 'equipment' })
    expect(moved.json.slots).toMatchObject([
      { slot: 9, title: 'Spare', channel_id: one.channel_id, placeholder_id: null },
      { slot: 1, title: 'Nora', note: 'Wig', planned, spares: [2], placeholder_id: empty.placeholder_id },
    ])
    expect(await active()).toEqual([])
    expect(await undo(moved)).toBe(200)
    expect(await active()).toEqual([[one.unit_id, 'Nora', 'Glinda']])
  })
})

describe.concurrent('requests to swap', () => {
  // Conformance: C-21.32.
  it('are rejected with the field, and change nothing', async () => {
    const { app, records } = await startRack('sqlite')
    const before = await records()
    const people = { with: 2, what: 'people' }
    const rejected = [
      [404, 9, people, 'slot: PUT /api/slots/9/'],
      [404, 1, { ...people, with: 9 }, 'slot: PUT /api/slots/9/'],
      [404, 65_536, people, 'slot: '],
      [400, 1, { ...people, with: 1 }, 'with: expected another slot'],
      [400, 1, { with: 2 }, 'what: missing'],
      [400, 1, { with: 2, what: 'packs' }, 'what: expected'],
      [400, 1, { what: 'people' }, 'with: missing'],
      [400, 1, { ...people, with: '2' }, 'with: expected'],
      [400, 1, { ...people, from: 2 }, 'from: unknown field'],
    ] as const
    for (const [status, slot, body, details] of rejected) {
      const response = await swap(app, slot, body)
      expect([response.status, response.json.details]).toEqual([status, expect.stringContaining(details)])
    }
    // Neither slot has a performer.
    await put(app, 8, { note: 'a' })
    await put(app, 9, { note: 'b' })
    const same = await swap(app, 8, { with: 9, what: 'people' })
    expect([same.status, same.headers['x-undo-id']]).toEqual([200, undefined])
    expect((await records()).slice(0, 2)).toEqual(before)
    expect((await app.get('/api/events/?kind=swapped')).json.results).toEqual([])
  })

  // Conformance: C-21.32.
  it('are refused for slots of a site', async () => {
    const { origin } = await startOrigin()
    const follower = await startFollower(origin.url)
    await put(follower, 20, { label: 'Spare' })
    const [{ json: there }, { json: here }] = [
      await swap(follower, 1, { with: 20, what: 'people' }),
      await swap(follower, 20, { with: 1, what: 'equipment' }),
    ]
    expect([there.status, here.status]).toEqual([409, 409])
    expect([there.error, here.details]).toEqual([
      expect.stringContaining('Royal Theatre'),
      expect.stringContaining('with: '),
    ])
  })
})
