/** The plugin kit for another Micwatch, and what is specific to following one. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { micwatch } from '../src/manufacturers/micwatch/index.ts'
import { createUpstreamClient } from '../src/upstream/client.ts'
import { startApp, until } from './support/app.ts'
import { onTestEnd, openShared } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'
import { type MicwatchPeer, startMicwatchPeer } from './support/micwatch-peer.ts'
import { describePlugin } from './support/plugins/plugin-kit.ts'
import { rejectionOf } from './support/plugins/plugin-kit-resources.ts'
import { follow } from './support/sites.ts'
import { tokenHeaders } from './support/tokens.ts'

let peer: MicwatchPeer
let closePeer: () => Promise<void>
beforeAll(async () => {
  closePeer = await openShared(async () => {
    peer = await startMicwatchPeer()
  })
})
afterAll(() => closePeer())

// Conformance: C-18.47.
describePlugin({
  plugin: micwatch,
  startSimulator: (options) => peer.startFront(options),
  fixtures: new URL('../src/manufacturers/micwatch/fixtures/', import.meta.url),
  hasSerials: false,
  limits: { timeout: 60 },
  secret: 'token',
  pin: (config, fingerprint) => ({ ...config, fingerprint }),
  wrongShape: /does not respond like Micwatch/,
})

function open(config: Record<string, unknown>) {
  const [settings] = micwatch.listSources({ timeout: 20, ...config })
  if (settings === undefined || 'default' in settings.adapter) throw new Error('the configuration names no source')
  const client = createUpstreamClient({ settings, errors: micwatch.errors })
  onTestEnd(() => client.close())
  const { adapter } = settings
  const { signal } = new AbortController()
  return {
    /** Returns the messages, with `resumeAfter` null. */
    follow: () => {
      const messages = adapter.follow?.(client, signal, {
        resumeAfter: null,
        onLatency() {},
        onOpen() {},
        onDropped() {},
      })
      if (messages === undefined) throw new Error('the adapter cannot follow')
      return messages[Symbol.asyncIterator]()
    },
    readInstallation: () => adapter.readInstallation?.(client, signal) ?? Promise.resolve(null),
  }
}

async function drain(messages: AsyncIterator<unknown>): Promise<void> {
  while (!(await messages.next()).done);
}

