/** Accounts: the command line, sessions, and codes of authenticator apps. */

import { Secret, TOTP } from 'otpauth'
import { describe, expect, it } from 'vitest'
import { createInstallation, startApp, type TestApp, until } from './support/app.ts'
import { addAdmin, cookieOf, lan, password, signIn } from './support/users.ts'

// Conformance: C-26.20.
describe('user and token', () => {
  it('manage the accounts of a running service', async () => {
    const installation = await createInstallation(lan)
    const create = ['create_admin', '--username', 'root', '--password-stdin']
    expect((await installation.run(create, {}, `${password}\n`)).code).toBe(0)
    const service = await installation.serve(['--no-poll'])

    const add = ['user', 'add', 'ana', '--role', 'operator', '--password-stdin']
    const added = await installation.run(add, {}, `${password}\n`)
    expect([added.code, added.out]).toEqual([0, 'ana was added with the role operator.\n'])
    const repeated = await installation.run(add, {}, `${password}\n`)
    expect([repeated.code, repeated.err]).toEqual([1, 'micwatch: The user ana already exists.\n'])
    const headers = await signIn(service, 'ana')
    expect((await service.get('/api/auth/session', headers)).json).toMatchObject({ role: 'operator' })

    expect((await installation.run(['user', 'disable', 'ANA'])).out).toBe('ana is disabled.\n')
    await until('the session has ended', async () => (await service.get('/api/auth/session', headers)).status === 401)
    await expect(signIn(service, 'ana')).rejects.toThrow('401')
    expect((await installation.run(['user', 'enable', 'ana'])).code).toBe(0)
    const passwd = ['user', 'passwd', 'ana', '--password-stdin', '--json']
    const changed = await installation.run(passwd, {}, 'another fine password\n')
    expect(changed.json()).toMatchObject({ user: { username: 'ana', is_active: true } })
    await signIn(service, 'ana', 'another fine password')
    const listed = (await installation.run(['user', 'list', '--json'])).json()
    expect(listed.users.map(({ username, role }: { username: string; role: string }) => [username, role])).toEqual([
      ['root', 'admin'],
      ['ana', 'operator'],
    ])

    const token = await installation.run(['token', 'create', '--name', 'prompt book', '--role', 'viewer'])
    expect(token.out).toMatch(/^micwatch_\d+_[\w-]{43}\n$/)
    const bearer = { authorization: `Bearer ${token.out.trim()}` }
    expect((await service.get('/api/auth/session', bearer)).json).toMatchObject({ name: 'prompt book', role: 'viewer' })
    const [{ id, last_used_at }] = (await installation.run(['token', 'list', '--json'])).json().tokens
    expect(last_used_at).toBeNull()
    expect((await installation.run(['token', 'revoke', String(id)])).out).toBe(`Token ${id} was revoked.\n`)
    await until('the token is refused', async () => (await service.get('/api/auth/session', bearer)).status === 401)
    const { json: audit } = await service.get('/api/admin/audit/', await signIn(service))
    expect(audit.map(({ action }: { action: string }) => action)).toContain('token.revoke')
  })

  it('report errors in one line', async () => {
    const installation = await createInstallation()
    const create = ['create_admin', '--username', 'root', '--password-stdin']
    await installation.run(create, {}, `${password}\n`)
    for (const [args, code, message] of [
      ['user add ana', 2, '--role'],
      ['user passwd bob --password-stdin', 2, 'there is no user bob'],
      ['user disable root', 1, 'administrator'],
      ['token create --role viewer', 2, '--name'],
      ['token create --name x --role viewer --expires yesterday', 1, 'a time in the future'],
      ['token revoke seven', 2, 'micwatch token list'],
    ] as const) {
      const response = await installation.run(args.split(' '), {}, `${password}\n`)
      expect([args, response.code, response.out]).toEqual([args, code, ''])
      expect(response.err).toContain(message)
      expect(response.err.trim().split('\n')).toHaveLength(1)
    }
  })
})

const periodMs = 30_000

/** The code that an authenticator app shows now, or `periods` later. */
function codeOf(secret: string, periods = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + periods * periodMs })
}

/** Signs in with a code and returns the response. */
function signInWith(app: TestApp, code?: string, secret = password) {
  return app.post('/api/auth/login', { username: 'root', password: secret, ...(code !== undefined && { code }) })
}

async function setUpApp(app: TestApp, headers: Record<string, string>) {
  const { json } = await app.post('/api/auth/totp/', undefined, headers)
  const confirmed = await app.post('/api/auth/totp/confirm', { code: codeOf(json.secret) }, headers)
  return { ...json, status: confirmed.status, codes: confirmed.json.recovery_codes as string[] }
}

