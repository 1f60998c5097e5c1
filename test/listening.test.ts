/** Who may listen to channels, and what they receive. */

import { describe, expect, it } from 'vitest'
import { createToken } from '../src/actions/access/people.ts'
import { roles } from '../src/contract/values.ts'
import { liveProtocol } from '../src/live/routes/client-messages.ts'
import { listOtherListeners, saveListeners } from '../src/storage/audio-listeners.ts'
import { configFor, startApp, startShure, type TestApp, until } from './support/app.ts'
import { listen, listenOrThrow, refusalOf } from './support/listening-client.ts'
import { withDatabase } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'
import { addTones } from './support/tones.ts'
import { addAdmin, cookieOf, password, signIn } from './support/users.ts'

const cli = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null } as const

async function listenerHeaders(app: TestApp, name = 'an A2', role: (typeof roles)[number] = 'viewer') {
  const created = await withDatabase(app, (db) => createToken(db, cli, { name, role, permissions: ['listen'] }))
  return { id: created.token.id, token: created.text, headers: { authorization: `Bearer ${created.text}` } }
}

interface StartOptions {
  readonly config?: object
  readonly isMapped?: boolean
}

/** Receivers with two channels, and a stream with two channels: 997 Hz and 440 Hz. */
async function start({ config = { listening: true }, isMapped = true }: StartOptions = {}) {
  const simulator = await startShure({ receivers: 1 })
  const app = await startApp({ manufacturers: [configFor(simulator)], config: { require_login: true, ...config } })
  const [operator, admin] = await Promise.all([tokenHeaders(app, 'operator'), tokenHeaders(app, 'admin')])
  const [{ channels }] = await until('the receiver is known', async () => {
    const { receivers } = (await app.get('/api/data.json', admin)).json
    return receivers.length > 0 && receivers
  })
  const [first, second]: readonly number[] = channels.map(({ id }: { id: number }) => id)
  const id = first ?? 0
  const stream = await addTones(app, admin)
  const map = (channel: number, mapped: object | null) => app.put(`/api/channels/${channel}/audio/`, mapped, admin)
  if (isMapped) expect((await map(id, { stream_id: stream, channel: 1 })).status).toBe(200)
  return { app, simulator, operator, admin, id, other: second ?? 0, stream, map }
}

describe.concurrent('the permission listen', () => {
  // Conformance: C-27.34.
  it('is in no role, is granted to users and tokens by an administrator, and is added to the session', async () => {
    const app = await startApp({ config: { require_login: true } })
    await addAdmin(app)
    const admin = await signIn(app)
    const session = async (headers: Record<string, string>) => (await app.get('/api/auth/session', headers)).json
    expect((await session(admin)).permissions).not.toContain('listen')
    for (const role of roles) {
      const { permissions } = await session(await tokenHeaders(app, role))
      expect(permissions).not.toContain('listen')
    }
    const user = { username: 'ana', password, role: 'viewer', permissions: ['listen'] }
    const created = await app.post('/api/admin/users/', user, admin)
    expect(created).toMatchObject({ status: 201, json: { permissions: ['listen'] } })
    const ana = await signIn(app, 'ana')
    expect((await session(ana)).permissions).toEqual(['read', 'inspect', 'listen'])
    const change = (permissions: unknown) =>
      app.send('PATCH', `/api/admin/users/${created.json.id}/`, {
        headers: { ...admin, 'content-type': 'application/json' },
        body: JSON.stringify({ permissions }),
      })
    expect(await change(['fly'])).toMatchObject({
      status: 400,
      json: { details: expect.stringContaining('permissions') },
    })
    expect((await change([])).json.permissions).toEqual([])
    // The session continues without the permission.
    expect((await session(ana)).permissions).toEqual(['read', 'inspect'])
    const token = await app.post('/api/admin/tokens/', { name: 'x', role: 'viewer', permissions: ['listen'] }, admin)
    expect(token).toMatchObject({ status: 201, json: { permissions: ['listen'] } })
    const audit = (await app.get('/api/admin/audit/?action=user.change', admin)).json
    expect(audit[0]).toMatchObject({ target: 'user ana', details: { permissions: { old: ['listen'], new: [] } } })
  })

  // Conformance: C-27.35.
  it('nobody without it gets any sound: every role, token, kiosk, local listener and guest', async () => {
    const { app, id, stream } = await start({ config: { listening: true, require_login: true, public_read: true } })
    const tokens = await Promise.all(roles.map((role) => tokenHeaders(app, role)))
    const { token } = await listenerHeaders(app, 'a screen')
    const kiosk = { cookie: cookieOf(await app.post('/api/auth/kiosk', { token })) }
    for (const headers of [{}, ...tokens, kiosk]) {
      for (const query of [`channel=${id}`, `stream=${stream}&ch=1`]) {
        expect(await refusalOf(app.url, query, headers)).toMatchObject({
          status: 403,
          error: expect.stringContaining('listen'),
        })
        expect((await app.get(`/api/audio/listen?${query}`, headers)).status).toBe(403)
      }
    }
    expect(app.service.listening.list()).toEqual([])
    const local = await startApp({ config: { listening: true } })
    expect((await refusalOf(local.url, 'stream=1&ch=1')).status).toBe(403)
  })
})

