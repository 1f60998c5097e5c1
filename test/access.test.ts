/**
 * Authentication, roles and origin checks over real sockets, on a loopback listener and on one reachable from the
 * network.
 */

import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { operations } from '../src/contract/operations.ts'
import { pages } from '../src/domain/pages.ts'
import { createInstallation, startApp, type TestApp, until } from './support/app.ts'
import { spellingsOf } from './support/spellings.ts'
import { addAdmin, attributesOf, cookieOf, createToken, lan, password, signIn } from './support/users.ts'

describe('a listener that is reachable from the network', () => {
  // Conformance: S-5.7.
  // Reliability: 1.1, 1.2.
  it('serves only sign-in, setup and the liveness check without credentials', async () => {
    const app = await startApp({ config: lan })
    for (const path of [
      '/api/data.json',
      '/api/health/',
      '/api/receivers/',
      '/api/auth/session',
      '/nowhere',
      '/readyz',
    ]) {
      const response = await app.get(path)
      expect([path, response.status, response.headers['www-authenticate']]).toEqual([path, 401, 'Bearer'])
      expect(response.json).toEqual({ error: 'Sign in, or send an API token.', status: 401 })
    }
    for (const path of ['/api/refresh/', '/api/admin/users/', '/api/auth/password']) {
      expect((await app.post(path, {})).status).toBe(401)
    }
    await expect(app.socket()).rejects.toThrow('HTTP 401')
    for (const path of ['/healthz', '/sign-in', '/set-up', '/api/auth/setup'])
      expect((await app.get(path)).status).toBe(200)
    const [asset] = await readdir(new URL('../dist/web/assets', import.meta.url))
    expect((await app.get(`/assets/${asset}`)).status).toBe(200)
  })

  // Conformance: C-6.5.
  it('redirects pages to sign-in, and only pages', async () => {
    const app = await startApp({ config: { server: { host: '0.0.0.0', mount: '/mics' } } })
    const html = { accept: 'text/html,*/*' }
    const response = await app.get('/about?x=1', html)
    expect([response.status, response.headers.location]).toEqual([302, '/mics/sign-in?next=%2Fmics%2Fabout%3Fx%3D1'])
    for (const path of ['/', '/about/', '/admin/movements/']) {
      expect([path, (await app.get(path)).headers.location]).toEqual([
        path,
        expect.stringMatching(/^\/mics\/sign-in\?/),
      ])
    }
    expect((await app.get('/sign-in', html)).status).toBe(200)
    const root = app.withBasePath('')
    for (const { path, needs } of pages) {
      const expected = needs === 'nothing' ? [200, undefined] : [302, expect.stringMatching(/^\/mics\/sign-in\?/)]
      const { same } = spellingsOf(`/mics${path.replace(':id', '1')}`, `http://127.0.0.1:${app.port}`)
      for (const target of same) {
        const { status, headers } = await root.get(target)
        expect([target, status, headers.location]).toEqual([target, ...expected])
      }
    }
    const { same, unknown } = spellingsOf('/mics/api/health/', `http://127.0.0.1:${app.port}`)
    for (const target of ['/mics/api/health/', '/mics/%61pi/nothing', '/mics/metrics', '/mics/data.json', ...same]) {
      expect([target, (await root.get(target, html)).status]).toEqual([target, 401])
    }
    for (const target of unknown) expect([200, 404]).not.toContain((await root.get(target, html)).status)
    const redirect = await root.get('//evil.example/', html)
    expect(redirect.headers.location).toBe('/mics/sign-in')
  })

  // Conformance: C-6.6.
  it('allows only reading with public_read', async () => {
    const app = await startApp({ config: { ...lan, public_read: true } })
    expect((await app.get('/api/data.json')).status).toBe(200)
    expect((await app.get('/')).status).toBe(200)
    const socket = await app.socket()
    await socket.next(({ type }) => type === 'status')
    expect((await app.post('/api/refresh/')).status).toBe(401)
    expect((await app.get('/api/admin/users/')).status).toBe(401)
    expect((await app.get('/api/auth/session')).json).toMatchObject({ user: null, kind: 'guest', role: 'viewer' })
  })

  // Conformance: S-5.7, C-5.46.
  // Reliability: 3.5.1.
  it('accepts a session and a token, and rejects wrong ones', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const admin = await signIn(app)
    expect((await app.get('/api/data.json', admin)).status).toBe(200)
    expect((await app.get('/api/auth/session', admin)).json).toMatchObject({
      user: { username: 'root', role: 'admin', is_active: true },
      csrf_token: admin['x-csrf-token'],
      kind: 'user',
    })
    const socket = await app.socket('/ws', { headers: { cookie: admin.cookie } })
    await socket.next(({ type }) => type === 'status')

    const { token, headers } = await createToken(app, admin, 'viewer')
    expect(token).toMatch(/^micwatch_\d+_[A-Za-z0-9_-]{43}$/)
    expect((await app.get('/api/data.json', headers)).status).toBe(200)
    await (await app.socket('/ws', { headers })).next(({ type }) => type === 'status')
    expect((await app.get('/api/data.json', { authorization: `bearer ${token}` })).status).toBe(200)
    for (const wrong of [`Bearer ${token}x`, `Bearer ${token.replace(/.$/, '_')}`, 'Bearer', `Basic ${token}`]) {
      expect((await app.get('/api/data.json', { authorization: wrong })).status).toBe(401)
    }
    expect((await app.get(`/api/data.json?token=${token}`)).status).toBe(401)
    const session = /micwatch_sid_\d+=([^;]+)/.exec(admin.cookie)?.[1]
    expect((await app.get('/api/data.json', { authorization: `Bearer ${session}` })).status).toBe(401)
    expect((await app.get('/api/data.json', { cookie: admin.cookie.replace('micwatch_sid', 'sid') })).status).toBe(401)
  })

  // Reliability: 3.4.1.
  it('sets cookies that scripts and other sites cannot use', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const { headers } = await app.post('/api/auth/login', { username: 'ROOT', password })
    const [sid, browser] = headers['set-cookie'] ?? []
    for (const [cookie = '', name] of [
      [sid, 'sid'],
      [browser, 'browser'],
    ]) {
      expect(cookie).toMatch(new RegExp(`^micwatch_${name}_${app.port}=[A-Za-z0-9_-]{43};`))
      expect(attributesOf(cookie)).toEqual([
        'HttpOnly',
        expect.stringMatching(/^Max-Age=\d+$/),
        'Path=/',
        'SameSite=Lax',
      ])
    }
    expect(sid).toContain('Max-Age=1209600')
  })
})