/** Starts a service that sends these frames to every client of its WebSocket. */
async function serveFrames(...frames: readonly string[]): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (socket) => {
    for (const frame of frames) socket.send(frame)
  })
  await once(server, 'listening')
  onTestEnd(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const oldSnapshot = JSON.stringify({ type: 'snapshot', seq: 1, epoch: 'a', data: { receivers: [], alerts: [] } })

describe.concurrent('following another Micwatch', () => {
  // Conformance: C-18.47.
  it('begins with a snapshot that names the installation', async () => {
    const { config } = await startFront()
    const { follow, readInstallation } = open(config)
    const { value: snapshot } = await follow().next()
    const { installation } = (await openLive(peer.app)).snapshot
    expect(snapshot).toMatchObject({ type: 'snapshot', installation, via: [], data: { receivers: { length: 3 } } })
    expect(await readInstallation()).toEqual({ installation, via: [] })
  })

  // Conformance: C-18.47.
  it.each(['reset', 'html', 'truncated', 'not-json', 'wrong-shape', 'status'] as const)(
    'throws the error of the plugin if the handshake fails: %s',
    async (type) => {
      const simulator = await startFront()
      simulator.setFault(type === 'status' ? { type, status: 500 } : { type })
      const { follow, readInstallation } = open(simulator.config)
      const [error, other] = await Promise.all([rejectionOf(follow().next()), rejectionOf(readInstallation())])
      expect(error).toBeInstanceOf(micwatch.errors.ApiError)
      expect(other).toBeInstanceOf(micwatch.errors.ApiError)
    },
  )

  // Conformance: C-18.47.
  it.each([
    ['no JSON', 'no sense'],
    ['a list', '[]'],
    ['no object', 'null'],
    ['no type', '{"seq":1}'],
    ['a type that is no text', '{"type":1}'],
    ['half a message', oldSnapshot.slice(0, -20)],
  ])('throws the error of the plugin if a message is malformed: %s', async (_, frame) => {
    const url = await serveFrames(frame)
    const { follow, readInstallation } = open({ api_base_url: url })
    for (const error of [await rejectionOf(drain(follow())), await rejectionOf(readInstallation())]) {
      expect(error).toBeInstanceOf(micwatch.errors.ApiError)
      expect(error).toMatchObject({ message: expect.stringMatching(/does not respond like Micwatch/) })
    }
  })

  // Conformance: C-18.47.
  it('ends with the reason when the token is revoked', async () => {
    const { app } = peer
    const headers = { ...(await tokenHeaders(app, 'admin')), 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'overview', role: 'viewer' })
    const { json } = await app.send('POST', '/api/admin/tokens/', { headers, body })
    const { config } = await startFront()
    const messages = open({ ...config, token: json.token }).follow()
    expect((await messages.next()).value).toMatchObject({ type: 'snapshot' })
    const ended = rejectionOf(drain(messages))
    expect(await app.send('DELETE', `/api/admin/tokens/${json.id}/`, { headers })).toMatchObject({ status: 204 })
    const error = await ended
    expect(error).toBeInstanceOf(micwatch.errors.ApiError)
    expect(error).toMatchObject({ status: 401, message: expect.stringMatching(/enter a new one/) })
  })

  // Conformance: C-18.47.
  it('is a source error if the version is too old to identify its installation', async () => {
    const url = await serveFrames(oldSnapshot)
    expect(await open({ api_base_url: url }).readInstallation()).toBeNull()
    const follower = await startApp({ manufacturers: [follow(url)] })
    await until('the source has an error', async () => {
      const { json } = await follower.get('/api/health/')
      return json.manufacturers.some(({ error }: { error: string }) => /version is too old/.test(error))
    })
    expect(await follower.receivers()).toEqual([])
  })

  // Conformance: C-18.47.
  it('drops invalid parts of a message, reports them, and does not affect other sites', async () => {
    const data = { receivers: [], alerts: [], shows: [], sources: [], sites: [] }
    const snapshot = { type: 'snapshot', seq: 1, epoch: 'a', installation: 'other', via: [], data }
    const frames: readonly (readonly object[])[] = [
      [{ ...snapshot, data: null }],
      [{ ...snapshot, data: { ...data, receivers: null } }],
      [{ ...snapshot, data: { ...data, receivers: [null] } }],
      [{ ...snapshot, data: { ...data, receivers: [{ id: 1 }] } }],
      [{ ...snapshot, data: { ...data, alerts: [null] } }],
      [snapshot, { type: 'receiver_added', seq: 2 }],
      [snapshot, { type: 'levels', seq: 2, at: '', values: null }],
      [snapshot, { type: 'slots', seq: 2 }],
      [snapshot, { type: 'show', seq: 2 }],
      [snapshot, { type: 'event', seq: 2 }],
    ]
    const urls = await Promise.all(frames.map((list) => serveFrames(...list.map((frame) => JSON.stringify(frame)))))
    const sites = urls.map((url, index) => follow(url, `malformed_${index}`, `Malformed ${index}`))
    const { config } = await startFront()
    const follower = await startApp({ manufacturers: [...sites, { ...follow(peer.app.url), config }] })
    await until('all sources respond', async () => {
      const { json } = await follower.get('/api/health/')
      const [first, second, ...others] = json.manufacturers as { error: string | null; details: string[] }[]
      // Without a snapshot, nothing can be shown.
      for (const site of [first, second]) expect(site?.error).toMatch(/version is too old \(snapshot\.data/)
      const good = others.pop()
      expect(good).toMatchObject({ error: null, details: [] })
      for (const { error, details } of others) {
        expect(error).toBeNull()
        expect(details).toEqual([expect.stringMatching(/left out \(\w+\..+: expected .+\); install the same version/)])
      }
      return true
    })
    await until('the other site is followed', async () => (await follower.receivers()).length === 3)
  })
})

async function startFront() {
  const simulator = await peer.startFront({ rateLimit: { perSecond: 10_000, burst: 10_000 } })
  onTestEnd(() => simulator.close())
  return simulator
}