// Conformance: C-26.21.
describe('an authenticator app', () => {
  it('is required at sign-in once it is confirmed, and each code is accepted once', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const headers = await signIn(app)
    const { secret, otpauth_url } = (await app.post('/api/auth/totp/', undefined, headers)).json
    expect(new URL(otpauth_url)).toMatchObject({ protocol: 'otpauth:', host: 'totp' })
    expect(new URL(otpauth_url).searchParams.get('secret')).toBe(secret)
    expect((await signInWith(app)).status).toBe(200)

    const wrong = await app.post('/api/auth/totp/confirm', { code: '000000' }, headers)
    expect([wrong.status, wrong.json.details]).toEqual([400, expect.stringMatching(/^code: /)])
    const code = codeOf(secret)
    const { json } = await app.post('/api/auth/totp/confirm', { code }, headers)
    expect(json.recovery_codes).toHaveLength(10)
    expect((await app.post('/api/auth/totp/', undefined, headers)).status).toBe(409)
    // The session that set it up stays.
    expect((await app.get('/api/auth/session', headers)).json.user).toMatchObject({ has_totp: true })

    const without = await signInWith(app)
    expect([without.status, without.json.details]).toEqual([401, 'code: required'])
    expect((await signInWith(app, code)).status).toBe(401)
    const next = codeOf(secret, 1)
    const both = await Promise.all([signInWith(app, next), signInWith(app, next)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    expect((await signInWith(app, codeOf(secret, -5))).status).toBe(401)
    const wrongPassword = await signInWith(app, undefined, 'a wrong password')
    expect(wrongPassword.json.details).toBeUndefined()
    const { json: users } = await app.get('/api/admin/users/', headers)
    expect(JSON.stringify(users)).not.toContain(secret)
  })

  it('can be replaced with a recovery code, once, and removed with the password or by an administrator', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const headers = await signIn(app)
    const { codes } = await setUpApp(app, headers)
    const typed = codes[0]?.toLowerCase().replaceAll('-', ' ')
    expect((await signInWith(app, typed)).status).toBe(200)
    expect((await signInWith(app, codes[0])).status).toBe(401)
    const refused = await app.post('/api/auth/totp/remove', { current_password: 'a wrong password' }, headers)
    expect(refused.status).toBe(400)
    expect((await app.post('/api/auth/totp/remove', { current_password: password }, headers)).status).toBe(204)
    expect((await signInWith(app)).status).toBe(200)

    await setUpApp(app, headers)
    const { id } = (await app.get('/api/auth/session', headers)).json.user
    expect((await app.send('DELETE', `/api/admin/users/${id}/totp/`, { headers })).status).toBe(204)
    expect((await signInWith(app)).status).toBe(200)
  })

  // Conformance: C-26.44.
  it('is refused after a restore without the key, where recovery codes still work', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const { secret, codes } = await setUpApp(app, await signIn(app))
    await app.close()
    const restored = await startApp({ config: lan, databaseUrl: app.databaseUrl })
    const refused = await signInWith(restored, codeOf(secret, 1))
    expect([refused.status, refused.json.details]).toEqual([401, 'code: not accepted'])
    expect((await signInWith(restored, codes[0])).status).toBe(200)
  })

  it('limits wrong codes as it limits wrong passwords', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    await setUpApp(app, await signIn(app))
    const statuses: number[] = []
    for (let attempt = 0; attempt < 12; attempt += 1) statuses.push((await signInWith(app, '000000')).status)
    expect(statuses[0]).toBe(401)
    expect(statuses.at(-1)).toBe(429)
  })

  it('must be set up first by users of the configured roles', async () => {
    const app = await startApp({ config: { ...lan, require_totp: ['admin'] } })
    await addAdmin(app)
    const headers = await signIn(app)
    expect((await app.get('/api/auth/session', headers)).json).toMatchObject({ totp_required: true })
    for (const path of ['/api/summary/', '/api/admin/users/', '/data.json']) {
      expect([path, (await app.get(path, headers)).status]).toEqual([path, 403])
    }
    await expect(app.socket('/ws', { headers })).rejects.toThrow()
    const page = await app.get('/', { ...headers, accept: 'text/html', 'sec-fetch-mode': 'navigate' })
    expect([page.status, page.headers.location]).toEqual([302, '/account'])
    expect((await setUpApp(app, headers)).status).toBe(200)
    expect((await app.get('/api/admin/users/', headers)).status).toBe(200)
  })
})

// Conformance: C-26.22.
describe('own sessions', () => {
  it('are listed with their client, and end when their owner ends them', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const headers = await signIn(app)
    const agent = { 'user-agent': 'a tablet' }
    const other = await app.post('/api/auth/login', { username: 'root', password }, agent)
    const { json: sessions } = await app.get('/api/auth/sessions/', headers)
    expect(sessions).toHaveLength(2)
    const tablet = sessions.find(({ current }: { current: boolean }) => !current)
    expect(tablet).toMatchObject({ agent: 'a tablet', address: '127.0.0.1', created_at: expect.any(String) })

    const ended = await app.send('DELETE', `/api/auth/sessions/${tablet.id}/`, { headers })
    expect(ended.status).toBe(204)
    expect((await app.get('/api/auth/session', { cookie: cookieOf(other) })).status).toBe(401)
    expect((await app.get('/api/auth/sessions/', headers)).json).toHaveLength(1)
    expect((await app.send('DELETE', `/api/auth/sessions/${tablet.id}/`, { headers })).status).toBe(404)
  })

  it('are those of the user only', async () => {
    const app = await startApp({ config: lan })
    await addAdmin(app)
    const admin = await signIn(app)
    await app.post('/api/admin/users/', { username: 'ana', password, role: 'viewer' }, admin)
    const ana = await signIn(app, 'ana')
    const [own] = (await app.get('/api/auth/sessions/', ana)).json
    expect((await app.send('DELETE', `/api/auth/sessions/${own.id}/`, { headers: admin })).status).toBe(404)
    expect((await app.get('/api/auth/sessions/', ana)).json).toMatchObject([{ current: true }])
  })
})
