/** U+0000 is rejected before it reaches the database: PostgreSQL refuses it, and SQLite ends a text at it. */

import { describe, expect, it } from 'vitest'
import { startApp } from './support/app.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

async function startService(engine: (typeof engines)[number]) {
  const app = await startApp({ engine, manufacturers: [{ code: 'shure', config: {} }] })
  const admin = await tokenHeaders(app, 'admin')
  const json = { ...admin, 'content-type': 'application/json' }
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, path, body === undefined ? { headers: admin } : { headers: json, body: JSON.stringify(body) })
  return { app, send }
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly type?: string; readonly enum?: unknown }
}

// Conformance: C-5.63.
describe.each(engines)('U+0000 (%s)', (engine) => {
  it('in a query matches nothing, for every text parameter', async () => {
    const { app, send } = await startService(engine)
    const { paths } = (await app.get('/api/openapi.json')).json
    const queries: string[] = []
    for (const [path, { get }] of Object.entries<{ get?: { parameters?: readonly Parameter[] } }>(paths)) {
      for (const { name, in: location, schema } of get?.parameters ?? []) {
        if (location !== 'query' || schema.type !== 'string' || schema.enum !== undefined) continue
        const address = path.replace('{id}', '1')
        const [response, other] = [
          await send('GET', `${address}?${name}=shure%00`),
          await send('GET', `${address}?${name}=nobody`),
        ]
        queries.push(`${address} ${name}`)
        const { status, json } = response
        if (other.json === undefined) {
          expect([address, name, status, String(response.bytes)]).toEqual([address, name, 200, String(other.bytes)])
          continue
        }
        if (other.json.timestamp !== undefined) other.json.timestamp = json.timestamp
        // An error names the value.
        for (const field of ['error', 'details']) {
          if (typeof json[field] === 'string') json[field] = json[field].replace('shure\uFFFD', 'nobody')
        }
        expect([address, name, status, json]).toEqual([address, name, other.status, other.json])
      }
    }
    expect(queries).toContain('/api/alerts/ manufacturer')
    expect(queries).toContain('/api/admin/audit/ actor')
    expect(queries.length).toBeGreaterThan(15)
  })

  it('in a path results in 404', async () => {
    const { send } = await startService(engine)
    for (const [method, path, body] of [
      ['PATCH', '/api/admin/manufacturers/%00/', { name: 'x' }],
      ['DELETE', '/api/admin/manufacturers/shure%00/', undefined],
      ['POST', '/api/admin/manufacturers/shure%00/test', undefined],
      ['DELETE', '/api/admin/settings/polling_interval%00/', undefined],
      ['POST', '/api/refresh/?manufacturer=shure%00', undefined],
      ['GET', '/%00', undefined],
    ] as const) {
      expect([method, path, (await send(method, path, body)).status]).toEqual([method, path, 404])
    }
    expect((await send('GET', '/api/receivers/%00/')).status).toBe(400)
    expect((await send('GET', '/api/admin/manufacturers/')).json).toHaveLength(1)
  })

  // Conformance: C-5.13.
  it('in a body is rejected with the name of its field', async () => {
    const { app, send } = await startService(engine)
    for (const [path, body, field] of [
      ['/api/auth/login', { username: 'root\0', password: 'x' }, 'username'],
      ['/api/auth/login', { username: 'root', password: 'correct\0horse battery' }, 'password'],
      ['/api/group/', { title: 'Choir\0left' }, 'title'],
      ['/api/performers/', { name: 'Ana', notes: '\0' }, 'notes'],
      ['/api/admin/locations/', { name: 'Hall\0' }, 'name'],
      ['/api/admin/tokens/', { name: '\0', role: 'viewer' }, 'name'],
      ['/api/admin/receivers/', { manufacturer: 'shure', name: 'x', ip: '10.0.0.1\0' }, 'ip'],
      ['/api/admin/manufacturers/', { code: 'x', config: { devices: [{ url: 'tcp://a\0' }] } }, 'config.devices.0.url'],
      ['/api/admin/manufacturers/', { code: 'x', config: { 'a\0': 1 } }, 'config.a\0'],
      ['/api/refresh/', '\0', 'body'],
    ] as const) {
      const { status, json } = await send('POST', path, body)
      expect([path, status, json.details]).toEqual([path, 400, `${field}: expected text without U+0000`])
    }
    // The escape sequence written as six characters is ordinary text.
    const { status, json } = await send('POST', '/api/group/', { title: '\\u0000' })
    expect([status, json.title]).toEqual([201, '\\u0000'])
    expect((await app.get('/api/groups/')).json).toEqual([json])
  })
})