describe.concurrent('/api/audio/listen', () => {
  // Conformance: C-27.36.
  it('begins with a description, then sends frames of 20 ms, and all see who listens', async () => {
    const { app, id, stream, admin, operator } = await start()
    const { headers } = await listenerHeaders(app)
    const live = await app.socket('/ws', { headers: operator, protocols: [liveProtocol] })
    expect((await live.next(({ type }) => type === 'snapshot')).data.listeners).toEqual([])
    const client = await listenOrThrow(app.url, `channel=${id}`, headers)
    await until('25 frames have arrived', () => client.frames.length >= 25)
    expect(client.messages).toEqual([
      {
        type: 'audio',
        rate: 48_000,
        format: 'pcm_s16le',
        frame_ms: 20,
        latency_ms: expect.any(Number),
        channel_id: id,
      },
    ])
    const [first] = client.frames
    expect(first?.samples.length).toBe(960)
    expect(client.frames.map(({ sequence }) => sequence)).toEqual(client.frames.map((_, index) => index))
    expect(Math.abs((first?.receivedAt ?? 0) - (first?.at ?? 0))).toBeLessThan(timeLimit(500))
    const listener = { by: 'an A2', channel_id: id, stream_id: stream, ch: 1, since: expect.stringMatching(/Z$/) }
    expect((await app.get('/api/audio/listeners/', operator)).json).toMatchObject([listener])
    expect(await live.next(({ type, listeners }) => type === 'listeners' && listeners.length === 1)).toMatchObject({
      listeners: [listener],
    })
    expect(String((await app.get('/metrics', operator)).bytes)).toMatch(/micwatch_audio_listeners\{[^}]*\} 1/)
    client.close()
    await live.next(({ type, listeners }) => type === 'listeners' && listeners.length === 0)
    const audit = await until('the end is in the audit log', async () => {
      const { json } = await app.get('/api/admin/audit/?action=listen.', admin)
      return json.length === 2 && json
    })
    expect(audit).toMatchObject([
      { action: 'listen.stop', target: `channel ${id}`, actor: { kind: 'token', name: 'an A2' } },
      { action: 'listen.start', target: `channel ${id}`, details: { stream_id: stream, ch: 1 } },
    ])
    const half = await listenOrThrow(app.url, `stream=${stream}&ch=2&rate=24000`, headers)
    await until('a frame has arrived', () => half.frames.length > 0)
    expect(half.messages[0]).toMatchObject({ rate: 24_000, stream_id: stream, ch: 2 })
    expect(half.frames[0]?.samples.length).toBe(480)
  })

  // Conformance: C-27.37.
  it('is off by default, and the error names the setting', async () => {
    const app = await startApp()
    expect(await refusalOf(app.url, 'channel=1')).toMatchObject({
      status: 409,
      error: expect.stringContaining('listening: true'),
    })
    expect((await app.get('/api/audio/listeners/')).status).toBe(409)
  })

  // Conformance: C-27.38.
  it('needs TLS except on this machine, unless the configuration says otherwise', async () => {
    const forwarded = { 'x-forwarded-for': '10.0.0.9' }
    const trusted = { server: { trusted_proxies: ['127.0.0.1'] } }
    const { app, id } = await start({ config: { listening: true, ...trusted } })
    const { headers } = await listenerHeaders(app)
    expect(await refusalOf(app.url, `channel=${id}`, { ...headers, ...forwarded })).toMatchObject({
      status: 403,
      error: expect.stringContaining('listening_without_tls'),
    })
    const https = { ...headers, ...forwarded, 'x-forwarded-proto': 'https' }
    const [byProxy, here] = await Promise.all(
      [https, headers].map((sent) => listenOrThrow(app.url, `channel=${id}`, sent)),
    )
    await until('both play', () => (byProxy?.frames.length ?? 0) > 0 && (here?.frames.length ?? 0) > 0)
    const open = await start({ config: { listening: true, listening_without_tls: true, ...trusted } })
    const other = await listenerHeaders(open.app)
    await listenOrThrow(open.app.url, `channel=${open.id}`, { ...other.headers, ...forwarded })
  })

  // Conformance: C-27.39.
  it('refuses what is not mapped, unknown, muted or not now, and bad parameters', async () => {
    const { app, id, other, stream, operator } = await start()
    const { headers } = await listenerHeaders(app)
    const refused = (query: string) => refusalOf(app.url, query, headers)
    expect(await refused(`channel=${other}`)).toMatchObject({
      status: 409,
      error: expect.stringContaining('not mapped'),
    })
    expect((await refused('channel=999999')).status).toBe(404)
    expect((await refused('stream=999999&ch=1')).status).toBe(404)
    expect((await refused(`stream=${stream}&ch=3`)).status).toBe(404)
    for (const query of [
      '',
      'channel=x',
      `stream=${stream}`,
      'ch=1',
      `channel=${id}&stream=${stream}&ch=1`,
      `channel=${id}&rate=8000`,
    ])
      expect([query, (await refused(query)).status]).toEqual([query, 400])
    await app.put(`/api/channels/${id}/not-now/`, { not_now: true }, operator)
    // The stream channel is silenced with the channel.
    for (const query of [`channel=${id}`, `stream=${stream}&ch=1`])
      expect(await refused(query)).toMatchObject({ status: 409, error: expect.stringContaining('Not now') })
    await listenOrThrow(app.url, `stream=${stream}&ch=2`, headers)
    expect((await app.get(`/api/audio/listen?stream=${stream}&ch=2`, headers)).status).toBe(426)
    const foreign = await listen(app.url, `stream=${stream}&ch=2`, { ...headers, origin: 'https://evil.example' })
    expect(foreign).toMatchObject({ status: 403 })
  })

  // Conformance: C-27.40.
  it('plays at most two channels for each person and eight in total, as the settings say', async () => {
    const { app, id, admin } = await start()
    const query = `channel=${id}`
    const people = await Promise.all(Array.from({ length: 5 }, (_, index) => listenerHeaders(app, `person ${index}`)))
    for (const { headers } of people.slice(0, 4)) {
      await listenOrThrow(app.url, query, headers)
      await listenOrThrow(app.url, query, headers)
    }
    const [first, last] = [people[0]?.headers ?? {}, people[4]?.headers ?? {}]
    const third = await refusalOf(app.url, query, first)
    expect([third.status, third.headers['retry-after']]).toEqual([429, expect.any(String)])
    const ninth = await refusalOf(app.url, query, last)
    expect([ninth.status, ninth.headers['retry-after']]).toEqual([503, expect.any(String)])
    expect((await app.post('/api/config/', { key: 'MAX_LISTENERS', value: '9' }, admin)).status).toBe(200)
    await listenOrThrow(app.url, query, last)
  })

  // Conformance: C-27.41.
  it('ends with the reason at not now, another mapping, a removed mapping and a removed permission', async () => {
    const { app, id, map, stream, operator, admin } = await start()
    const ending = async (work: () => Promise<unknown>) => {
      const { headers } = await listenerHeaders(app, 'listener')
      const client = await listenOrThrow(app.url, `channel=${id}`, headers)
      await until('it plays', () => client.frames.length > 0)
      const at = performance.now()
      await work()
      await client.closed
      expect(performance.now() - at).toBeLessThan(timeLimit(3000))
      return client.messages.at(-1)
    }
    const notNow = (not_now: boolean) => app.put(`/api/channels/${id}/not-now/`, { not_now }, operator)
    expect(await ending(() => notNow(true))).toEqual({ type: 'ended', reason: 'not_now' })
    await notNow(false)
    expect(await ending(() => map(id, { stream_id: stream, channel: 2 }))).toEqual({
      type: 'ended',
      reason: 'unmapped',
    })
    expect(await ending(() => map(id, null))).toEqual({ type: 'ended', reason: 'unmapped' })
    await map(id, { stream_id: stream, channel: 1 })
    const tokens = async () =>
      (await app.get('/api/admin/tokens/', admin)).json.findLast(({ name }: { name: string }) => name === 'listener')
    const revoke = async () => app.send('DELETE', `/api/admin/tokens/${(await tokens()).id}/`, { headers: admin })
    expect(await ending(revoke)).toEqual({ type: 'ended', reason: 'signed_out' })
  })

  it('ends and is refused while the equipment reports a mute', async () => {
    const app = await startApp({ config: { require_login: true, listening: true } })
    const [operator, admin] = await Promise.all([tokenHeaders(app, 'operator'), tokenHeaders(app, 'admin')])
    const report = async (muted: boolean) => {
      const receivers = [{ api_device_id: 'rack-1', name: 'Rack 1', channels: [{ channel: 1, details: { muted } }] }]
      expect((await app.post('/api/ingest/', { source: 'script', receivers }, operator)).status).toBeLessThan(300)
    }
    await report(false)
    const [{ channels }] = await until('the receiver is known', async () => {
      const { receivers } = (await app.get('/api/data.json', admin)).json
      return receivers.length > 0 && receivers
    })
    const { id } = channels[0]
    const stream = await addTones(app, admin)
    await app.put(`/api/channels/${id}/audio/`, { stream_id: stream, channel: 1 }, admin)
    const { headers } = await listenerHeaders(app)
    const client = await listenOrThrow(app.url, `stream=${stream}&ch=1`, headers)
    await until('it plays', () => client.frames.length > 0)
    await report(true)
    await client.closed
    expect(client.messages.at(-1)).toEqual({ type: 'ended', reason: 'muted' })
    for (const query of [`channel=${id}`, `stream=${stream}&ch=1`])
      expect(await refusalOf(app.url, query, headers)).toMatchObject({
        status: 409,
        error: expect.stringContaining('muted'),
      })
  })

  // Conformance: C-27.42.
  it.each(['permission', 'role', 'session', 'password'] as const)(
    'ends within 3 s when the %s of a user is changed',
    async (what) => {
      const { app, id } = await start()
      await addAdmin(app)
      const root = await signIn(app)
      const user = { username: 'ana', password, role: 'viewer', permissions: ['listen'] }
      const { json } = await app.post('/api/admin/users/', user, root)
      const ana = await signIn(app, 'ana')
      const client = await listenOrThrow(app.url, `channel=${id}`, ana)
      await until('it plays', () => client.frames.length > 0)
      const change = {
        permission: { permissions: [] },
        role: { role: 'operator' },
        password: { password: `${password} two` },
      }
      const at = performance.now()
      if (what === 'session') await app.post('/api/auth/logout', undefined, ana)
      else
        await app.send('PATCH', `/api/admin/users/${json.id}/`, {
          headers: { ...root, 'content-type': 'application/json' },
          body: JSON.stringify(change[what]),
        })
      await client.closed
      expect(performance.now() - at).toBeLessThan(timeLimit(3000))
      expect(client.messages.at(-1)).toEqual({
        type: 'ended',
        reason: what === 'permission' ? 'permission' : 'signed_out',
      })
      expect(app.service.listening.list()).toEqual([])
    },
  )
})