describe('roles', () => {
  // Routes, and the roles that may call them. The calls that are allowed change nothing.
  const table = [
    ['GET', '/api/health/', ['viewer', 'operator', 'admin']],
    ['POST', '/api/refresh/', ['operator', 'admin']],
    ['GET', '/api/admin/users/', ['admin']],
    ['GET', '/api/admin/tokens/', ['admin']],
    ['GET', '/api/admin/audit/', ['admin']],
    ['DELETE', '/api/admin/users/999/', ['admin']],
  ] as const

  // Conformance: C-5.15, C-6.8, C-6.9.
  // Reliability: 1.2, 1.14.
  it('apply to sessions and tokens on every listener, as in the table', async () => {
    for (const config of [lan, {}]) {
      const app = await startApp({ config })
      await addAdmin(app)
      const admin = await signIn(app)
      for (const role of ['viewer', 'operator', 'admin'] as const) {
        const username = `the-${role}`
        expect((await app.post('/api/admin/users/', { username, password, role }, admin)).status).toBe(201)
        const credentials = [await signIn(app, username), (await createToken(app, admin, role)).headers]
        for (const headers of credentials) {
          for (const [method, path, allowed] of table) {
            const { status } = await app.send(method, path, { headers })
            // A signed-in viewer may do everything that a loopback listener allows without sign-in.
            const isOpen = config !== lan && !path.includes('/admin/')
            const isForbidden = !isOpen && !(allowed as readonly string[]).includes(role)
            expect([role, method, path, status === 403]).toEqual([role, method, path, isForbidden])
            expect(status).not.toBe(401)
          }
        }
      }
    }
  })

  it('are not checked for resources that do not exist', async () => {
    const app = await startApp({ config: { ...lan, public_read: true } })
    await addAdmin(app)
    const { headers } = await createToken(app, await signIn(app), 'viewer')
    for (const [method, path, status] of [
      ['POST', '/api/nope', 404],
      ['DELETE', '/api/admin/nope/1/', 404],
      ['DELETE', '/api/receivers/', 405],
      ['POST', '/api/health/', 405],
      ['PUT', '/api/admin/users/', 405],
    ] as const) {
      const response = await app.send(method, path, { headers })
      expect([method, path, response.status, response.headers.allow !== undefined]).toEqual([
        method,
        path,
        status,
        status === 405,
      ])
      expect([method, path, (await app.send(method, path)).status]).toEqual([method, path, 401])
    }
  })
})

