/** How somebody is let in, who that is, and how it is taken away again. */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startApp, startHome, type TestApp, until } from './app.ts'
import { createTestDatabase, engines } from './databases.ts'
import type { HttpAnswer } from './http-client.ts'
import { addAdmin, cookieOf, createToken, lan, password, signIn } from './people.ts'
import { timeLimit } from './time-limit.ts'

describe.each(engines)('two services with the same public address, on one database (%s)', (engine) => {
  it.each([
    ['http://mics.example:8000/micwatch/', {}, 'micwatch_sid_mics.example_8000_micwatch'],
    ['https://mics.example', { 'x-forwarded-proto': 'https' }, '__Host-micwatch_sid_mics.example'],
  ])('accept the sessions of each other: %s', async (publicUrl, forwarded, name) => {
    const database = await createTestDatabase(engine)
    onTestFinished(database.drop)
    const server = { ...lan.server, public_url: publicUrl, trusted_proxies: ['127.0.0.1'] }
    const options = { databaseUrl: database.url, config: { server } }
    const [one, other] = [await startApp(options), await startApp(options)]
    await addAdmin(one)
    const answer = await one.post('/api/auth/login', { username: 'root', password }, forwarded)
    expect(answer.headers['set-cookie']?.[0]).toMatch(new RegExp(`^${name}=`))
    const headers = { ...forwarded, cookie: cookieOf(answer) }
    expect((await other.get('/api/auth/session', headers)).json).toMatchObject({ user: { username: 'root' } })
    const written = await other.post('/api/refresh/', undefined, {
      ...headers,
      'x-csrf-token': answer.json.csrf_token,
    })
    expect(written.status).toBe(200)
    await (await other.socket('/ws', { headers })).next(({ type }) => type === 'status')

    const stranger = await startApp({ ...options, config: { server: { ...server, public_url: null } } })
    expect((await stranger.get('/api/auth/session', headers)).status).toBe(401)
  })
})

