/** A service that drains for `server.drain_seconds` before it stops. */

import { describe, expect, it } from 'vitest'
import { configFor, createInstallation, startApp, startShure, until } from './support/app.ts'
import { heldSources } from './support/internals.ts'
import { tokenHeaders } from './support/tokens.ts'
import { lan } from './support/users.ts'

describe.concurrent('a service that drains', () => {
  // Conformance: C-17.4.
  it('gives its sources to another process at once, and serves requests, new connections and WebSockets', async () => {
    const shure = await startShure()
    const first = await startApp({ manufacturers: [configFor(shure)] })
    await until('the first process polls', async () => (await first.receivers()).length === 2)
    const second = await startApp({
      manufacturers: [configFor(shure)],
      databaseUrl: first.databaseUrl,
      dataDir: first.dataDir,
    })
    await until('the second process knows the receivers', async () => (await second.receivers()).length === 2)
    const before = await first.socket()
    expect((await first.get('/readyz')).status).toBe(200)

    first.drain()
    const probe = await first.get('/readyz')
    expect([probe.status, probe.json, probe.headers['retry-after']]).toEqual([
      503,
      { status: 'unavailable' },
      expect.any(String),
    ])
    expect((await first.get('/readyz?exclude=database')).status).toBe(503)
    expect((await first.get('/healthz')).json).toEqual({ status: 'ok' })
    const after = await first.socket()
    await until('the second process polls', async () => (await heldSources(second)).length === 1)
    expect(await heldSources(first)).toEqual([])
    // Data of the other process still reach the clients of this one.
    for (const socket of [before, after]) {
      const seen = socket.ofType('device_update').length
      await until('a change arrives', () => socket.ofType('device_update').length > seen)
    }
    const response = await first.get('/api/data.json')
    expect([response.status, response.headers.connection]).toEqual([200, 'close'])
    expect((await first.post('/api/config/', { key: 'polling_interval', value: '7' })).status).toBe(200)

    await first.close()
    expect(await Promise.all([before.closed, after.closed])).toEqual([1001, 1001])
  })

  // Conformance: C-17.5.
  it('responds to SIGTERM for drain_seconds and then exits with code 0', async () => {
    const installation = await createInstallation({ server: { drain_seconds: 1 } })
    const service = await installation.serve()
    const socket = await service.socket()
    const startedAt = performance.now()
    service.kill('SIGTERM')
    await until('the service drains', async () => (await service.get('/readyz')).status === 503)
    expect((await service.get('/api/data.json')).status).toBe(200)
    expect([await socket.closed, await service.ended]).toEqual([1001, 0])
    expect(performance.now() - startedAt).toBeGreaterThan(1000)
  })

  // Conformance: C-17.6.
  it('ends immediately at a second signal, and at SIGINT', async () => {
    const installation = await createInstallation({ server: { drain_seconds: 60 } })
    const [twice, interrupted] = await Promise.all([installation.serve(), installation.serve(['--data-dir', 'other'])])
    twice.kill('SIGTERM')
    interrupted.kill('SIGINT')
    await until('the service drains', async () => (await twice.get('/readyz')).status === 503)
    twice.kill('SIGTERM')
    expect(await Promise.all([twice.ended, interrupted.ended])).toEqual([143, 0])
  })
})

// Conformance: C-17.7.
it('/readyz needs no credentials only for the health checks of a trusted proxy', async () => {
  const trusting = await startApp({ config: { server: { ...lan.server, trusted_proxies: ['127.0.0.1/32'] } } })
  expect((await trusting.get('/readyz')).status).toBe(200)
  expect((await trusting.get('/readyz', { 'x-forwarded-for': '192.0.2.1' })).status).toBe(401)
  expect((await trusting.get('/api/data.json')).status).toBe(401)
  const other = await startApp({ config: { server: { ...lan.server, trusted_proxies: ['192.0.2.0/24'] } } })
  expect((await other.get('/readyz')).status).toBe(401)
  expect((await other.get('/readyz', await tokenHeaders(other, 'viewer'))).status).toBe(200)
})
