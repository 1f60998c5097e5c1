/** "Not now" on channels. */

import { describe, expect, it } from 'vitest'
import { liveProtocol } from '../src/live/routes/client-messages.ts'
import { now } from '../src/platform/clock.ts'
import { configFor, startApp, startShure, until } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'

async function start() {
  const simulator = await startShure()
  const app = await startApp({ manufacturers: [configFor(simulator)], config: { require_login: true } })
  const [viewer, operator, admin] = await Promise.all(
    (['viewer', 'operator', 'admin'] as const).map((role) => tokenHeaders(app, role)),
  )
  const [{ channels }] = await until('the receivers are known', async () => {
    const { receivers } = (await app.get('/api/data.json', admin)).json
    return receivers.length > 0 && receivers
  })
  const id: number = channels[0].id
  const set = (body: object, headers = operator) => app.put(`/api/channels/${id}/not-now/`, body, headers)
  const channel = async () => (await app.get(`/api/channels/${id}/`, viewer)).json
  return { app, id, viewer, operator, admin, set, channel }
}

describe.concurrent('PUT /api/channels/{id}/not-now/', () => {
  // Conformance: C-27.30.
  it('is for operators, and is on the channel in REST and version 2, not in version 1', async () => {
    const { app, id, viewer, operator, admin, set, channel } = await start()
    expect((await channel()).not_now).toBeNull()
    const [one, two] = await Promise.all([
      app.socket('/ws', { headers: viewer }),
      app.socket('/ws', { headers: viewer, protocols: [liveProtocol] }),
    ])
    await two.next(({ type }) => type === 'snapshot')
    expect((await set({ not_now: true }, viewer)).status).toBe(403)
    const response = await set({ not_now: true })
    const notNow = { by: "a test's operator", since: expect.stringMatching(/Z$/), until: null }
    expect(response).toMatchObject({ status: 200, json: { id, not_now: notNow } })
    expect((await channel()).not_now).toEqual(notNow)
    const isAbout = (message: { type: string; id?: number }) => message.type === 'channel' && message.id === id
    expect(await two.next((message) => isAbout(message) && 'not_now' in message)).toMatchObject({ not_now: notNow })
    const { data } = await one.next(
      ({ type, data }) => type === 'device_update' && data.channels.some((c: { id: number }) => c.id === id),
    )
    expect(JSON.stringify(data)).not.toContain('not_now')
    // A later report of the equipment does not end it.
    await app.post('/api/refresh/', undefined, operator)
    expect((await channel()).not_now).toEqual(notNow)
    expect((await set({ not_now: false })).json.not_now).toBeNull()
    await two.next((message) => isAbout(message) && message.not_now === null)
    expect((await app.get('/api/admin/audit/?action=channel.not_now', admin)).json).toMatchObject([
      { target: `channel ${id}`, details: { before: true, after: false } },
      { target: `channel ${id}`, details: { before: false, after: true } },
    ])
  })

  // Conformance: C-27.31.
  it('ends at its time, and survives a restart until then', async () => {
    const { app, set, id } = await start()
    await set({ not_now: true, until: new Date(now() + 3_600_000).toISOString() })
    await app.close()
    const again = await startApp({ databaseUrl: app.databaseUrl, dataDir: app.dataDir })
    expect((await again.get(`/api/channels/${id}/`)).json.not_now.until).toMatch(/Z$/)
    const end = new Date(now() + 1500).toISOString()
    const json = { not_now: true, until: end }
    await again.put(`/api/channels/${id}/not-now/`, json)
    expect((await again.get(`/api/channels/${id}/`)).json.not_now).toMatchObject({ by: 'local', until: end })
    await until('it has ended', async () => (await again.get(`/api/channels/${id}/`)).json.not_now === null)
    expect(now()).toBeGreaterThan(Date.parse(end) - 5)
  })

  // Conformance: C-27.32.
  it('rejects a time in the past, an unknown field and an unknown channel', async () => {
    const { app, operator, set } = await start()
    expect(await set({ not_now: true, until: '2020-01-01T00:00:00Z' })).toMatchObject({
      status: 400,
      json: { details: expect.stringContaining('until') },
    })
    expect(await set({ not_now: true, until: 'soon' })).toMatchObject({
      status: 400,
      json: { details: expect.stringContaining('until') },
    })
    expect(await set({ not_now: 1 })).toMatchObject({
      status: 400,
      json: { details: expect.stringContaining('not_now') },
    })
    expect(await set({})).toMatchObject({ status: 400, json: { details: expect.stringContaining('not_now') } })
    expect((await app.put('/api/channels/999999/not-now/', { not_now: true }, operator)).status).toBe(404)
  })
})