describe('what is taken away', () => {
  async function opened(config: object) {
    const app = await startApp({ config })
    await addAdmin(app)
    const admin = await signIn(app)
    const { json: ana } = await app.post('/api/admin/users/', { username: 'ana', password, role: 'operator' }, admin)
    const headers = await signIn(app, 'ana')
    const socket = await app.socket('/ws', { headers })
    await socket.next(({ type }) => type === 'status')
    return { app, admin, ana, headers, socket }
  }

  const ways: readonly (readonly [string, (given: Awaited<ReturnType<typeof opened>>) => Promise<HttpAnswer>])[] = [
    ['sign-out', ({ app, headers }) => app.post('/api/auth/logout', undefined, headers)],
    [
      'a new password',
      ({ app, headers }) =>
        app.post('/api/auth/password', { current_password: password, new_password: 'another fine password' }, headers),
    ],
    ['a shut account', ({ app, admin, ana }) => change(app, admin, ana.id, { is_active: false })],
    ['another role', ({ app, admin, ana }) => change(app, admin, ana.id, { role: 'viewer' })],
    ['a reset password', ({ app, admin, ana }) => change(app, admin, ana.id, { password: 'another fine password' })],
    ['the user gone', ({ app, admin, ana }) => app.send('DELETE', `/api/admin/users/${ana.id}/`, { headers: admin })],
  ]

  function change(app: TestApp, headers: Record<string, string>, id: number, body: object) {
    const json = { 'content-type': 'application/json' }
    return app.send('PATCH', `/api/admin/users/${id}/`, {
      headers: { ...headers, ...json },
      body: JSON.stringify(body),
    })
  }

  // Reliability: 1.21, 3.4.4.
  it.each(ways)('by %s ends requests and open sockets at once', async (_, take) => {
    const given = await opened(lan)
    const startedAt = performance.now()
    const answer = await take(given)
    expect(answer.status).toBeLessThan(300)
    expect(await given.socket.closed).toBe(4401)
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(2000))
    expect((await given.app.get('/api/data.json', given.headers)).status).toBe(401)
    // Whoever else is signed in stays.
    expect((await given.app.get('/api/data.json', given.admin)).status).toBe(200)
  })

  // Reliability: 1.21, 3.4.4.
  it('from a token ends it too', async () => {
    const { app, admin } = await opened(lan)
    const { id, headers } = await createToken(app, admin, 'viewer')
    const socket = await app.socket('/ws', { headers })
    await socket.next(({ type }) => type === 'status')
    expect((await app.send('DELETE', `/api/admin/tokens/${id}/`, { headers: admin })).status).toBe(204)
    expect(await socket.closed).toBe(4401)
    expect((await app.get('/api/data.json', headers)).status).toBe(401)
  })

  // Reliability: 1.21, 3.4.4.
  it('ends in every process on the database', async () => {
    const { app, ana, admin, headers } = await opened(lan)
    const other = await startApp({ databaseUrl: app.databaseUrl, config: lan, isScreenOnly: true })
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
  it('lets the browser that changed its password go on with a new session', async () => {
    const { app, headers } = await opened(lan)
    const wrong = { current_password: 'not it at all', new_password: 'another fine password' }
    const refused = await app.post('/api/auth/password', wrong, headers)
    expect([refused.status, refused.json.details]).toEqual([400, 'current_password: this is not your password'])
    const weak = await app.post('/api/auth/password', { current_password: password, new_password: 'short' }, headers)
    expect(weak.json.details).toBe('new_password: expected at least 12 characters')
    const done = await app.post('/api/auth/password', { ...wrong, current_password: password }, headers)
    const renewed = { cookie: cookieOf(done), 'x-csrf-token': done.json.csrf_token as string }
    expect((await app.post('/api/refresh/', undefined, renewed)).status).toBe(200)
    await expect(signIn(app, 'ana')).rejects.toThrow('401')
    await signIn(app, 'ana', 'another fine password')
  })
})

describe('signing in', () => {
  // Conformance: C-6.19.
  // Reliability: 1.17, 3.6.4.
  it('tells an unknown user from a wrong password by nothing', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    await signIn(app)
    const times: Record<string, number[]> = { root: [], nobody: [] }
    for (let round = 0; round < 4; round++) {
      for (const username of ['root', 'nobody'] as const) {
        const startedAt = performance.now()
        const answer = await app.post('/api/auth/login', { username, password: 'not the password' })
        times[username]?.push(performance.now() - startedAt)
        expect([answer.status, answer.json]).toEqual([
          401,
          { error: 'The user name or the password is wrong.', status: 401 },
        ])
        expect(answer.headers['set-cookie']).toBeUndefined()
      }
    }
    const least = (name: string) => Math.min(...(times[name] ?? []))
    expect(least('nobody') / least('root')).toBeGreaterThan(0.5)
    expect(least('nobody') / least('root')).toBeLessThan(2)
  })

  // Conformance: C-6.18.
  // Reliability: 3.6.3.
  it('is closed for a while after five wrong ones, whether or not there is such a user', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    for (const username of ['root', 'nobody']) {
      for (let at = 0; at < 5; at++) {
        expect((await app.post('/api/auth/login', { username, password: 'wrong' })).status).toBe(401)
      }
      const answer = await app.post('/api/auth/login', { username, password })
      expect(answer.status).toBe(429)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(14 * 60)
      expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(15 * 60)
      expect(answer.json).toMatchObject({ status: 429 })
    }
  })

  // Reliability: 3.6.2.
  it('takes a small body of the right form', async () => {
    const app = await startApp({ config: lan })
    expect((await app.post('/api/auth/login', { username: 'a', password: 'x'.repeat(1100) })).status).toBe(413)
    for (const [body, details] of [
      [{ username: 'root' }, 'password: missing'],
      [{ username: 1, password: 'x' }, 'username: expected text of 1 to 1024 characters'],
      [{ username: 'root', password: 'x', remember: true }, 'remember: unknown field'],
      [[], 'body: expected an object'],
    ] as const) {
      const answer = await app.post('/api/auth/login', body)
      expect([answer.status, answer.json.details]).toEqual([400, details])
    }
    const json = { 'content-type': 'text/plain' }
    expect((await app.send('POST', '/api/auth/login', { headers: json, body: '{}' })).status).toBe(415)
  })

  // Conformance: C-6.17.
  // Reliability: 1.18, C8, 3.6.2.
  it('answers 503 rather than letting a flood of hashes pile up, and goes on', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => app.post('/api/auth/login', { username: `user${at % 20}`, password: 'x' })),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].every((status) => [401, 429, 503].includes(status))).toBe(true)
    const busy = answers.find(({ status }) => status === 503)
    if (busy !== undefined) expect(busy.headers['retry-after']).toBe('2')
    expect((await app.get('/healthz')).status).toBe(200)
  })
})

