/** Sign-in, users and revocation. */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createInstallation, startApp, type TestApp, until } from './support/app.ts'
import type { HttpResponse } from './support/http-client.ts'
import { createTestDatabase, engines, withDatabase } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'
import { addAdmin, cookieOf, createToken, lan, password, signIn } from './support/users.ts'

// Conformance: C-1.20.
describe.each(engines)('two services with the same public address, on one database (%s)', (engine) => {
  it.each([
    ['http://mics.example:8000', {}, 'micwatch_sid_mics.example_8000'],
    ['https://mics.example', { 'x-forwarded-proto': 'https' }, '__Host-micwatch_sid_mics.example'],
  ])('accept sessions of each other: %s', async (publicUrl, forwarded, name) => {
    const database = await createTestDatabase(engine)
    onTestFinished(database.drop)
    const server = { ...lan.server, public_url: publicUrl, trusted_proxies: ['127.0.0.1'] }
    const options = { databaseUrl: database.url, config: { server } }
    const [first, other] = [await startApp(options), await startApp(options)]
    await addAdmin(first)
    const response = await first.post('/api/auth/login', { username: 'root', password }, forwarded)
    expect(response.headers['set-cookie']?.[0]).toMatch(new RegExp(`^${name}=`))
    const headers = { ...forwarded, cookie: cookieOf(response) }
    expect((await other.get('/api/auth/session', headers)).json).toMatchObject({ user: { username: 'root' } })
    const written = await other.post('/api/refresh/', undefined, {
      ...headers,
      'x-csrf-token': response.json.csrf_token,
    })
    expect(written.status).toBe(200)
    await (await other.socket('/ws', { headers })).next(({ type }) => type === 'status')

    const otherService = await startApp({ ...options, config: { server: { ...server, public_url: null } } })
    expect((await otherService.get('/api/auth/session', headers)).status).toBe(401)
  })
})

describe('revoked access', () => {
  async function openSession(config: object) {
    const app = await startApp({ config })
    await addAdmin(app)
    const admin = await signIn(app)
    const { json: ana } = await app.post('/api/admin/users/', { username: 'ana', password, role: 'operator' }, admin)
    const headers = await signIn(app, 'ana')
    const socket = await app.socket('/ws', { headers })
    await socket.next(({ type }) => type === 'status')
    return { app, admin, ana, headers, socket }
  }

  const revocations: readonly (readonly [
    string,
    (session: Awaited<ReturnType<typeof openSession>>) => Promise<HttpResponse>,
  ])[] = [
    ['signing out', ({ app, headers }) => app.post('/api/auth/logout', undefined, headers)],
    [
      'changing the password',
      ({ app, headers }) =>
        app.post('/api/auth/password', { current_password: password, new_password: 'another fine password' }, headers),
    ],
    ['deactivating the account', ({ app, admin, ana }) => change(app, admin, ana.id, { is_active: false })],
    ['changing the role', ({ app, admin, ana }) => change(app, admin, ana.id, { role: 'viewer' })],
    [
      'resetting the password',
      ({ app, admin, ana }) => change(app, admin, ana.id, { password: 'another fine password' }),
    ],
    [
      'deleting the user',
      ({ app, admin, ana }) => app.send('DELETE', `/api/admin/users/${ana.id}/`, { headers: admin }),
    ],
  ]

  function change(app: TestApp, headers: Record<string, string>, id: number, body: object) {
    const json = { 'content-type': 'application/json' }
    return app.send('PATCH', `/api/admin/users/${id}/`, {
      headers: { ...headers, ...json },
      body: JSON.stringify(body),
    })
  }

  // Reliability: 1.21, 3.4.4.
  it.each(revocations)('by %s ends requests and open sockets at once', async (_, revoke) => {
    const session = await openSession(lan)
    const startedAt = performance.now()
    const response = await revoke(session)
    expect(response.status).toBeLessThan(300)
    expect(await session.socket.closed).toBe(4401)
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(2000))
    expect((await session.app.get('/api/data.json', session.headers)).status).toBe(401)
    // Other users stay signed in.
    expect((await session.app.get('/api/data.json', session.admin)).status).toBe(200)
  })

  // Reliability: 1.21, 3.4.4.
  it('by deleting a token ends its requests and open sockets too', async () => {
    const { app, admin } = await openSession(lan)
    const { id, headers } = await createToken(app, admin, 'viewer')
    const socket = await app.socket('/ws', { headers })
    await socket.next(({ type }) => type === 'status')
    expect((await app.send('DELETE', `/api/admin/tokens/${id}/`, { headers: admin })).status).toBe(204)
    expect(await socket.closed).toBe(4401)
    expect((await app.get('/api/data.json', headers)).status).toBe(401)
  })

  // Reliability: 1.21, 3.4.4.
  it('takes effect in every process on the database', async () => {
    const { app, ana, admin, headers } = await openSession(lan)
    const other = await startApp({ databaseUrl: app.databaseUrl, config: lan, servesOnly: true })
    const cookie = headers.cookie.replaceAll(`${app.port}=`, `${other.port}=`)
    const socket = await other.socket('/ws', { headers: { cookie } })
    await socket.next(({ type }) => type === 'status')
    const startedAt = performance.now()
    await change(app, admin, ana.id, { is_active: false })
    expect(await socket.closed).toBe(4401)
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(2000))
    expect((await other.get('/api/data.json', { cookie })).status).toBe(401)
  })

  // Reliability: 3.6.1.
  it('by a password change gives a new session to the browser that made the change', async () => {
    const { app, headers } = await openSession(lan)
    const wrong = { current_password: 'not it at all', new_password: 'another fine password' }
    const rejected = await app.post('/api/auth/password', wrong, headers)
    expect([rejected.status, rejected.json.details]).toEqual([400, 'current_password: this is not your password'])
    const weak = await app.post('/api/auth/password', { current_password: password, new_password: 'short' }, headers)
    expect(weak.json.details).toBe('new_password: expected at least 12 characters')
    const done = await app.post('/api/auth/password', { ...wrong, current_password: password }, headers)
    const renewed = { cookie: cookieOf(done), 'x-csrf-token': done.json.csrf_token as string }
    expect((await app.post('/api/refresh/', undefined, renewed)).status).toBe(200)
    await expect(signIn(app, 'ana')).rejects.toThrow('401')
    await signIn(app, 'ana', 'another fine password')
  })
})