describe('a loopback listener', () => {
  // Conformance: C-6.1, C-6.8.
  it('allows reading and operating without sign-in, but not administration', async () => {
    const app = await startApp()
    expect((await app.get('/api/data.json')).status).toBe(200)
    expect((await app.post('/api/refresh/')).status).toBe(200)
    expect((await app.get('/api/auth/session')).json).toMatchObject({ user: null, kind: 'local', role: 'operator' })
    const administrative = Object.values(operations).filter(({ url }) => url.startsWith('/api/admin/'))
    expect(administrative.length).toBeGreaterThan(45)
    for (const { method, url } of administrative) {
      expect([method, url, (await app.send(method, url.replace(/:\w+/, '1'))).status]).toEqual([method, url, 401])
    }
    // A cookie without a session is ignored; an invalid token is rejected.
    expect((await app.get('/api/data.json', { cookie: `micwatch_sid_${app.port}=${'x'.repeat(43)}` })).status).toBe(200)
    expect((await app.get('/api/data.json', { authorization: 'Bearer x' })).status).toBe(401)
  })

  // Reliability: 1.1, 3.7.5.
  it.each([
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'X-Forwarded-Anything',
    'Forwarded',
    'X-Real-IP',
    'Via',
  ])('does not trust a request with %s', async (name) => {
    const app = await startApp()
    const value = name === 'X-Forwarded-Host' ? 'localhost' : '127.0.0.1'
    expect((await app.get('/api/data.json', { [name]: value })).status).toBe(401)
    expect((await app.get('/healthz', { [name]: value })).status).toBe(200)
    await expect(app.socket('/ws', { headers: { [name]: value } })).rejects.toThrow('HTTP 401')
    const administrator = { username: 'ana', password }
    expect((await app.post('/api/auth/setup', administrator, { [name]: value })).status).toBe(403)
  })

  // Conformance: C-6.4.
  it('requires credentials with require_login', async () => {
    const app = await startApp({ config: { require_login: true } })
    expect((await app.get('/api/data.json')).status).toBe(401)
  })
})

describe('a trusted proxy', () => {
  const config = {
    server: { host: '0.0.0.0', trusted_proxies: ['127.0.0.0/8'], allowed_hosts: ['mics.venue.example'] },
  }
  const forwarded = {
    'x-forwarded-for': '6.6.6.6, 203.0.113.9, 127.0.0.3',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'mics.venue.example',
  }

  // Conformance: C-6.23.
  // Reliability: 1.19, 3.7.5.
  it('determines the client address, the host name and the scheme', async () => {
    const app = await startApp({ config })
    await addAdmin(app)
    const headers = { ...forwarded, origin: 'https://mics.venue.example' }
    const response = await app.post('/api/auth/login', { username: 'root', password }, headers)
    expect(response.status).toBe(200)
    expect(response.headers['set-cookie']?.[0]).toMatch(/^__Host-micwatch_sid=.*; Secure(;|$)/)
    const signedIn = { ...forwarded, cookie: cookieOf(response), 'x-csrf-token': response.json.csrf_token }
    const [last] = (await app.get('/api/admin/audit/', signedIn)).json
    expect(last).toMatchObject({ action: 'session.login', result: 'ok', actor: { address: '203.0.113.9' } })
    expect((await app.post('/api/auth/login', {}, { ...forwarded, origin: 'http://mics.venue.example' })).status).toBe(
      403,
    )
  })

  // Reliability: 3.7.5.
  it.each([
    ['x-forwarded-for', '1.2.3.4, unknown'],
    ['x-forwarded-for', ''],
    ['x-forwarded-proto', 'gopher'],
    ['x-forwarded-host', 'a b'],
  ])('must send valid headers; %s: %j is rejected', async (name, value) => {
    const app = await startApp({ config })
    expect((await app.get('/healthz', { ...forwarded, [name]: value })).status).toBe(400)
  })

  // Reliability: 3.7.5.
  it('is trusted only at the configured address', async () => {
    const app = await startApp({ config: { server: { host: '0.0.0.0', trusted_proxies: ['10.0.0.0/8'] } } })
    await addAdmin(app)
    const response = await app.post('/api/auth/login', { username: 'root', password }, forwarded)
    expect(response.headers['set-cookie']?.[0]).toMatch(/^micwatch_sid_/)
    const headers = { cookie: cookieOf(response) }
    expect((await app.get('/api/admin/audit/', headers)).json[0].actor.address).toBe('127.0.0.1')
  })
})