describe('the first administrator', () => {
  // Conformance: C-6.15.
  it('is made freely where nobody else can reach, once', async () => {
    const app = await startApp()
    expect((await app.get('/api/auth/setup')).json).toEqual({ needed: true, code_needed: false })
    for (const [body, details] of [
      [{ username: 'ana', password: 'short' }, 'password: expected at least 12 characters'],
      [{ username: 'ana', password: 'Password-123456' }, /^password: this one is too easy/],
      [{ username: 'ana k', password }, /^username: expected/],
    ] as const) {
      const answer = await app.post('/api/auth/setup', body)
      expect(answer.status).toBe(400)
      expect(answer.json.details).toMatch(details)
    }
    const made = await app.post('/api/auth/setup', { username: 'ana', password })
    expect([made.status, made.json.user]).toMatchObject([201, { username: 'ana', role: 'admin' }])
    const headers = { cookie: cookieOf(made) }
    expect((await app.get('/api/admin/users/', headers)).json).toHaveLength(1)
    expect((await app.get('/api/auth/setup')).json).toEqual({ needed: false, code_needed: false })
    expect((await app.post('/api/auth/setup', { username: 'ben', password })).status).toBe(409)
    expect((await app.get('/api/admin/audit/', headers)).json[0]).toMatchObject({ action: 'setup', result: 'ok' })
  })

  // Conformance: C-6.15.
  // Reliability: 1.3, 3.6.6.
  it('is made with the code from the console where others can reach, and five tries', async () => {
    const home = await startHome({ server: { host: '0.0.0.0', port: 0 } })
    const service = await home.serve()
    const file = join(home.path, 'data', 'setup-code')
    const code = (await readFile(file, 'utf8')).trim()
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{20}$/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await until('it is on standard error', () => service.err().includes(code))
    expect(service.out()).not.toContain(code)
    expect((await service.get('/api/auth/setup')).json).toEqual({ needed: true, code_needed: true })
    const body = { username: 'ana', password }
    for (let at = 0; at < 4; at++) {
      expect((await service.post('/api/auth/setup', { ...body, code: 'X'.repeat(20) })).status).toBe(403)
    }
    const spelled = `${code.slice(0, 5)}-${code.slice(5).toLowerCase()}`
    expect((await service.post('/api/auth/setup', { ...body, code: spelled })).status).toBe(201)
    await until('the file is gone', () =>
      stat(file).then(
        () => false,
        () => true,
      ),
    )
    await signIn(service, 'ana')
    // It was good for one.
    expect((await service.post('/api/auth/setup', { username: 'ben', password, code })).status).toBe(409)
  })

  // Conformance: C-6.16.
  // Reliability: 1.3, 3.6.6.
  it('is not guessed', async () => {
    const app = await startApp({ config: lan })
    for (let at = 0; at < 5; at++) {
      expect((await app.post('/api/auth/setup', { username: 'ana', password, code: 'no' })).status).toBe(403)
    }
    const answer = await app.post('/api/auth/setup', { username: 'ana', password, code: 'no' })
    expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([429, true])
  })

  it('is one person, however many try at once', async () => {
    const app = await startApp()
    const answers = await Promise.all(
      ['ana', 'ben', 'cem'].map((username) => app.post('/api/auth/setup', { username, password })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
})

describe('people and tokens over REST', () => {
  // Conformance: C-5.54.
  // Reliability: 3.5.2.
  it('are listed, made, changed and removed, without their secrets', async () => {
    const app = await startApp()
    await addAdmin(app)
    const admin = await signIn(app)
    const send = (method: string, path: string, body?: object) =>
      app.send(method, path, {
        headers: { ...admin, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })

    const made = await send('POST', '/api/admin/users/', { username: 'ana', password, role: 'viewer' })
    expect([made.status, made.json]).toMatchObject([201, { username: 'ana', role: 'viewer', is_active: true }])
    expect((await send('POST', '/api/admin/users/', { username: 'ANA', password, role: 'viewer' })).status).toBe(409)
    const odd = await send('POST', '/api/admin/users/', { username: 'x', password, role: 'owner' })
    expect(odd.json.details).toBe('role: expected viewer, operator, admin')
    const path = `/api/admin/users/${made.json.id}/`
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

    const told = JSON.stringify([
      (await send('GET', '/api/admin/users/')).json,
      (await send('GET', '/api/admin/tokens/')).json,
      (await send('GET', '/api/admin/audit/')).json,
    ])
    for (const secret of [password, 'argon2', token.json.token, admin.cookie.split(/[=;]/)[1] ?? '?', '"hash"']) {
      expect(told).not.toContain(secret)
    }
    const audit = (await send('GET', '/api/admin/audit/?page=1&page_size=2&action=user.')).json
    expect(audit.results).toHaveLength(2)
    expect(audit.results[0]).toMatchObject({
      action: 'user.delete',
      target: 'user ana',
      actor: { kind: 'user', name: 'root' },
    })
    const count = async (query: string) => (await send('GET', `/api/admin/audit/?page_size=1&${query}`)).json.count
    const ofRoot = await count('actor=root')
    expect(ofRoot).toBeGreaterThan(2)
    expect(await count('actor=root&result=ok&after=2026-01-01')).toBe(ofRoot)
    expect(await count('actor=ROO')).toBe(ofRoot)
    for (const name of ['nobody', '%25', 'r_ot']) expect(await count(`actor=${name}`)).toBe(0)
    expect(await count('before=2026-01-01')).toBe(0)
    expect((await send('GET', '/api/admin/audit/?result=fine')).json.details).toContain('result: expected one of')
    expect((await send('GET', '/api/admin/audit/?after=yesterday')).json.details).toContain('after: expected a day')
    expect((await send('DELETE', '/api/admin/audit/')).status).toBe(405)
  })

  // Reliability: 3.4.2, 3.5.1, 3.6.2.
  it('leave nothing of a secret in the database', async () => {
    const app = await startApp()
    await addAdmin(app)
    const admin = await signIn(app)
    const { token } = await createToken(app, admin, 'viewer')
    const tables = ['users', 'sessions', 'tokens', 'known_browsers', 'failed_tries', 'audit'] as const
    const rows = await Promise.all(tables.map((table) => app.house.db.read.selectFrom(table).selectAll().execute()))
    const text = JSON.stringify(rows)
    expect(text).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
    for (const value of [token, ...admin.cookie.split('; ').map((one) => one.split('=')[1] ?? '?'), password]) {
      expect(text).not.toContain(value)
    }
  })
})
describe('create_admin', () => {
  // Conformance: C-6.14, C-9.17.
  // Reliability: 3.6.5.
  it('makes an administrator who can sign in, from standard input', async () => {
    const home = await startHome()
    const made = await home.run(
      ['create_admin', '--username', 'ana', '--password-stdin', '--json'],
      {},
      `${password}\n`,
    )
    expect([made.code, made.json()]).toMatchObject([0, { created: true, user: { username: 'ana', role: 'admin' } }])
    expect(made.out + made.err).not.toContain(password)

    const again = await home.run(['create-admin', '--username', 'Ana', '--password-stdin'], {}, `${password}\n`)
    expect([again.code, again.out]).toEqual([1, ''])
    expect(again.err).toBe('micwatch: There is already a user Ana. Add --reset for a new password.\n')
    const reset = ['create_admin', '--username', 'ana', '--password-stdin', '--reset']
    expect((await home.run(reset, {}, 'another fine password\n')).code).toBe(0)

    const service = await home.serve(['--no-poll'])
    await expect(signIn(service, 'ana')).rejects.toThrow('401')
    const admin = await signIn(service, 'ana', 'another fine password')
    expect((await service.get('/api/admin/users/', admin)).status).toBe(200)
    // A reset from the machine reaches whoever is signed in.
    const socket = await service.socket('/ws', { headers: admin })
    await socket.next(({ type }) => type === 'status')
    expect((await home.run(reset, {}, 'a third fine password\n')).code).toBe(0)
    expect(await socket.closed).toBe(4401)
  })

  it('says in one line what is wrong', async () => {
    const home = await startHome()
    for (const [words, input, code, says] of [
      [[], '', 2, '--username'],
      [['--username', 'a b', '--password-stdin'], `${password}\n`, 2, '--username: expected'],
      [['--username', 'ana'], '', 2, '--password-stdin'],
      [['--username', 'ana', '--password-stdin'], 'short\n', 1, 'at least 12 characters'],
      [['--username', 'ana', '--password-stdin'], '', 1, 'at least 12 characters'],
      [['--username', 'ana', '--password', password], '', 2, '--password'],
    ] as const) {
      const answer = await home.run(['create_admin', ...words], {}, input)
      expect([words, answer.code]).toEqual([words, code])
      expect(answer.err).toContain(says)
      expect(answer.err.trim().split('\n')).toHaveLength(1)
      expect(answer.out).toBe('')
    }
  })
})
