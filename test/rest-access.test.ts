/** Access to the REST interface: host names, origins, forwarding headers, listeners and the mount prefix. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { expectError } from './support/expect-error.ts'
import { httpClient } from './support/http-client.ts'
import { engines } from './support/store/databases.ts'

const hostOf = (app: TestApp, name: string) => ({ host: `${name}:${app.port}` })

describe('access', () => {
  // Conformance: C-6.10.
  it('is limited to the host names of the service', async () => {
    const app = await startApp({ config: { server: { allowed_hosts: ['mics.example', 'mics.local.'] } } })
    for (const name of [
      'localhost',
      'localhost.',
      '127.0.0.1',
      '[::1]',
      hostname(),
      'mics.example',
      'MICS.example.',
      'mics.local',
    ]) {
      expect([name, (await app.get('/api/health', hostOf(app, name))).status]).toEqual([name, 200])
    }
    for (const name of ['evil.example', '10.0.0.1', 'localhost.evil.example', '127.0.0.1.evil.example', '[::2]']) {
      for (const path of ['/', '/api/data.json', '/healthz', '/nothing', '/%ff']) {
        expectError(await app.get(path, hostOf(app, name)), 421)
      }
      await expect(app.socket('/ws', { headers: hostOf(app, name) })).rejects.toThrow('HTTP 421')
    }
    const twoHosts = 'GET /api/health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    expect(await app.raw(twoHosts)).toMatch(/^HTTP\/1\.1 4(21|00) /)
    const absolute = 'GET http://evil.example/api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    expect(await app.raw(absolute)).toMatch(/^HTTP\/1\.1 421 /)
    expect(await app.raw('GET /api/health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /)
    // As in a request to a proxy, the request target contains the host name, and the Host header is ignored.
    for (const target of [
      'http://127.0.0.1/healthz',
      'HTTP://localhost.:8080/healthz?x=1',
      'http://mics.example/healthz',
    ]) {
      const request = `GET ${target} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`
      expect([target, (await app.raw(request)).slice(0, 12)]).toEqual([target, 'HTTP/1.1 200'])
    }
    const requestHead = `POST http://127.0.0.1:${app.port}/api/refresh HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\n`
    const origin = `Origin: http://127.0.0.1:${app.port}\r\nConnection: close\r\n\r\n`
    expect(await app.raw(requestHead + origin)).toMatch(/^HTTP\/1\.1 200 /)
  })

  // Conformance: C-7.25.
  it('ignores an upgrade to an unsupported protocol', async () => {
    const app = await startApp()
    const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA' }
    for (const path of ['/healthz', '/api/data.json', '/']) expect((await app.get(path, h2c)).status).toBe(200)
    const created = await app.post('/api/group/', { title: 'Choir' }, h2c)
    expect([created.status, created.json.title]).toEqual([201, 'Choir'])
    expectError(await app.get('/nothing', h2c), 404)
    expectError(await app.get('/ws', h2c), 426, /ws:/)
    const socket = connect(app.port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').on('data', (text) => {
      received += text
    })
    // Data sent right after the upgrade request may be lost. The connection is closed, so the client detects the loss.
    const upgradeRequest = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: TLS/1.0\r\n\r\n'
    socket.write(`${upgradeRequest}GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await once(socket, 'close')
    expect(received).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*\{"status":"ok"\}$/i)
  })

  // Conformance: C-6.11.
  it('allows writes and sockets from its own pages and from programs, not from other sites', async () => {
    const app = await startApp()
    const sameOrigin = `http://127.0.0.1:${app.port}`
    const foreign = ['null', 'http://evil.example', `http://localhost:${app.port}`, `https://127.0.0.1:${app.port}`]
    const rejected = [
      ...foreign.map((origin) => ({ origin })),
      ...['cross-site', 'same-site'].map((site) => ({ 'sec-fetch-site': site })),
      { origin: sameOrigin, 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of rejected) {
      expectError(await app.post('/api/refresh/', undefined, headers), 403)
      await expect(app.socket('/ws', { headers })).rejects.toThrow('HTTP 403')
    }
    const accepted: Record<string, string>[] = [
      { origin: sameOrigin, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      {},
    ]
    for (const headers of accepted) {
      expect((await app.post('/api/refresh/', undefined, headers)).status).toBe(200)
      await app.socket('/ws', { headers })
    }
  })
})

describe('access from other computers', () => {
  // Conformance: C-6.3.
  it.each(['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'via'])(
    'requires sign-in for a request with the header %s',
    async (header) => {
      const app = await startApp()
      const headers = { [header]: '10.0.0.1' }
      expectError(await app.get('/api/data.json', headers), 401)
      expectError(await app.post('/api/refresh', undefined, headers), 401)
      await expect(app.socket('/ws', { headers })).rejects.toThrow('HTTP 401')
      expect((await app.get('/healthz', headers)).status).toBe(200)
    },
  )

  // Conformance: C-6.4, C-6.7.
  it.each([
    ['on the LAN', { server: { host: '0.0.0.0' } }],
    ['with require_login', { require_login: true }],
  ])('requires sign-in %s', async (_, config) => {
    const app = await startApp({ config })
    for (const path of ['/api/data.json', '/api/receivers/', '/api/health', '/api/config', '/readyz', '/api/none']) {
      const response = await app.get(path)
      expectError(response, 401)
      expect(response.headers['www-authenticate']).toMatch(/^Bearer/)
    }
    expectError(await app.post('/api/refresh'), 401)
    await expect(app.socket()).rejects.toThrow('HTTP 401')
    expect((await app.get('/healthz')).json).toEqual({ status: 'ok' })
  })

  it('is possible from the LAN at every address of the listener', async () => {
    const app = await startApp({ config: { server: { host: '0.0.0.0' } } })
    const addresses = Object.values(networkInterfaces()).flatMap((all = []) =>
      all.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
    )
    for (const address of addresses) {
      const client = httpClient(`http://${address}:${app.port}`)
      expect((await client.get('/healthz')).status).toBe(200)
      expectError(await client.get('/healthz', hostOf(app, '203.0.113.9')), 421)
    }
  })
})

describe.each(engines)('below a prefix (%s)', (engine) => {
  // Conformance: S-4.19, S-4.24, C-5.4, C-7.1.
  it('serves everything; the liveness checks and WebSockets are also at the root', async () => {
    const shure = withoutPush(await startShure())
    const config = { server: { mount: '/venue/mics/' } }
    const app = await startApp({ engine, config, manufacturers: [configFor(shure)] })
    expect(app.url).toMatch(/\/venue\/mics$/)
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    const page = (await app.get('/api/receivers/?page_size=1')).json
    expect(page.next).toBe('/venue/mics/api/receivers/?page_size=1&page=2')
    for (const path of ['/', '', '/about/', '/healthz', '/readyz', '/api/health/']) {
      expect([path, (await app.get(path)).status]).toEqual([path, 200])
    }
    for (const path of ['/ws', '/ws/', '/ws/micwatch', '/ws/devices/']) await app.socket(path)

    const root = app.withBasePath('/')
    for (const path of ['/healthz', '/readyz']) expect((await root.get(path)).status).toBe(200)
    for (const path of ['/api/data.json', '/', '/api/health/', '/nothing']) expectError(await root.get(path), 404)
    for (const path of ['/ws', '/ws/micwatch/']) await root.socket(path)
  })
})
