/** Kiosk sessions: their permissions and their end. */

import { expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'
import { attributesOf } from './support/users.ts'

const lan = { server: { host: '0.0.0.0' } }

async function startService() {
  const app = await startApp({ config: lan })
  const admin = await tokenHeaders(app, 'admin')
  const createToken = async (role: string, more: object = {}) =>
    (await app.post('/api/admin/tokens/', { name: `a ${role}`, role, ...more }, admin)).json as {
      id: number
      token: string
    }
  return { app, admin, createToken }
}

const exchangeToken = (app: TestApp, token: string) => app.post('/api/auth/kiosk/', { token })

async function openScreen(app: TestApp, token: string) {
  const response = await exchangeToken(app, token)
  expect(response.status).toBe(200)
  const [setCookie = ''] = response.headers['set-cookie'] ?? []
  return { setCookie, cookie: setCookie.split(';')[0] ?? '', json: response.json }
}

// Reliability: 3.5.3.
it('a kiosk session may read and do nothing else', async () => {
  const { app, admin, createToken } = await startService()
  const { id, token } = await createToken('viewer')
  const { setCookie, cookie, json } = await openScreen(app, token)
  expect(json).toEqual({ name: 'a viewer', role: 'viewer', expires_at: expect.stringMatching(/Z$/) })
  const maxAge = expect.stringMatching(/^Max-Age=315\d{5}$/)
  expect(attributesOf(setCookie)).toEqual(['HttpOnly', maxAge, 'Path=/', 'SameSite=Lax'])
  expect((await app.get('/api/data.json', { cookie })).status).toBe(200)
  expect((await app.get('/api/auth/session', { cookie })).json).toMatchObject({
    user: null,
    kind: 'token',
    role: 'viewer',
  })
  const socket = await app.socket('/ws', { headers: { cookie } })
  expect(socket).toBeDefined()
  expect((await app.post('/api/refresh/', undefined, { cookie })).status).toBe(403)
  const { csrf_token } = (await app.get('/api/auth/session', { cookie })).json
  const rejected = await app.post('/api/refresh/', undefined, { cookie, 'x-csrf-token': csrf_token })
  expect([rejected.status, rejected.json.error]).toEqual([403, 'The role operator is required.'])
  const [last] = (await app.get('/api/admin/audit/?action=session.kiosk', admin)).json
  expect(last).toMatchObject({ actor: { kind: 'token', id }, target: `token ${id} a viewer`, result: 'ok' })
})

// Reliability: 3.5.3.
it('a kiosk session ends when its token is revoked, expires or is given another role', async () => {
  const { app, admin, createToken } = await startService()
  const headers = { ...admin, 'content-type': 'application/json' }
  const cases: [string, (id: number) => Promise<unknown>][] = [
    ['revoked', (id) => app.send('DELETE', `/api/admin/tokens/${id}/`, { headers: admin })],
    [
      'expired',
      (id) => {
        const body = JSON.stringify({ expires_at: new Date(now() + 300).toISOString() })
        return app.send('PATCH', `/api/admin/tokens/${id}/`, { headers, body })
      },
    ],
    [
      'changed to the role operator',
      (id) => app.send('PATCH', `/api/admin/tokens/${id}/`, { headers, body: JSON.stringify({ role: 'operator' }) }),
    ],
  ]
  for (const [name, endToken] of cases) {
    const { id, token } = await createToken('viewer')
    const { cookie } = await openScreen(app, token)
    const socket = await app.socket('/ws', { headers: { cookie } })
    await endToken(id)
    await until(
      `${name}: the session has ended`,
      async () => (await app.get('/api/data.json', { cookie })).status === 401,
    )
    expect(await socket.closed).toBe(4401)
    expect([name, (await exchangeToken(app, token)).status]).toEqual([
      name,
      name === 'changed to the role operator' ? 403 : 401,
    ])
  }
})

// Reliability: 3.5.3.
it('starting a kiosk session requires a valid token of the viewer role', async () => {
  const { app, createToken } = await startService()
  for (const role of ['operator', 'admin']) {
    const response = await exchangeToken(app, (await createToken(role)).token)
    expect([response.status, response.json.error]).toEqual([403, 'A kiosk requires a token with the role viewer.'])
    expect(response.headers['set-cookie']).toBeUndefined()
  }
  const wrong = await exchangeToken(app, `micwatch_1_${'x'.repeat(43)}`)
  expect([wrong.status, wrong.json.error]).toEqual([401, 'This token is wrong, was revoked, or has expired.'])
  // A token of another role is not accepted as a cookie either.
  const cookie = `micwatch_sid_${app.port}=${(await createToken('admin')).token}`
  expect((await app.get('/api/data.json', { cookie })).status).toBe(401)
  expect((await app.get('/api/admin/users/', { cookie })).status).toBe(401)
})
