/** Defaults that the interface specification leaves open: sessions, headers, embedding, limits, and the audit log. */

import { request as httpsRequest } from 'node:https'
import { describe, expect, it, onTestFinished } from 'vitest'
import { now } from '../../src/platform/clock.ts'
import { openCertificate } from '../../src/storage/certificate.ts'
import {
  configFor,
  createInstallation,
  startApp,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from '../support/app.ts'
import type { HttpResponse } from '../support/http-client.ts'
import { createTestFolder, withDatabase } from '../support/store/databases.ts'
import { tokenHeaders } from '../support/tokens.ts'

const password = 'correct horse battery'
const hour = 3_600_000

/** Creates the first administrator, and returns the headers of the session. */
async function createFirstAdmin(app: Pick<TestApp, 'post'>, username = 'ana') {
  return sessionHeaders(await app.post('/api/auth/setup', { username, password }))
}

function sessionHeaders(response: HttpResponse) {
  const cookie = (response.headers['set-cookie'] ?? []).map((header) => header.split(';')[0]).join('; ')
  return { cookie, 'x-csrf-token': response.json.csrf_token as string }
}

/** Makes every session `madeMs` old and unused for `restedMs`, and starts a second service on the same database. */
async function restartWithAge(app: TestApp, { madeMs: ageMs = 0, restedMs: idleMs = 0 }) {
  const time = now()
  const times = { expires_at: time + 14 * 24 * hour - ageMs, last_used_at: time - idleMs }
  await withDatabase(app, (db) => db.transaction(({ query }) => query.updateTable('sessions').set(times).execute()))
  return startApp({
    databaseUrl: app.databaseUrl,
    dataDir: app.dataDir,
    config: { require_login: true },
    servesOnly: true,
  })
}

describe('a session', () => {
  // Reliability: 3.4.3.
  it.each([
    ['idle for 23 hours', { restedMs: 23 * hour }, 200],
    ['idle for 24 hours', { restedMs: 24 * hour }, 401],
    ['13 days old', { madeMs: 13 * 24 * hour }, 200],
    ['14 days old', { madeMs: 14 * 24 * hour }, 401],
  ])('that is %s results in the expected status', async (_, age, status) => {
    const app = await startApp()
    const session = await createFirstAdmin(app)
    const later = await restartWithAge(app, age)
    const cookie = session.cookie.replaceAll(`${app.port}=`, `${later.port}=`)
    expect((await later.get('/api/data.json', { cookie })).status).toBe(status)
  })

  // Reliability: 3.4.5.
  it('that expires within the hour notifies every open page, and closes the pages when it expires', async () => {
    const app = await startApp()
    const session = await createFirstAdmin(app)
    const later = await restartWithAge(app, { madeMs: 14 * 24 * hour - 15_000 })
    const headers = { cookie: session.cookie.replaceAll(`${app.port}=`, `${later.port}=`) }
    const first = await later.socket('/ws', { headers })
    const isWarning = ({ type, message }: { type: string; message?: string }) =>
      type === 'status' && /^Your sign-in ends at \d{4}-.*Z$/.test(message ?? '')
    await first.next(isWarning)
    const second = await later.socket('/ws', { headers })
    await second.next(isWarning)
    expect(await Promise.all([first.closed, second.closed])).toEqual([4401, 4401])
    expect([first, second].map((socket) => socket.messages.filter(isWarning).length)).toEqual([1, 1])
    expect((await later.get('/api/data.json', headers)).status).toBe(401)
  })

  // Reliability: 3.12.11.
  it('is one of at most fifty: the next sign-in revokes the oldest session and closes its pages', {
    timeout: 60_000,
  }, async () => {
    const app = await startApp()
    const oldest = await createFirstAdmin(app)
    const socket = await app.socket('/ws', { headers: { cookie: oldest.cookie } })
    for (let count = 0; count < 49; count++)
      sessionHeaders(await app.post('/api/auth/login', { username: 'ana', password }))
    expect((await app.get('/api/admin/users/', oldest)).status).toBe(200)
    const newest = sessionHeaders(await app.post('/api/auth/login', { username: 'ana', password }))
    expect(await socket.closed).toBe(4401)
    expect((await app.get('/api/admin/users/', oldest)).status).toBe(401)
    expect((await app.get('/api/admin/users/', newest)).status).toBe(200)
  })
})

describe('every response', () => {
  // Reliability: 1.7, 3.10.1, 3.10.2.
  it('has security and cache headers', async () => {
    const app = await startApp()
    const policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
      "object-src 'none'"
    const cacheControls: Record<string, string> = {
      '/': 'no-cache',
      '/api/data.json': 'no-cache',
      '/api/receivers/': 'no-cache',
    }
    for (const path of [
      '/',
      '/about/',
      '/sign-in',
      '/api/data.json',
      '/api/receivers/',
      '/api/health/',
      '/healthz',
      '/nowhere',
    ]) {
      const { headers } = await app.get(path)
      expect([path, headers]).toMatchObject([
        path,
        {
          'content-security-policy': policy,
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
        },
      ])
      if (path.startsWith('/api/') || path === '/nowhere') {
        const expected = cacheControls[path] ?? 'no-store'
        expect([path, headers['cache-control'], headers.etag !== undefined]).toEqual([
          path,
          expected,
          expected === 'no-cache',
        ])
      }
      for (const name of ['server', 'x-powered-by', 'strict-transport-security', 'access-control-allow-origin']) {
        expect(headers[name]).toBeUndefined()
      }
    }
  })

  // Reliability: 3.10.3.
  it('may be framed by configured origins only', async () => {
    const server = { frame_ancestors: ['https://wall.example', 'http://10.0.0.5:4455'] }
    const app = await startApp({ config: { server } })
    for (const path of ['/', '/nowhere', '/api/receivers/%zz/']) {
      const { headers } = await app.get(path)
      expect(headers['content-security-policy']).toContain(
        'frame-ancestors https://wall.example http://10.0.0.5:4455; ',
      )
    }
  })

  // Reliability: 3.10.3.
  it('sends Strict-Transport-Security only with the operator’s own certificate, and only if configured', async () => {
    const folder = await createTestFolder()
    onTestFinished(folder.drop)
    const { cert, key } = await openCertificate(folder.path, ['localhost'], now())
    for (const strict_transport of [true, false]) {
      const app = await startApp({ config: { tls: { cert, key }, server: { strict_transport } } })
      const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
        const request = httpsRequest(
          `https://localhost:${app.port}/healthz`,
          { rejectUnauthorized: false },
          (response) => {
            response.resume()
            resolve(response.headers)
          },
        )
        request.on('error', reject).end()
      })
      expect(headers['strict-transport-security']).toBe(strict_transport ? 'max-age=31536000' : undefined)
    }
  })

  it('redirects browsers from the documentation to sign-in, and asks programs for a token', async () => {
    const app = await startApp({ config: { require_login: true } })
    const page = await app.get('/api/docs/', { accept: 'text/html' })
    expect([page.status, page.headers.location]).toEqual([302, '/sign-in?next=%2Fapi%2Fdocs%2F'])
    expect((await app.get('/api/docs/')).status).toBe(401)
    expect((await app.get('/api/openapi.json', { accept: 'text/html' })).status).toBe(401)
  })
})