describe('a browser request from another site', () => {
  const originOf = (app: TestApp) => `http://127.0.0.1:${app.port}`

  // Reliability: 1.4, 1.6, 3.3.1, 3.3.2.
  it('is rejected by Origin and Sec-Fetch-Site for writes and upgrades', async () => {
    const app = await startApp()
    const table: readonly (readonly [Record<string, string>, number])[] = [
      [{}, 200],
      [{ origin: originOf(app) }, 200],
      [{ 'sec-fetch-site': 'same-origin', origin: originOf(app) }, 200],
      [{ 'sec-fetch-site': 'none' }, 200],
      [{ 'sec-fetch-site': 'same-site' }, 403],
      [{ 'sec-fetch-site': 'cross-site', origin: originOf(app) }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: `https://127.0.0.1:${app.port}` }, 403],
      [{ origin: 'http://127.0.0.1:1' }, 403],
      [{ origin: `${originOf(app)}.evil.example` }, 403],
      [{ origin: `http://localhost:${app.port}` }, 403],
      [{ origin: `http://localhost:${app.port}`, host: `LOCALHOST:${app.port}` }, 200],
    ]
    for (const [headers, status] of table) {
      expect([headers, (await app.post('/api/refresh/', undefined, headers)).status]).toEqual([headers, status])
      const opened = app.socket('/ws', { headers }).then(
        () => 200,
        (error: Error) => Number(error.message.slice(-3)),
      )
      expect([headers, await opened]).toEqual([headers, status])
    }
  })

  // Reliability: 3.3.5.
  it('is rejected for reads, unless it is a navigation', async () => {
    const app = await startApp()
    const crossSite = { 'sec-fetch-site': 'cross-site' }
    expect((await app.get('/api/data.json', { ...crossSite, 'sec-fetch-mode': 'no-cors' })).status).toBe(403)
    expect((await app.get('/', { ...crossSite, 'sec-fetch-mode': 'navigate' })).status).toBe(200)
    const { headers } = await app.get('/api/data.json', { origin: 'http://evil.example' })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  // Reliability: 1.5.
  it('is rejected under an unknown host name on every path', async () => {
    const app = await startApp({ config: { server: { host: '0.0.0.0', allowed_hosts: ['Mics.Venue.example'] } } })
    const table = [
      ['127.0.0.1', 200],
      [`127.0.0.1:${app.port}`, 200],
      ['localhost:1', 200],
      ['[::1]:80', 200],
      [hostname(), 200],
      ['mics.venue.example', 200],
      ['evil.example', 421],
      ['127.0.0.1.evil.example', 421],
      ['192.0.2.1', 421],
    ] as const
    for (const [host, status] of table) {
      expect([host, (await app.get('/healthz', { host })).status]).toEqual([host, status])
    }
    expect(
      await app.raw('GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    ).toContain(' 421 ')
    expect(
      await app.raw('GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    ).toContain(' 421 ')
    expect((await app.get('/sign-in', { host: 'evil.example' })).status).toBe(421)
  })

  // Conformance: C-17.3.
  it('under an unknown host name gets an error that names the settings to change: JSON for programs, a page for browsers', async () => {
    const app = await startApp({ config: lan })
    const settings = [
      /server\.allowed_hosts/,
      /MICWATCH_ALLOWED_HOSTS/,
      /server\.trusted_proxies/,
      /MICWATCH_TRUSTED_PROXIES/,
    ]
    const host = '<b>evil.example:8080'
    for (const path of ['/', '/api/data.json', '/api/receivers/%zz']) {
      const response = await app.get(path, { host })
      expect(response.json).toMatchObject({ status: 421, error: expect.stringContaining('host <b>evil.example. ') })
      for (const setting of settings) expect(response.json.error).toMatch(setting)

      const page = await app.get(path, { host, accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
      const html = page.bytes.toString()
      expect([page.status, page.headers['content-type']]).toEqual([421, 'text/html; charset=utf-8'])
      // The page may contain this one style sheet, and neither scripts nor anything that has to be loaded.
      const [, style = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? []
      const hash = createHash('sha256').update(style).digest('base64')
      expect(page.headers['content-security-policy']).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
      )
      expect(html).toContain('the host <b>&lt;b&gt;evil.example</b>')
      for (const setting of settings) expect(html).toMatch(setting)
      expect(html).not.toMatch(/style=|<script|src="(?!data:)/)
    }
  })

  // Conformance: C-6.12.
  // Reliability: 1.4, 3.3.3.
  it('needs the CSRF token for a write with a session, also on a loopback listener', async () => {
    for (const config of [lan, {}]) {
      const app = await startApp({ config })
      await addAdmin(app)
      const { cookie, 'x-csrf-token': token } = await signIn(app)
      for (const [headers, status] of [
        [{ cookie }, 403],
        [{ cookie, 'x-csrf-token': `${token}x` }, 403],
        [{ cookie, 'x-csrf-token': '' }, 403],
        [{ cookie, 'x-csrf-token': token }, 200],
      ] as const) {
        expect((await app.post('/api/refresh/', undefined, headers)).status).toBe(status)
      }
      expect((await app.get('/api/data.json', { cookie })).status).toBe(200)
      expect((await app.post('/api/auth/logout', undefined, { cookie })).status).toBe(403)
    }
  })
})

describe('tls: auto', () => {
  // Conformance: C-6.22.
  // Reliability: 1.22, 3.4.1.
  it('creates a self-signed certificate, reports its fingerprint, and marks the cookie as secure', async () => {
    const installation = await createInstallation({
      tls: 'auto',
      server: { host: '127.0.0.1', port: await freePort() },
    })
    const program = installation.start(['serve', '--json', '--no-poll'])
    const { address } = await until('the service listens', () => JSON.parse(program.out()) as { address: string })
    expect(address).toMatch(/^https:/)
    const send = (method: string, path: string, body?: object) =>
      new Promise<{ status: number; cookies: readonly string[]; fingerprint: string }>((resolve, reject) => {
        const headers = body ? { 'content-type': 'application/json' } : {}
        const request = httpsRequest(
          new URL(path, address),
          { method, headers, rejectUnauthorized: false },
          (response) => {
            const { fingerprint256 } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate()
            response.resume()
            resolve({
              status: response.statusCode ?? 0,
              cookies: response.headers['set-cookie'] ?? [],
              fingerprint: fingerprint256,
            })
          },
        )
        request.on('error', reject)
        request.end(body && JSON.stringify(body))
      })
    const plain = await fetch(address.replace('https:', 'http:'))
    expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining('https:// instead of http://')])
    const { status, fingerprint } = await send('GET', '/healthz')
    expect(status).toBe(200)
    expect(program.err()).toContain(fingerprint)
    const { cookies } = await send('POST', '/api/auth/setup', { username: 'ana', password })
    expect(cookies[0]).toMatch(/^__Host-micwatch_sid=/)
    expect(attributesOf(cookies[0] ?? '')).toEqual(
      expect.arrayContaining(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']),
    )
    expect((await stat(join(installation.path, 'data', 'tls.key'))).mode & 0o777).toBe(0o600)
  })
})
