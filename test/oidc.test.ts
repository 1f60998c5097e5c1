/** Single sign-on through a real OpenID Connect provider and through a hostile one. */

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startApp, type TestApp, type TestAppOptions } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import {
  client,
  createProvider,
  createVisitor,
  forgeries,
  type RealProvider,
  startHostileProvider,
} from './support/oidc-provider.ts'
import { createTestDatabase, type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'
import { addAdmin, password, signIn } from './support/users.ts'

const roles = { crew: 'operator', guests: 'viewer', leads: 'admin' }
const login = '/api/auth/oidc/login'
const callback = '/api/auth/oidc/callback'

function startWith(issuer: string, { config = {}, ...options }: TestAppOptions = {}): Promise<TestApp> {
  const oidc = { issuer, ...client, roles }
  return startApp({ ...options, config: { require_login: true, oidc, ...config } })
}

async function startBoth(options: Parameters<RealProvider['serve']>[1] & { readonly engine?: Engine } = {}) {
  const { engine = 'sqlite', ...serving } = options
  const provider = await createProvider()
  const app = await startWith(provider.issuer, { engine })
  await provider.serve(app.url + callback, serving)
  return { app, provider }
}

/** Signs in, and returns the headers of the session. */
async function signInThrough(app: TestApp) {
  const { visit, cookieHeader } = createVisitor()
  const visited = await visit(`${app.url}${login}?next=${encodeURIComponent('/wall?x=1')}`)
  expect([visited.status, visited.url.href]).toEqual([200, `${app.url}/wall?x=1`])
  const cookie = cookieHeader(app.url)
  const { csrf_token } = (await app.get('/api/auth/session', { cookie })).json
  return { cookie, 'x-csrf-token': csrf_token as string }
}

const change = (app: TestApp, headers: object, id: number, body: object) =>
  app.send('PATCH', `/api/admin/users/${id}/`, {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe.each(engines)('single sign-on (%s)', (engine) => {
  // Conformance: C-16.80, C-16.83, C-16.85, C-16.86.
  it('opens a session with the highest role, shows it to administrators, and updates the role at each sign-in', async () => {
    const { app, provider } = await startBoth({ engine })
    await addAdmin(app)
    const admin = await signIn(app)
    provider.user = { sub: 'u1', claims: { name: 'Ana Smith', groups: ['guests', 'crew', 'other'] } }
    const session = await signInThrough(app)
    const { user, role, csrf_token } = (await app.get('/api/auth/session', session)).json
    expect([role, user]).toMatchObject(['operator', { username: 'Ana Smith', issuer: provider.issuer, subject: 'u1' }])
    expect((await app.post('/api/refresh/', undefined, { ...session, 'x-csrf-token': csrf_token })).status).toBe(200)
    const listed = (await app.get('/api/admin/users/', admin)).json
    expect(listed).toMatchObject([{ username: 'root', issuer: null, subject: null }, { id: user.id }])

    provider.user = { sub: 'u1', claims: { name: 'Ana Jones', groups: 'guests more' } }
    const later = await signInThrough(app)
    expect((await app.get('/api/auth/session', later)).json).toMatchObject({ role: 'viewer', user: { id: user.id } })
    // A session with the former role does not continue.
    expect((await app.get('/api/data.json', session)).status).toBe(401)

    const audit = (await app.get('/api/admin/audit/', admin)).json as { action: string; details: object }[]
    const ofProvider = audit.filter(({ details }) => 'issuer' in details).map(({ action }) => action)
    expect(ofProvider).toEqual(['session.login', 'user.change', 'session.login', 'user.create'])
    expect((await app.post('/api/auth/logout', undefined, later)).status).toBe(204)
    expect((await app.get('/api/data.json', later)).status).toBe(401)
  })

  // Conformance: C-27.103.
  it('keeps the permission to listen, which administrators grant here, at the next sign-in', async () => {
    const { app, provider } = await startBoth({ engine })
    await addAdmin(app)
    const admin = await signIn(app)
    const session = async (headers: Record<string, string>) => (await app.get('/api/auth/session', headers)).json
    provider.user = { sub: 'u1', claims: { name: 'Ana Smith', groups: ['crew', 'listen'] } }
    const first = await signInThrough(app)
    const { user, permissions } = await session(first)
    expect(permissions).not.toContain('listen')
    expect((await change(app, admin, user.id, { permissions: ['listen'] })).status).toBe(200)
    expect((await session(first)).permissions).toContain('listen')
    provider.user = { sub: 'u1', claims: { name: 'Ana Jones', groups: ['guests'] } }
    const later = await signInThrough(app)
    expect(await session(later)).toMatchObject({ role: 'viewer', permissions: expect.arrayContaining(['listen']) })
    expect((await change(app, admin, user.id, { permissions: [] })).status).toBe(200)
    expect((await session(await signInThrough(app))).permissions).not.toContain('listen')
  })
})

// Conformance: C-16.96.
it('keeps the requested page when the provider does not respond or does not sign the user in', async () => {
  const provider = await createProvider()
  const app = await startWith(provider.issuer)
  const problemOf = async () => {
    const { url } = await createVisitor().visit(`${app.url}${login}?next=${encodeURIComponent('/wall?x=1')}`)
    return [url.searchParams.get('problem'), url.searchParams.get('next')]
  }
  expect(await problemOf()).toEqual(['unreachable', '/wall?x=1'])
  await provider.serve(app.url + callback)
  provider.user = null
  expect(await problemOf()).toEqual(['denied', '/wall?x=1'])
  provider.user = { sub: 'u1', claims: { groups: ['other'] } }
  expect(await problemOf()).toEqual(['no_role', '/wall?x=1'])
})

// Conformance: C-16.81.
it.each(['RS256', 'ES256'] as const)(
  'accepts ID tokens that are signed with %s and contain the claims',
  async (algorithm) => {
    const { app } = await startBoth({ algorithm, inIdToken: true })
    expect((await app.get('/api/auth/session', await signInThrough(app))).json.role).toBe('operator')
  },
)

// Conformance: C-16.84.
it('rejects a user without a role and a deactivated one, and ends their sessions', async () => {
  const { app, provider } = await startBoth()
  await addAdmin(app)
  const admin = await signIn(app)
  const session = await signInThrough(app)
  const { id } = (await app.get('/api/auth/session', session)).json.user
  const granted = provider.user
  provider.user = { sub: 'u1', claims: { name: 'Ana Smith', groups: ['other'] } }
  const refused = await createVisitor('application/json').visit(app.url + login)
  expect([refused.status, JSON.parse(refused.body).error]).toEqual([403, expect.stringContaining('no role')])
  expect((await createVisitor().visit(app.url + login)).url.href).toBe(`${app.url}/sign-in?problem=no_role`)
  expect((await app.get('/api/data.json', session)).status).toBe(401)

  provider.user = granted
  const again = await signInThrough(app)
  expect((await change(app, admin, id, { is_active: false })).status).toBe(200)
  expect((await app.get('/api/data.json', again)).status).toBe(401)
  expect((await createVisitor('application/json').visit(app.url + login)).status).toBe(403)
  expect((await createVisitor().visit(app.url + login)).url.search).toBe('?problem=inactive')
})

// Conformance: C-16.82.
it('keeps users of the provider apart from local ones', async () => {
  const { app, provider } = await startBoth()
  await addAdmin(app)
  const admin = await signIn(app)
  provider.user = { sub: 'u7', claims: { name: 'root', preferred_username: 'root', groups: ['leads'] } }
  const session = await signInThrough(app)
  const { user } = (await app.get('/api/auth/session', session)).json
  expect(user).toMatchObject({ username: 'root (SSO)', role: 'admin' })
  for (const username of ['root (SSO)', `${provider.issuer} u7`]) {
    expect((await app.post('/api/auth/login', { username, password: 'x' })).status).toBe(401)
  }
  expect((await change(app, admin, user.id, { password: 'another fine password' })).status).toBe(409)
  expect((await change(app, admin, user.id, { role: 'viewer' })).status).toBe(409)
  const passwords = { current_password: password, new_password: 'another fine password' }
  expect((await app.post('/api/auth/password', passwords, session)).status).toBe(403)
  // The local administrator remains the last one, because the provider can withdraw the role of the other.
  const root = (await app.get('/api/auth/session', admin)).json.user
  expect((await app.send('DELETE', `/api/admin/users/${root.id}/`, { headers: session })).status).toBe(409)
})

// Conformance: C-16.87.
it('accepts each response of the provider once, within ten minutes, from the browser that started it', async () => {
  const { app } = await startBoth()
  const visitor = createVisitor()
  const { url } = await visitor.visit(app.url + login, new RegExp(callback))
  const sendAs = async (cookie: string) =>
    (await app.get(url.pathname + url.search, { cookie, accept: 'application/json' })).status
  const cookie = visitor.cookieHeader(app.url)
  expect(await sendAs('')).toBe(401)
  const other = createVisitor()
  await other.visit(app.url + login, new RegExp(callback))
  expect(await sendAs(other.cookieHeader(app.url))).toBe(401)
  expect(await sendAs(cookie)).toBe(302)
  expect(await sendAs(cookie)).toBe(401)

  const late = createVisitor()
  const { url: lateUrl } = await late.visit(app.url + login, new RegExp(callback))
  await withDatabase(app, (db) =>
    db.transaction(({ query }) => query.updateTable('oidc_logins').set({ expires_at: Date.now() }).execute()),
  )
  expect((await late.visit(lateUrl.href)).url.search).toBe('?problem=expired')
})

// Conformance: C-16.87.
it('continues a sign-in that another process started', async () => {
  const provider = await createProvider()
  const database = await createTestDatabase('sqlite')
  onTestEnd(database.drop)
  const server = { public_url: 'http://mics.example/', allowed_hosts: ['mics.example'] }
  const options = { databaseUrl: database.url, config: { server } }
  const [first, other] = [await startWith(provider.issuer, options), await startWith(provider.issuer, options)]
  // The redirect address is that of the public URL.
  await provider.serve(`http://mics.example${callback}`)
  const visitor = createVisitor()
  const { url } = await visitor.visit(first.url + login, /^http:\/\/mics\.example/)
  expect(url.href).toMatch(/^http:\/\/mics\.example\/api\/auth\/oidc\/callback\?/)
  const finished = await other.get(url.pathname + url.search, { cookie: visitor.cookieHeader(first.url) })
  expect([finished.status, finished.headers.location]).toEqual([302, '/'])
})

// Conformance: C-16.88.
it('rejects ID tokens that are forged, expired or meant for others', async () => {
  const hostile = await startHostileProvider()
  const overrides = { [`GET ${login}`]: { max_requests: 1000, window_seconds: 1 } }
  const app = await startWith(hostile.issuer, { config: { rate_limit: { max_requests: 1000, overrides } } })
  for (const [name, forgery] of Object.entries(forgeries)) {
    hostile.forgery = forgery
    const { status } = await createVisitor('application/json').visit(app.url + login)
    expect([name, status]).toEqual([name, 502])
  }
  expect((await createVisitor().visit(app.url + login)).url.search).toBe('?problem=untrusted')
  expect((await app.get('/api/admin/users/', await tokenHeaders(app, 'admin'))).json).toEqual([])
  hostile.forgery = {}
  await signInThrough(app)
})

// Conformance: C-16.89.
it('starts without the provider, and signs in when it responds, also after an outage', async () => {
  const provider = await createProvider()
  const app = await startWith(provider.issuer)
  expect((await app.get('/api/auth/setup')).json.single_sign_on).toBe('Single sign-on')
  expect((await createVisitor('application/json').visit(app.url + login)).status).toBe(503)
  expect((await createVisitor().visit(app.url + login)).url.search).toBe('?problem=unreachable')
  await provider.serve(app.url + callback)
  await signInThrough(app)
  const visitor = createVisitor()
  const { url } = await visitor.visit(app.url + login, new RegExp(callback))
  await provider.stop()
  expect((await visitor.visit(url.href)).url.search).toBe('?problem=unreachable')
  await provider.serve(app.url + callback)
  await signInThrough(app)
})

it('shows that the user cancelled the sign-in', async () => {
  const { app, provider } = await startBoth()
  provider.user = null
  expect((await createVisitor().visit(app.url + login)).url.search).toBe('?problem=denied')
  expect((await createVisitor('application/json').visit(app.url + login)).status).toBe(401)
})

// Conformance: C-16.80.
it('does not redirect to another site afterwards', async () => {
  const hostile = await startHostileProvider()
  const app = await startWith(hostile.issuer)
  for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', '/x/../..//evil.example', 'wall']) {
    const { status, json } = await app.get(`${login}?next=${encodeURIComponent(next)}`, { accept: 'text/html' })
    expect([next, status, json.details]).toEqual([next, 400, expect.stringContaining('next: expected a path')])
  }
})

// Conformance: C-16.90.
it('rejects unknown hosts, and uses an allowed host in the redirect address', async () => {
  const hostile = await startHostileProvider()
  const app = await startWith(hostile.issuer, { config: { server: { allowed_hosts: ['mics.example'] } } })
  expect((await app.get(login, { host: 'evil.example' })).status).toBe(421)
  const { headers } = await app.get(login, { host: 'mics.example:81' })
  const sent = new URL(headers.location ?? '').searchParams
  expect(sent.get('redirect_uri')).toBe(`http://mics.example:81${callback}`)
  expect(Object.fromEntries(sent)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    scope: 'openid profile email',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(headers['set-cookie']?.[0]).toMatch(/HttpOnly/)
  expect(headers['set-cookie']?.[0]).toMatch(/SameSite=Lax/)
})

// Conformance: C-16.91.
it('limits how many sign-ins a client starts', async () => {
  // No further sign-in is allowed as time passes.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const hostile = await startHostileProvider()
  const app = await startWith(hostile.issuer)
  const started = await Promise.all(Array.from({ length: 21 }, () => app.get(login)))
  expect(started.map(({ status }) => status).toSorted()).toEqual([...Array(20).fill(302), 429])
  expect((await app.get(login, { accept: 'text/html' })).headers.location).toBe('/sign-in?problem=busy')
})

it('has no routes without a configured provider', async () => {
  const app = await startApp()
  expect((await app.get('/api/auth/setup')).json.single_sign_on).toBeNull()
  expect([(await app.get(login)).status, (await app.get(callback)).status]).toEqual([404, 404])
})

// Reliability: 3.11.4.
it('limits failures per address, counts them in one record of the audit log, and does not limit passwords', async () => {
  const hostile = await startHostileProvider()
  const overrides = { [`GET ${login}`]: { max_requests: 1000, window_seconds: 1 } }
  const app = await startWith(hostile.issuer, { config: { rate_limit: { max_requests: 1000, overrides } } })
  await addAdmin(app)
  hostile.forgery = Object.values(forgeries)[0] ?? {}
  const statuses: number[] = []
  for (let index = 0; index < 22; index++) {
    statuses.push((await createVisitor('application/json').visit(app.url + login)).status)
  }
  expect(statuses).toEqual([...Array(20).fill(502), 429, 429])
  expect((await createVisitor().visit(app.url + login)).url.search).toBe('?problem=busy')
  const admin = await signIn(app)
  const audit = (await app.get('/api/admin/audit/?action=session.login&result=failed', admin)).json
  expect(audit).toMatchObject([{ count: 20, last_at: expect.any(String), actor: { kind: 'guest' } }])
})