describe('scans', () => {
  // Reliability: 3.7.4.
  it('are limited to two a minute; rejected ones do not count', async () => {
    const shure = withoutPush(await startShure())
    // Services in tests have high limits by default; this one has the limit that the program has by default.
    const rate_limit = { overrides: { 'POST /api/discover/': { max_requests: 2, window_seconds: 60 } } }
    const app = await startApp({ manufacturers: [configFor(shure)], config: { rate_limit } })
    const startedAt = performance.now()
    const scan = async (scan_subnet: string) => (await app.post('/api/discover/', { scan_subnet })).status
    expect([
      await scan('8.8.8.0/24'),
      await scan('10.0.0.0/30'),
      await scan('nonsense'),
      await scan('10.0.0.0/30'),
    ]).toEqual([400, 200, 400, 200])
    const rejected = await app.post('/api/discover/', { scan_subnet: '10.0.0.0/30' })
    expect(rejected.status).toBe(429)
    // The limit allows one scan every 30 s, counted from the first one.
    const leastSeconds = 30 - (performance.now() - startedAt) / 1000
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThanOrEqual(Math.max(1, Math.floor(leastSeconds)))
  })
})

describe('audit log', () => {
  // Reliability: 1.23, 3.11.2, 3.11.3.
  it('records every action and its outcome', async () => {
    const shure = await startShure()
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('its subscription is connected', () => shure.push.connections > 0)
    const root = await createFirstAdmin(app)
    const send = (method: string, path: string, body?: object, headers: object = root) =>
      app.send(method, path, {
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
    for (let count = 0; count < 5; count++) await app.post('/api/auth/login', { username: 'ana', password: 'wrong' })
    expect((await app.post('/api/auth/login', { username: 'ana', password })).status).toBe(429)
    const ben = (await send('POST', '/api/admin/users/', { username: 'ben', password, role: 'viewer' })).json
    const benHeaders = sessionHeaders(await app.post('/api/auth/login', { username: 'ben', password }))
    await send(
      'POST',
      '/api/auth/password',
      { current_password: password, new_password: 'another fine word' },
      benHeaders,
    )
    const newHeaders = sessionHeaders(
      await app.post('/api/auth/login', { username: 'ben', password: 'another fine word' }),
    )
    await send('POST', '/api/auth/logout', undefined, newHeaders)
    await send('PATCH', `/api/admin/users/${ben.id}/`, { role: 'operator' })
    await send('DELETE', `/api/admin/users/${ben.id}/`)
    const token = (await send('POST', '/api/admin/tokens/', { name: 'kiosk', role: 'viewer' })).json
    await send('DELETE', `/api/admin/tokens/${token.id}/`)
    await send('POST', '/api/config/', { key: 'alert_battery_threshold', value: '30' })
    const group = (await send('POST', '/api/group/', { title: 'Band' })).json
    await send('PUT', `/api/groups/${group.id}/`, { title: 'Choir' })
    await send('DELETE', `/api/groups/${group.id}/`)
    await send('POST', '/api/discover/', { scan_subnet: '10.0.0.0/30' })
    const id = (await app.receivers())[0]?.id ?? 0
    await send('POST', '/api/admin/realtime-connections/stop', { ids: [id] })
    await send('POST', '/api/admin/realtime-connections/start', { ids: [id] })
    await send('PATCH', `/api/admin/receivers/${id}/`, { name: 'Rack A', reason: 'renamed' })
    await send('PATCH', '/api/admin/manufacturers/shure/', { config: { shared_key: 'a new secret key' } })

    const rows = (await send('GET', '/api/admin/audit/')).json as {
      action: string
      result: string
      request_id: string
      actor: object
      at: string
    }[]
    const entries = new Set(rows.map(({ action, result }) => `${action} ${result}`))
    for (const expected of [
      'setup ok',
      'session.login ok',
      'session.login failed',
      'session.logout ok',
      'user.create ok',
      'user.change ok',
      'user.delete ok',
      'user.password ok',
      'token.create ok',
      'token.revoke ok',
      'settings.change ok',
      'group.create ok',
      'group.change ok',
      'group.delete ok',
      'network.scan ok',
      'connection.stop ok',
      'connection.start ok',
      'receiver.change ok',
      'manufacturer.change ok',
    ])
      expect([...entries]).toContain(expected)
    for (const row of rows) {
      expect(row.at).toMatch(/^\d{4}-.*Z$/)
      expect(row.request_id).toMatch(/^[0-9a-f-]{36}$/)
      expect(row.actor).toMatchObject({ kind: expect.any(String), name: expect.any(String), address: '127.0.0.1' })
    }
    expect(JSON.stringify(rows)).toContain('"limited":true')
    for (const secret of [password, 'another fine word', 'a new secret key', token.token]) {
      expect(JSON.stringify(rows)).not.toContain(secret)
    }
    // No endpoint deletes entries.
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await send(method, '/api/admin/audit/')).status).toBe(405)
      expect((await send(method, '/api/admin/audit/1/')).status).toBe(404)
    }
  })
})

