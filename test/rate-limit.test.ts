/** The rate limit of the API. */

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { operations } from '../src/contract/operations.ts'
import { createApi } from '../web/app/api.ts'
import { createInstallation, startApp, type TestAppOptions } from './support/app.ts'
import { spellingsOf } from './support/spellings.ts'
import { tokenHeaders } from './support/tokens.ts'

const limited = (rate_limit: object): TestAppOptions => ({ config: { rate_limit } })

/** Every operation below /api/, with an example of its path. */
const apiRoutes = Object.values(operations).flatMap(({ method, url }) =>
  url.startsWith('/api/') ? { method, url, path: url.replace(/:\w+/g, '1') } : [],
)

describe('the rate limit', () => {
  // Conformance: S-7.4, S-8.1, C-5.15.
  // Reliability: 3.7.1.
  it('is 120 requests a minute by default, and every response has the remaining number', async () => {
    // No token is refilled.
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const app = await startApp(limited({}))
    const first = await app.get('/api/health/')
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '120',
      'x-ratelimit-remaining': '119',
      'x-ratelimit-reset': '1',
    })
    const responses = await Promise.all(Array.from({ length: 130 }, () => app.get('/api/receivers/')))
    const rejected = responses.filter(({ status }) => status === 429)
    expect(rejected.length).toBe(11)
    expect(rejected[0]?.json).toEqual({ error: 'Too many requests.', status: 429 })
    expect(Number(rejected[0]?.headers['retry-after'])).toBe(1)
    expect(rejected[0]?.headers['x-ratelimit-remaining']).toBe('0')
    expect(Number(rejected[0]?.headers['x-ratelimit-reset'])).toBeGreaterThan(55)
  })

  // Conformance: S-8.2.
  // Reliability: 3.7.1.
  it('allows further requests once tokens are refilled', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const app = await startApp(limited({ max_requests: 2, window_seconds: 1 }))
    const getStatus = async () => (await app.get('/api/health/')).status
    expect([await getStatus(), await getStatus(), await getStatus()]).toEqual([200, 200, 429])
    vi.advanceTimersByTime(499)
    expect(await getStatus()).toBe(429)
    vi.advanceTimersByTime(1)
    expect([await getStatus(), await getStatus()]).toEqual([200, 429])
    vi.advanceTimersByTime(5000)
    expect([await getStatus(), await getStatus(), await getStatus()]).toEqual([200, 200, 429])
  })

  // Reliability: 3.7.2.
  it('does not apply to pages, their assets and the liveness check', async () => {
    const app = await startApp(limited({ max_requests: 1, window_seconds: 60 }))
    for (let count = 0; count < 5; count += 1) {
      for (const path of ['/', '/healthz', '/about/']) {
        const { status, headers } = await app.get(path)
        expect({ path, status, limit: headers['x-ratelimit-limit'] }).toEqual({ path, status: 200, limit: undefined })
      }
    }
    await app.socket()
    expect((await app.get('/api/health/')).status).toBe(200)
    expect((await app.get('/api/no-such-thing')).status).toBe(429)
  })

  // Reliability: 1.19, 3.7.3.
  it('applies separately to each API token and each IP address', async () => {
    const app = await startApp(limited({ max_requests: 2, window_seconds: 600 }))
    const [first, other] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'viewer')]
    const getStatus = async (headers: Record<string, string>) => (await app.get('/api/health/', headers)).status
    expect([await getStatus(first), await getStatus(first), await getStatus(first)]).toEqual([200, 200, 429])
    expect([await getStatus(other), await getStatus(other), await getStatus(other)]).toEqual([200, 200, 429])
    expect([await getStatus({}), await getStatus({}), await getStatus({})]).toEqual([200, 200, 429])
  })

  it('is five times as high for the pages, which wait and ask again when they exceed it', async () => {
    const app = await startApp(limited({ max_requests: 1, window_seconds: 1 }))
    const page = { 'sec-fetch-site': 'same-origin' }
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await app.get('/api/health/', page)).status),
    )
    expect(statuses).toContain(429)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(5)
    const api = createApi(app.url, new AbortController().signal)
    const responses = await Promise.all([api.health(), api.health()])
    expect(responses.map(({ ok }) => ok)).toEqual([true, true])
  })

  // Reliability: 3.7.3.
  it('counts rejected requests', async () => {
    const app = await startApp({
      config: { require_login: true, rate_limit: { max_requests: 2, window_seconds: 600 } },
    })
    const getStatus = async () => (await app.get('/api/health/', { authorization: 'Bearer nonsense' })).status
    expect([await getStatus(), await getStatus(), await getStatus()]).toEqual([401, 401, 429])
  })

  it('also applies below a mount prefix', async () => {
    const app = await startApp({
      config: { server: { mount: '/mic' }, rate_limit: { max_requests: 1, window_seconds: 600 } },
    })
    expect((await app.get('/api/health/')).status).toBe(200)
    expect((await app.get('/api/health/')).status).toBe(429)
  })

  // Reliability: 3.7.1.
  it('counts every request of an operation, however its address is spelled, and also unknown addresses', async () => {
    const server = { mount: '/mic', trusted_proxies: ['127.0.0.1'] }
    const app = await startApp({ config: { server, rate_limit: { max_requests: 1, window_seconds: 600 } } })
    const root = app.withBasePath('/')
    for (const [index, { method, path }] of apiRoutes.entries()) {
      // Each operation is requested from an address of its own.
      const headers = { 'x-forwarded-for': `10.0.${index >> 8}.${index & 255}` }
      const first = await root.send(method, `/mic${path}`, { headers })
      expect([method, path, first.status === 429, first.headers]).toEqual([
        method,
        path,
        false,
        expect.objectContaining({ 'x-ratelimit-remaining': expect.any(String) }),
      ])
      const { same, unknown } = spellingsOf(`/mic${path}`, `http://127.0.0.1:${app.port}`)
      for (const target of [same.at(-1) ?? '', unknown[0] ?? '', path, '/mic/api/%ff']) {
        expect([method, target, (await root.send(method, target, { headers })).status]).toEqual([method, target, 429])
      }
    }
  })

  it('of an endpoint applies to every spelling of its address, and to HEAD', async () => {
    const once = { max_requests: 1, window_seconds: 600 }
    const overrides = Object.fromEntries(
      apiRoutes.map(({ method, url }) => [`${method} ${url.replace(/:(\w+)/g, '{$1}')}`, once]),
    )
    const app = await startApp(limited({ max_requests: 100_000, window_seconds: 1, overrides }))
    const headers = await tokenHeaders(app, 'viewer')
    // Accepted requests for pictures are not counted, and rejected reports count towards the general limit.
    const others = new Set<string>([operations.getPicture.url, operations.ingestReceivers.url])
    for (const { method, url, path } of apiRoutes.filter((route) => !others.has(route.url))) {
      const { same, unknown } = spellingsOf(path, `http://127.0.0.1:${app.port}`)
      for (const name of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
        for (const target of [path, ...same]) {
          const response = await app.send(name, target, { headers })
          expect([name, target, response.headers['x-ratelimit-limit']]).toEqual([name, target, '1'])
        }
        for (const target of unknown) {
          const { status } = await app.send(name, target, { headers })
          expect([name, target, url, status]).toEqual([name, target, url, 404])
        }
      }
    }
  })

  it('applies to addresses that are not valid, and so do the rules for credentials', async () => {
    const config = { require_login: true, rate_limit: { max_requests: 5, window_seconds: 600 } }
    const app = await startApp({ config })
    const token = await tokenHeaders(app, 'viewer')
    const wrong = { authorization: `Bearer micwatch_1_${'x'.repeat(43)}` }
    const malformed = ['/api/%ff', '/%', `/api/receivers/${'1'.repeat(500)}/`]
    for (const path of malformed) expect([path, (await app.get(path, wrong)).status]).toEqual([path, 401])
    expect((await app.get('/api/%ff')).status).toBe(401)
    expect((await app.get('/api/%ff', token)).status).toBe(400)
    expect((await app.get(`/api/receivers/${'1'.repeat(500)}/`, token)).status).toBe(400)
    expect((await app.get('/api/%ff')).status).toBe(401)
    expect((await app.get('/api/%ff')).status).toBe(429)
    expect((await app.get('/api/health/', token)).status).toBe(200)
  })

  // Conformance: S-8.8, C-1.10.
  it('can be lower for one endpoint, where rejected requests do not count', async () => {
    const overrides = { 'POST /api/group/': { max_requests: 2, window_seconds: 600 } }
    const app = await startApp(limited({ max_requests: 1000, overrides }))
    const createGroup = async (body: object) => (await app.post('/api/group/', body)).status
    expect([
      await createGroup({}),
      await createGroup({ title: 'A' }),
      await createGroup({ title: '' }),
      await createGroup({ title: 'B' }),
    ]).toEqual([400, 201, 400, 201])
    const rejected = await app.post('/api/group', { title: 'C' })
    expect(rejected.status).toBe(429)
    expect(rejected.headers['x-ratelimit-limit']).toBe('2')
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(200)
    expect((await app.get('/api/groups/')).json).toHaveLength(2)
  })

  it('can be lower for an endpoint with an id in its path, below a mount prefix', async () => {
    const overrides = { 'GET /api/receivers/{id}/': { max_requests: 1, window_seconds: 600 } }
    const app = await startApp({ config: { server: { mount: '/mic' }, rate_limit: { max_requests: 1000, overrides } } })
    const status = async (path: string) => (await app.get(path)).status
    expect([await status('/api/receivers/'), await status('/api/receivers/')]).toEqual([200, 200])
    const limits = (await app.get('/api/receivers/1/')).headers['x-ratelimit-limit']
    expect(limits).toBe('1')
  })

  const suggestion = '; did you mean POST /api/discover/?'

  it.each([
    ['POST /api/discovery/', suggestion],
    ['GET /api/discover/', suggestion],
    ['POST /healthz', ''],
    ['POST', ''],
    ['/api/discover/', ''],
  ])('for an unknown endpoint is rejected at the start: %s', async (endpoint, hint) => {
    const overrides = { [endpoint]: { max_requests: 1, window_seconds: 60 } }
    const installation = await createInstallation({ rate_limit: { overrides } })
    const { code, out, err } = await installation.run(['serve', '--port', '0'])
    expect([code, out]).toEqual([2, ''])
    expect(err).toBe(
      `micwatch: micwatch.yaml: rate_limit.overrides: expected an endpoint such as POST /api/discover/, not ${endpoint}${hint}\n`,
    )
  })
})