describe('sign-in', () => {
  // Conformance: C-6.19.
  // Reliability: 1.17, 3.6.4.
  it('has the same response to an unknown user and to a wrong password', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    await signIn(app)
    // CPU times, which depend less on other programs than the time that passes.
    const times: Record<string, number[]> = { root: [], nobody: [] }
    for (let round = 0; round < 4; round++) {
      for (const username of ['root', 'nobody'] as const) {
        const before = process.cpuUsage()
        const response = await app.post('/api/auth/login', { username, password: 'not the password' })
        const { user, system } = process.cpuUsage(before)
        times[username]?.push(user + system)
        expect([response.status, response.json]).toEqual([
          401,
          { error: 'The user name or the password is wrong.', status: 401 },
        ])
        expect(response.headers['set-cookie']).toBeUndefined()
      }
    }
    const minTime = (name: string) => Math.min(...(times[name] ?? []))
    expect(minTime('nobody') / minTime('root')).toBeGreaterThan(0.5)
    expect(minTime('nobody') / minTime('root')).toBeLessThan(2)
  })

  // Conformance: C-6.18.
  // Reliability: 3.6.3.
  it('is locked for a while after five wrong passwords, whether or not the user exists', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    for (const username of ['root', 'nobody']) {
      for (let attempt = 0; attempt < 5; attempt++) {
        expect((await app.post('/api/auth/login', { username, password: 'wrong' })).status).toBe(401)
      }
      const response = await app.post('/api/auth/login', { username, password })
      expect(response.status).toBe(429)
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(14 * 60)
      expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(15 * 60)
      expect(response.json).toMatchObject({ status: 429 })
    }
  })

  // Reliability: 3.6.2.
  it('accepts a small body with valid fields only', async () => {
    const app = await startApp({ config: lan })
    expect((await app.post('/api/auth/login', { username: 'a', password: 'x'.repeat(1100) })).status).toBe(413)
    for (const [body, details] of [
      [{ username: 'root' }, 'password: missing'],
      [{ username: 1, password: 'x' }, 'username: expected text of 1 to 1024 characters'],
      [{ username: 'root', password: 'x', remember: true }, 'remember: unknown field'],
      [[], 'body: expected an object'],
    ] as const) {
      const response = await app.post('/api/auth/login', body)
      expect([response.status, response.json.details]).toEqual([400, details])
    }
    const json = { 'content-type': 'text/plain' }
    expect((await app.send('POST', '/api/auth/login', { headers: json, body: '{}' })).status).toBe(415)
  })

  // Conformance: C-6.17.
  // Reliability: 1.18, C8, 3.6.2, 3.12.13.
  it('returns 503 to a client with too many pending password hashes, and signs others in', async () => {
    const app = await startApp({ config: { ...lan, server: { ...lan.server, trusted_proxies: ['127.0.0.1'] } } })
    await addAdmin(app)
    const signInFrom = (address: string, username: string, attempted: string) =>
      app.post('/api/auth/login', { username, password: attempted }, { 'x-forwarded-for': address })
    const flood = Array.from({ length: 20 }, (_, index) => signInFrom('10.0.0.1', `user${index}`, 'x'))
    const other = signInFrom('10.0.0.2', 'root', password)
    const responses = await Promise.all(flood)
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401, 503]))
    const rejected = responses.find(({ status }) => status === 503)
    expect(rejected?.headers['retry-after']).toBe('2')
    expect(rejected?.json.details).toMatch(/4 of one client/)
    expect((await other).status).toBe(200)
    expect((await app.get('/healthz')).status).toBe(200)
  })
})