describe('an entry of the audit log', () => {
  // Reliability: 1.8, 1.23, 3.11.1.
  it('is also written to standard output, one line of JSON for each entry', async () => {
    const installation = await createInstallation({ server: { port: 0 } })
    const program = installation.start(['serve', '--no-poll'])
    const address = await until('the service listens', () => /at (http:\S+)/.exec(program.out())?.[1])
    const response = await fetch(`${address}api/group/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"title":"A\\u001b[2J\\nB"}',
    })
    expect(response.status).toBe(201)
    const line = await until('the change is published', () =>
      program.lines().find((line) => line.includes('group.create')),
    )
    expect(JSON.parse(line)).toEqual({
      audit: {
        id: 1,
        at: expect.stringMatching(/Z$/),
        actor: { kind: 'local', id: null, name: 'local', address: '127.0.0.1' },
        action: 'group.create',
        target: expect.stringMatching(/^group \d+$/),
        result: 'ok',
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        details: { title: 'A\u001b[2J\nB' },
      },
    })
    // No entry contains a control sequence for the terminal.
    expect(/\p{Cc}/u.test(line)).toBe(false)

    const json = installation.start(['serve', '--no-poll', '--json'])
    const other = await until('the service listens', () => JSON.parse(json.out()).address as string)
    const headers = { 'content-type': 'application/json' }
    await fetch(`${other}api/group/`, { method: 'POST', headers, body: '{"title":"C"}' })
    await until('the entry is logged on standard error', () => json.err().includes('group.create'))
    expect(json.out()).not.toContain('group.create')
  })

  // Reliability: 3.11.1.
  it('has the request id that an error response names', async () => {
    const app = await startApp()
    const admin = await tokenHeaders(app, 'admin')
    const failed = await app.post('/api/auth/login', { username: 'ana', password: 'wrong' })
    const [row] = (await app.get('/api/admin/audit/?action=session.login', admin)).json
    expect([row.result, row.request_id]).toEqual(['failed', failed.headers['x-request-id']])
  })
})
