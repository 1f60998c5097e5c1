/** Shows are planned, started and ended, with effects on channels and clients. */

import { describe, expect, it } from 'vitest'
import { findShow, plannedFrequencies } from '../src/storage/shows.ts'
import { channelOf, configFor, deviceOf, startApp, startShure, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { openLive } from './support/live-client.ts'
import { createTestDatabase, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

function patch(app: TestApp, id: number, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  return app.send('PATCH', `/api/shows/${id}/`, { headers, body: JSON.stringify(body) })
}

const plan = { title: 'Matinee', starts_at: '2026-11-23T14:00:00.000Z', ends_at: '2026-11-23T16:30:00.000Z' }

describe.concurrent('shows', () => {
  // Conformance: C-13.9, C-13.10, C-13.12.
  it.each(engines)('are planned, changed, started, ended and removed, and announced each time (%s)', async (engine) => {
    const app = await startApp({ engine })
    const group = (await app.post('/api/group/', { title: 'Band', slots: [1] })).json
    const [first, client] = [await app.socket('/ws?manufacturer=nobody'), await openLive(app)]
    const created = await app.post('/api/shows/', { ...plan, starts_at: '2026-11-23T16:00+02:00' })
    const { id } = created.json
    const show = {
      ...{ id, ...plan, state: 'planned', group_ids: [], notes: '', started_at: null, ended_at: null },
      version: expect.any(Number),
    }
    expect([created.status, created.json]).toEqual([201, show])
    const changed = await patch(app, id, { group_ids: [group.id], notes: 'Understudy' })
    expect([changed.status, changed.json]).toEqual([200, { ...show, group_ids: [group.id], notes: 'Understudy' }])
    expect((await app.post(`/api/shows/${id}/end`, undefined)).status).toBe(409)
    const started = await app.post(`/api/shows/${id}/start`, undefined)
    expect([started.status, started.json]).toEqual([
      200,
      { ...changed.json, state: 'running', started_at: expect.any(String) },
    ])
    expect((await openLive(app)).snapshot.data.shows).toEqual([started.json])
    expect((await app.post(`/api/shows/${id}/start`, undefined)).status).toBe(409)
    expect((await app.send('DELETE', `/api/shows/${id}/`)).status).toBe(409)
    const second = (await app.post('/api/shows/', { title: 'Rehearsal' })).json
    expect((await app.post(`/api/shows/${second.id}/start`, undefined)).status).toBe(200)
    const ended = await app.post(`/api/shows/${id}/end`, undefined)
    expect([ended.status, ended.json]).toEqual([200, { ...started.json, state: 'ended', ended_at: expect.any(String) }])
    expect((await app.post(`/api/shows/${id}/start`, undefined)).status).toBe(409)
    expect((await patch(app, id, { group_ids: [] })).status).toBe(409)
    expect((await app.get(`/api/shows/${id}/`)).json).toEqual(ended.json)
    expect((await app.get('/api/shows/?page_size=1')).json).toMatchObject({ count: 2, results: [ended.json] })
    expect((await app.send('DELETE', `/api/shows/${id}/`)).status).toBe(204)
    expect((await app.send('DELETE', `/api/shows/${id}/`)).status).toBe(404)
    expect((await app.get(`/api/shows/${id}/`)).status).toBe(404)
    expect((await app.get('/api/shows/')).json).toMatchObject([{ id: second.id, state: 'running' }])

    const states = ['planned', 'planned', 'running', 'ended', 'deleted']
    await client.next(({ type, show }) => type === 'show' && show.state === 'deleted')
    await first.next(({ type, show }) => type === 'show_update' && show.state === 'deleted')
    const ofShow = (messages: readonly { readonly show: { readonly id: number; readonly state: string } }[]) =>
      messages.filter(({ show }) => show.id === id).map(({ show }) => show.state)
    expect(ofShow(client.ofType('show') as never)).toEqual(states)
    expect(ofShow(first.ofType('show_update') as never)).toEqual(states)
    expect(client.data().shows).toMatchObject([{ id: second.id, state: 'running' }])
    const audit = await app.get('/api/admin/audit/?action=show.', await tokenHeaders(app, 'admin'))
    expect(audit.json.map(({ action }: { action: string }) => action)).toEqual([
      ...['show.delete', 'show.end', 'show.start', 'show.create', 'show.start', 'show.change', 'show.create'],
    ])
  })

  // Conformance: C-13.9.
  it('are rejected with the reason for an invalid field', async () => {
    const app = await startApp()
    const rejected = [
      [{}, 'title: missing'],
      [{ title: '' }, 'title: expected text of 1 to 255'],
      [{ title: 'x'.repeat(256) }, 'title: expected text of 1 to 255'],
      [{ title: 'A', starts_at: '2026-02-30T10:00:00Z' }, 'starts_at: expected a time'],
      [{ title: 'A', ends_at: '2026-02-20' }, 'ends_at: expected a time'],
      [{ ...plan, ends_at: plan.starts_at }, 'ends_at: expected a time after starts_at'],
      [{ title: 'A', group_ids: [7] }, 'group_ids: there is no group 7'],
      [{ title: 'A', group_ids: [1, 1] }, 'group_ids: expected a list'],
      [{ title: 'A', state: 'running' }, 'state: unknown field'],
      [{ title: 'A', started_at: plan.starts_at }, 'started_at: unknown field'],
    ] as const
    for (const [body, details] of rejected) {
      const { status, json } = await app.post('/api/shows/', body)
      expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
    }
    expect((await app.get('/api/shows/')).json).toEqual([])
    const { id } = (await app.post('/api/shows/', plan)).json
    expect((await patch(app, id, { starts_at: '2026-11-23T16:30:00Z' })).json.details).toContain('ends_at: expected')
    expect((await patch(app, id, { group_ids: [7] })).status).toBe(400)
    expect((await patch(app, id + 1, { title: 'B' })).status).toBe(404)
    for (const action of ['start', 'end']) {
      expect((await app.post(`/api/shows/${id + 1}/${action}`, undefined)).status).toBe(404)
    }
  })

  // Conformance: C-13.9.
  it('are changed by operators only', async () => {
    const app = await startApp({ config: { require_login: true } })
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    expect((await app.post('/api/shows/', plan, viewer)).status).toBe(403)
    const { id } = (await app.post('/api/shows/', plan, operator)).json
    expect((await app.get(`/api/shows/${id}/`, viewer)).status).toBe(200)
    expect((await app.post(`/api/shows/${id}/start`, undefined, viewer)).status).toBe(403)
    expect((await app.post(`/api/shows/${id}/start`, undefined, operator)).status).toBe(200)
  })

  // Conformance: C-13.11, C-13.12, C-13.13, C-13.18.
  it.each(engines)('apply to the conditions in every process at once, and keep their channels (%s)', async (engine) => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const shure = await startShure({ receivers: 1 })
    const { id: device } = deviceOf(shure)
    const set = (change: Parameters<typeof shure.show.set>[1]) => {
      shure.show.set(device, change, 1)
      shure.push.flush()
    }
    set({ battery: 18, rf_level: -50, audio_level: -20 })
    const app = await startApp({ databaseUrl: database.url, manufacturers: [configFor(shure)] })
    const other = await startApp({ databaseUrl: database.url, servesOnly: true, dataDir: app.dataDir })
    const waitForState = (state: string) =>
      until(`the state is ${state}`, async () => {
        const channel = channelOf(await app.receiver(device))
        return channel.condition.state === state && channel
      })
    const { id: channelId, slot, frequency } = await waitForState('battery_low')
    // The process that starts a show stores the frequencies that it knows.
    await eventually(async () => channelOf(await other.receiver(device)).frequency).toBe(frequency)
    const group = (await other.post('/api/group/', { title: 'Band', slots: [slot] })).json
    const [first, client] = [await app.socket(), await openLive(app)]
    const { id } = (await other.post('/api/shows/', { ...plan, group_ids: [group.id] })).json
    const starts = [app, other].map((service) => service.post(`/api/shows/${id}/start`, undefined))
    expect((await Promise.all(starts)).map(({ status }) => status).sort()).toEqual([200, 409])
    await client.next(({ type, show }) => type === 'show' && show.state === 'running')
    await first.next(({ type, show }) => type === 'show_update' && show.state === 'running')
    const planned = await withDatabase(app, (db) => plannedFrequencies(db.read, id))
    expect(planned.get(channelId)).toBe(frequency)
    // During a show, a low battery is enough.
    set({ transmitter: false, rf_level: -110 })
    await waitForState('battery_died')
    await other.post(`/api/shows/${id}/end`, undefined)
    await waitForState('tx_off')
    const headers = { 'content-type': 'application/json' }
    await app.send('PUT', `/api/groups/${group.id}/`, { headers, body: '{"slots": []}' })
    const show = await withDatabase(app, (db) => findShow(db.read, id))
    expect(show?.channel_ids).toEqual([channelId])
    expect((await app.get('/api/shows/')).json).toMatchObject([{ state: 'ended' }])
  })
})