describe('the first administrator', () => {
  // Conformance: C-6.15.
  it('can be created without a code on a loopback listener, once', async () => {
    const app = await startApp()
    expect((await app.get('/api/auth/setup')).json).toEqual({ needed: true, code_needed: false, single_sign_on: null })
    for (const [body, details] of [
      [{ username: 'ana', password: 'short' }, 'password: expected at least 12 characters'],
      [{ username: 'ana', password: 'Password-123456' }, /^password: too easy/],
      [{ username: 'ana k', password }, /^username: expected/],
    ] as const) {
      const response = await app.post('/api/auth/setup', body)
      expect(response.status).toBe(400)
      expect(response.json.details).toMatch(details)
    }
    const created = await app.post('/api/auth/setup', { username: 'ana', password })
    expect([created.status, created.json.user]).toMatchObject([201, { username: 'ana', role: 'admin' }])
    const headers = { cookie: cookieOf(created) }
    expect((await app.get('/api/admin/users/', headers)).json).toHaveLength(1)
    expect((await app.get('/api/auth/setup')).json).toEqual({ needed: false, code_needed: false, single_sign_on: null })
    expect((await app.post('/api/auth/setup', { username: 'ben', password })).status).toBe(409)
    expect((await app.get('/api/admin/audit/', headers)).json[0]).toMatchObject({ action: 'setup', result: 'ok' })
  })

  // Conformance: C-6.15.
  // Reliability: 1.3, 3.6.6.
  it('needs the code from the console on a network listener, with five attempts', async () => {
    const installation = await createInstallation({ server: { host: '0.0.0.0', port: 0 } })
    const service = await installation.serve()
    const file = join(installation.path, 'data', 'setup-code')
    const code = (await readFile(file, 'utf8')).trim()
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{20}$/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await until('the code is on standard error', () => service.err().includes(code))
    expect(service.out()).not.toContain(code)
    expect((await service.get('/api/auth/setup')).json).toEqual({
      needed: true,
      code_needed: true,
      single_sign_on: null,
    })
    const body = { username: 'ana', password }
    for (let attempt = 0; attempt < 4; attempt++) {
      expect((await service.post('/api/auth/setup', { ...body, code: 'X'.repeat(20) })).status).toBe(403)
    }
    const formatted = `${code.slice(0, 5)}-${code.slice(5).toLowerCase()}`
    expect((await service.post('/api/auth/setup', { ...body, code: formatted })).status).toBe(201)
    await until('the file is deleted', () =>
      stat(file).then(
        () => false,
        () => true,
      ),
    )
    await signIn(service, 'ana')
    // The code can be used only once.
    expect((await service.post('/api/auth/setup', { username: 'ben', password, code })).status).toBe(409)
  })

  // Conformance: C-6.16.
  // Reliability: 1.3, 3.6.6.
  it('cannot be created by guessing the code', async () => {
    const app = await startApp({ config: lan })
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await app.post('/api/auth/setup', { username: 'ana', password, code: 'no' })).status).toBe(403)
    }
    const response = await app.post('/api/auth/setup', { username: 'ana', password, code: 'no' })
    expect([response.status, Number(response.headers['retry-after']) > 0]).toEqual([429, true])
  })

  it('is created once, however many requests arrive at once', async () => {
    const app = await startApp()
    const responses = await Promise.all(
      ['ana', 'ben', 'cem'].map((username) => app.post('/api/auth/setup', { username, password })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
})

describe('users and tokens over REST', () => {
  // Conformance: C-5.54.
  // Reliability: 3.5.2.
  it('are listed, created, changed and deleted, without their secrets', async () => {
    const app = await startApp()
    await addAdmin(app)
    const admin = await signIn(app)
    const send = (method: string, path: string, body?: object) =>
      app.send(method, path, {
        headers: { ...admin, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })

    const created = await send('POST', '/api/admin/users/', { username: 'ana', password, role: 'viewer' })
    expect([created.status, created.json]).toMatchObject([201, { username: 'ana', role: 'viewer', is_active: true }])
    expect((await send('POST', '/api/admin/users/', { username: 'ANA', password, role: 'viewer' })).status).toBe(409)
    const invalid = await send('POST', '/api/admin/users/', { username: 'x', password, role: 'owner' })
    expect(invalid.json.details).toBe('role: expected viewer, operator, admin')
    const path = `/api/admin/users/${created.json.id}/`
    expect((await send('PATCH', path, { role: 'operator' })).json.role).toBe('operator')
    expect((await send('PATCH', path, { password: 'short' })).status).toBe(400)
    const [root] = (await send('GET', '/api/admin/users/')).json
    expect((await send('PATCH', `/api/admin/users/${root.id}/`, { role: 'viewer' })).status).toBe(409)
    expect((await send('DELETE', `/api/admin/users/${root.id}/`)).status).toBe(409)
    const paged = (await send('GET', '/api/admin/users/?page_size=1')).json
    expect(paged).toMatchObject({ count: 2, next: '/api/admin/users/?page_size=1&page=2', previous: null })
    expect((await send('DELETE', path)).status).toBe(204)
    expect((await send('DELETE', path)).status).toBe(404)
    expect((await send('PATCH', '/api/admin/users/0/', {})).status).toBe(400)
    expect((await send('PUT', path, {})).status).toBe(405)

    const token = await send('POST', '/api/admin/tokens/', { name: 'kiosk', role: 'viewer' })
    const days = (Date.parse(token.json.expires_at) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(365)
    expect(
      (await send('POST', '/api/admin/tokens/', { name: 'x', role: 'viewer', expires_at: null })).json.expires_at,
    ).toBeNull()
    for (const expires_at of ['2001-01-01T00:00:00Z', 'tomorrow', '2030-13-45']) {
      expect((await send('POST', '/api/admin/tokens/', { name: 'x', role: 'viewer', expires_at })).status).toBe(400)
    }
    const changed = await send('PATCH', `/api/admin/tokens/${token.json.id}/`, { role: 'operator' })
    expect(changed.json).toMatchObject({ name: 'kiosk', role: 'operator' })
    expect(changed.json.token).toBeUndefined()

    const output = JSON.stringify([
      (await send('GET', '/api/admin/users/')).json,
      (await send('GET', '/api/admin/tokens/')).json,
      (await send('GET', '/api/admin/audit/')).json,
    ])
    for (const secret of [password, 'argon2', token.json.token, admin.cookie.split(/[=;]/)[1] ?? '?', '"hash"']) {
      expect(output).not.toContain(secret)
    }
    const audit = (await send('GET', '/api/admin/audit/?page=1&page_size=2&action=user.')).json
    expect(audit.results).toHaveLength(2)
    expect(audit.results[0]).toMatchObject({
      action: 'user.delete',
      target: 'user ana',
      actor: { kind: 'user', name: 'root' },
    })
    const count = async (query: string) => (await send('GET', `/api/admin/audit/?page_size=1&${query}`)).json.count
    const rootCount = await count('actor=root')
    expect(rootCount).toBeGreaterThan(2)
    expect(await count('actor=root&result=ok&after=2026-01-01')).toBe(rootCount)
    expect(await count('actor=ROO')).toBe(rootCount)
    for (const name of ['nobody', '%25', 'r_ot']) expect(await count(`actor=${name}`)).toBe(0)
    expect(await count('before=2026-01-01')).toBe(0)
    expect((await send('GET', '/api/admin/audit/?result=fine')).json.details).toContain('result: expected one of')
    expect((await send('GET', '/api/admin/audit/?after=yesterday')).json.details).toContain('after: expected a day')
    expect((await send('DELETE', '/api/admin/audit/')).status).toBe(405)
  })

  // Reliability: 3.4.2, 3.5.1, 3.6.2.
  it('store no secret as plain text in the database', async () => {
    const app = await startApp()
    await addAdmin(app)
    const admin = await signIn(app)
    const { token } = await createToken(app, admin, 'viewer')
    const tables = ['users', 'sessions', 'tokens', 'known_browsers', 'failed_tries', 'audit'] as const
    const rows = await withDatabase(app, ({ read }) =>
      Promise.all(tables.map((table) => read.selectFrom(table).selectAll().execute())),
    )
    const text = JSON.stringify(rows)
    expect(text).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
    for (const value of [token, ...admin.cookie.split('; ').map((pair) => pair.split('=')[1] ?? '?'), password]) {
      expect(text).not.toContain(value)
    }
  })
})
describe('create_admin', () => {
  // Conformance: C-6.14, C-9.17.
  // Reliability: 3.6.5.
  it('creates an administrator who can sign in, with the password from standard input', async () => {
    const installation = await createInstallation()
    const created = await installation.run(
      ['create_admin', '--username', 'ana', '--password-stdin', '--json'],
      {},
      `${password}\n`,
    )
    expect([created.code, created.json()]).toMatchObject([
      0,
      { created: true, user: { username: 'ana', role: 'admin' } },
    ])
    expect(created.out + created.err).not.toContain(password)

    const again = await installation.run(['create-admin', '--username', 'Ana', '--password-stdin'], {}, `${password}\n`)
    expect([again.code, again.out]).toEqual([1, ''])
    expect(again.err).toBe('micwatch: The user Ana already exists. Add --reset for a new password.\n')
    const reset = ['create_admin', '--username', 'ana', '--password-stdin', '--reset']
    expect((await installation.run(reset, {}, 'another fine password\n')).code).toBe(0)

    const service = await installation.serve(['--no-poll'])
    await expect(signIn(service, 'ana')).rejects.toThrow('401')
    const admin = await signIn(service, 'ana', 'another fine password')
    expect((await service.get('/api/admin/users/', admin)).status).toBe(200)
    // Resetting the password on the command line revokes existing sessions.
    const socket = await service.socket('/ws', { headers: admin })
    await socket.next(({ type }) => type === 'status')
    expect((await installation.run(reset, {}, 'a third fine password\n')).code).toBe(0)
    expect(await socket.closed).toBe(4401)
  })

  it('reports errors in one line', async () => {
    const installation = await createInstallation()
    for (const [args, input, code, message] of [
      [[], '', 2, '--username'],
      [['--username', 'a b', '--password-stdin'], `${password}\n`, 2, 'user name: expected'],
      [['--username', 'ana'], '', 2, '--password-stdin'],
      [['--username', 'ana', '--password-stdin'], 'short\n', 1, 'at least 12 characters'],
      [['--username', 'ana', '--password-stdin'], '', 1, 'at least 12 characters'],
      [['--username', 'ana', '--password', password], '', 2, '--password'],
    ] as const) {
      const response = await installation.run(['create_admin', ...args], {}, input)
      expect([args, response.code]).toEqual([args, code])
      expect(response.err).toContain(message)
      expect(response.err.trim().split('\n')).toHaveLength(1)
      expect(response.out).toBe('')
    }
  })
})