// Conformance: C-27.102.
describe.each(['sqlite', 'postgres'] as const)('two processes on %s', (engine) => {
  it('both show who listens, and nobody of a process that has crashed', async () => {
    const config = { require_login: true, listening: true }
    const first = await startApp({ engine, config })
    const stream = await addTones(first, await tokenHeaders(first, 'admin'))
    const second = await startApp({ engine, config, databaseUrl: first.databaseUrl, dataDir: first.dataDir })
    const viewer = await tokenHeaders(second, 'viewer')
    const live = await second.socket('/ws', { headers: viewer, protocols: [liveProtocol] })
    expect((await live.next(({ type }) => type === 'snapshot')).data.listeners).toEqual([])
    const { headers } = await listenerHeaders(first)
    expect((await refusalOf(second.url, `stream=${stream}&ch=1`, headers)).status).toBe(503)
    const client = await listenOrThrow(first.url, `stream=${stream}&ch=1`, headers)
    const listener = { by: 'an A2', channel_id: null, stream_id: stream, ch: 1 }
    const { listeners } = await live.next(({ type }) => type === 'listeners')
    expect(listeners).toMatchObject([listener])
    for (const app of [first, second])
      expect((await app.get('/api/audio/listeners/', viewer)).json).toMatchObject([listener])
    const late = await second.socket('/ws', { headers: viewer, protocols: [liveProtocol] })
    expect((await late.next(({ type }) => type === 'snapshot')).data.listeners).toMatchObject([listener])
    expect(String((await second.get('/metrics', viewer)).bytes)).toMatch(/micwatch_audio_listeners\{[^}]*\} 0/)
    client.close()
    await live.next(({ type, listeners: now }) => type === 'listeners' && now.length === 0)
    await withDatabase(first, async (db) => {
      // A process that crashed has left this behind.
      await db.transaction((tx) => saveListeners(tx, 'crashed:1:x', listeners))
      await until('it is deleted', async () => (await listOtherListeners(db.read, 'none')).length === 0)
    })
    await until('nobody listens', async () => (await second.get('/api/audio/listeners/', viewer)).json.length === 0)
  })
})

describe.concurrent('the mapping of channels', () => {
  // Conformance: C-27.43.
  it('is entered by an administrator, keeps the label, and is announced', async () => {
    const { app, id, map, stream, admin, operator } = await start({ isMapped: false })
    const path = `/api/channels/${id}/audio/`
    expect(await app.get(path, operator)).toMatchObject({ status: 200, json: null })
    expect((await app.put(path, { stream_id: stream, channel: 1 }, operator)).status).toBe(403)
    const live = await app.socket('/ws', { headers: operator, protocols: [liveProtocol] })
    await live.next(({ type }) => type === 'snapshot')
    const mapped = await map(id, { stream_id: stream, channel: 1 })
    const json = { stream_id: stream, channel: 1, label: 'Nora', label_now: 'Nora', label_changed: false }
    expect(mapped).toMatchObject({ status: 200, json })
    await live.next(({ type }) => type === 'audio_mappings')
    expect((await app.get(path, operator)).json).toEqual(json)
    expect((await app.get('/api/audio/mappings/', operator)).json).toEqual([{ channel_id: id, ...json }])
    const bad: readonly (readonly [object, string])[] = [
      [{ stream_id: 999_999, channel: 1 }, 'stream_id'],
      [{ stream_id: stream, channel: 3 }, 'channel'],
      [{ stream_id: stream, channel: 0 }, 'channel'],
      [{ stream_id: stream }, 'channel'],
      [{ stream_id: stream, channel: 1, x: 1 }, 'x'],
    ]
    for (const [body, field] of bad)
      expect(await map(id, body)).toMatchObject({ status: 400, json: { details: expect.stringContaining(field) } })
    expect((await map(999_999, null)).status).toBe(404)
    expect(await map(id, null)).toMatchObject({ status: 200, json: null })
    expect((await app.get('/api/admin/audit/?action=channel.audio', admin)).json).toMatchObject([
      { target: `channel ${id}`, details: { before: { stream_id: stream }, after: null } },
      { target: `channel ${id}`, details: { before: null, after: { stream_id: stream, channel: 1, label: 'Nora' } } },
    ])
  })
})
