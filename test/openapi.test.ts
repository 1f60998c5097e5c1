/** Checks that the documents match the service: routes, responses and frames against their descriptions. */

import { readFileSync } from 'node:fs'
import { Check, Errors } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { generateDocs } from '../scripts/write-docs.ts'
import { tags } from '../src/contract/endpoint.ts'
import * as liveMessages from '../src/contract/live-messages.ts'
import { ClientMessage, clientMessages, ServerMessage, serverMessages } from '../src/contract/messages.ts'
import { respondToClient } from '../src/domain/messages.ts'
import { docsPage } from '../src/http/routes/docs-page.ts'
import type { OpenApi } from '../src/http/routes/openapi-document.ts'
import { configFor, startApp, startShure, type TestApp, until, version } from './support/app.ts'
import { strictSchema } from './support/response-check.ts'
import type { ReceivedMessage } from './support/socket-client.ts'
import { tokenHeaders } from './support/tokens.ts'

type Json = Record<string, unknown>

async function startService() {
  const shure = await startShure()
  const config = { listening: true, audio_evidence: true, audio: { interfaces: ['127.0.0.1'] } }
  const app = await startApp({ manufacturers: [configFor(shure)], config })
  await until('both receivers are listed', async () => (await app.receivers()).length === 2)
  return { app, shure, document: await readDocument(app) }
}

async function readDocument(app: TestApp): Promise<OpenApi> {
  const { status, json } = await app.get('/api/openapi.json')
  expect(status).toBe(200)
  return json
}

/** Returns every route in fastify's own list, without trailing slashes, for example `GET /api/receivers/{id}`. */
function routesOf(app: TestApp): string[] {
  const routes: string[] = []
  const path: string[] = []
  for (const line of app.server.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line) ?? []
    path.splice(indent.length / 4, path.length, part)
    for (const method of methods.split(', ').filter((name) => name !== '' && name !== 'HEAD')) {
      routes.push(`${method} ${path.join('').replace(/:(\w+)/g, '{$1}')}`)
    }
  }
  return routes
}

function operationsOf(document: OpenApi): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

/** Code generators do not know other formats than those of JSON Schema. */
function expectKnownFormats(document: object) {
  const formats = [...JSON.stringify(document).matchAll(/"format":"([^"]+)"/g)].map(([, format = '']) => format)
  expect(formats.length).toBeGreaterThan(10)
  for (const format of new Set(formats)) expect(['date', 'date-time']).toContain(format)
}

function expectDocumented(document: OpenApi, operation: string, { status, json }: { status: number; json: unknown }) {
  const [method = '', path = ''] = operation.split(' ')
  const response = document.paths[path]?.[method.toLowerCase()]?.responses[status]
  expect(response, `${operation} does not document ${status}`).toBeDefined()
  const schema = response?.content?.['application/json']?.schema
  expect(schema, `${operation} ${status} has no body`).toBeDefined()
  expectMatches(document, schema as Json, json, `${operation} ${status}`)
}

function expectMatches(document: Pick<OpenApi, 'components'>, schema: object, value: unknown, description: string) {
  const fullSchema = { ...(strictSchema(schema) as Json), components: strictSchema(document.components) }
  const matches = Check(fullSchema, value)
  expect(
    matches,
    `${description}: ${JSON.stringify(value).slice(0, 2000)} ${matches ? '' : JSON.stringify(Errors(fullSchema, value))}`,
  ).toBe(true)
}

/** Reads the curl lines in docs/interface.md: the operation that each one calls, and its body. */
function readExamples() {
  const text = readFileSync(new URL('../docs/interface.md', import.meta.url), 'utf8')
  return [...text.matchAll(/\bcurl ([^\n]*?)\$URL(\/[^\s"')|?]*)/g)].map(([, options = '', path = '']) => {
    // The body is in single quotes, or in double quotes when it contains a variable.
    const [, quoted, escaped] = /--json (?:'([^']*)'|"((?:\\.|[^"\\])*)")/.exec(options) ?? []
    // `$UNTIL` contains a time, and a variable that is not in quotes an id.
    const filled = escaped?.replaceAll('\\"', '"').replace('$UNTIL', '2030-12-31T00:00:00Z')
    const body = quoted ?? filled?.replace(/(?<!")\$[A-Z]+/g, '1')
    const [, method = body === undefined ? 'GET' : 'POST'] = /-X (\w+)/.exec(options) ?? []
    return { request: `${method} ${path}`, body: body && JSON.parse(body) }
  })
}

/** Finds `GET /api/receivers/{id}/` for `GET /api/receivers/1/`. If no operation matches, returns the request itself. */
function findOperation(operations: readonly string[], request: string): string {
  const isMatch = (operation: string) => new RegExp(`^${operation.replace(/\{\w+\}/g, '[^/]+')}$`).test(request)
  return operations.includes(request) ? request : (operations.find(isMatch) ?? request)
}

describe('docs/interface.md', () => {
  it('has a curl line for every endpoint and for no unknown one', async () => {
    const operations = operationsOf(await readDocument(await startApp()))
    const shown = new Set(readExamples().map(({ request }) => findOperation(operations, request)))
    expect([...shown].sort()).toEqual([...operations, 'GET /api/docs/'].sort())
  })

  it('has a valid body for every endpoint that takes one', async () => {
    const app = await startApp()
    const document = await readDocument(app)
    const { paths, components } = document
    for (const { request, body } of readExamples()) {
      const operation = findOperation(operationsOf(document), request)
      const [method = '', path = ''] = operation.split(' ')
      const { requestBody } = paths[path]?.[method.toLowerCase()] ?? {}
      const schema = requestBody?.content['application/json']?.schema
      if (schema === undefined) expect(body, operation).toBeUndefined()
      else if (body === undefined) expect(requestBody?.required, operation).toBe(false)
      else expectMatches({ components }, schema, body, operation)
    }
  })
})

describe('the OpenAPI document', () => {
  it('has every route of the API and the probes', async () => {
    const app = await startApp()
    const documented = operationsOf(await readDocument(app)).map((operation) => operation.replace(/\/$/, ''))
    const socket = 'GET /api/audio/listen'
    const routes = routesOf(app).filter(
      (route) =>
        route !== socket && / \/(api\/|data\.json|healthz|readyz|metrics)/.test(route) && !/ \/api\/docs\b/.test(route),
    )
    expect(routes.length).toBeGreaterThan(50)
    expect(documented.sort()).toEqual(routes.sort())
  })

  it('lists collections and records with a trailing slash, and actions and files without', async () => {
    const { paths } = await readDocument(await startApp())
    const withoutSlash = Object.keys(paths).filter((path) => !path.endsWith('/'))
    const actions =
      'approve|reject|detect|mark-duplicate|reopen|acknowledge|unacknowledge|snooze|unsnooze|muted-on-purpose|stop|start|begin|end|recall|swap|use|duplicate|file|rotate|test|confirm|remove|login|callback|logout|password|setup|session|kiosk'
    for (const path of withoutSlash) {
      expect(path).toMatch(
        new RegExp(
          `^(/api/.*/(${actions})|/api/pictures/\\{id\\}|/api/undo/\\{undo_id\\}|/api/audio/clips/\\{id\\}/audio\\.wav|/api/[a-z{}/-]+\\.(json|csv)|/(data\\.json|healthz|readyz|metrics))$`,
        ),
      )
    }
    expect(withoutSlash.length).toBeGreaterThan(10)
    for (const path of ['/api/receivers/', '/api/receivers/{id}/', '/api/health/', '/api/admin/users/{id}/'])
      expect(Object.keys(paths)).toContain(path)
  })

  it('has a unique operationId for every operation', async () => {
    const { paths } = await readDocument(await startApp())
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[A-Za-z_][A-Za-z0-9_.-]*$/)
  })

  it('is below the mount prefix, and so are the paths in it', async () => {
    const app = await startApp({ config: { server: { mount: '/stage' } } })
    const bare = app.withBasePath('/')
    expect((await bare.get('/api/openapi.json')).status).toBe(404)
    const { json: document } = await bare.get('/stage/api/openapi.json')
    expect(document.servers).toEqual([{ url: '/stage' }])
    expect(Object.keys(document.paths)).toEqual(Object.keys((await readDocument(await startApp())).paths))
    const page = String((await bare.get('/stage/api/docs/')).bytes)
    const style = /<link rel="stylesheet" href="([^"]+)">/.exec(page)?.[1] ?? ''
    expect((await bare.get(style)).headers['content-type']).toContain('text/css')
  })

  it('is OpenAPI 3.1', async () => {
    const app = await startApp()
    const document = await readDocument(app)
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ title: 'Micwatch', version, license: { identifier: 'MIT' } })
    expect(document.tags.map(({ name }) => name)).toEqual(Object.keys(tags))
    expect(JSON.stringify(document)).not.toMatch(/"\$(id|defs)":/)
    expectKnownFormats(document)
    const schemes = Object.keys(document.components.securitySchemes)
    expect(schemes.sort()).toEqual(['csrf', 'session', 'token'])
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref)
    expect(refs.length).toBeGreaterThan(100)
    for (const ref of new Set(refs)) {
      const name = ref.replace('#/components/schemas/', '')
      expect(document.components.schemas[name], ref).toBeDefined()
    }
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const operationName = `${method} ${path}`
        expect(['get', 'post', 'put', 'patch', 'delete'], operationName).toContain(method)
        expect(operation.tags, operationName).toHaveLength(1)
        expect(Object.keys(tags), operationName).toContain(operation.tags[0])
        expect(operation.summary, operationName).toMatch(/^\S.*\.$/)
        expect(operation.description, operationName).toMatch(/^Requires (the permission|no credentials)/)
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        const parameters = operation.parameters ?? []
        expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath)
        const takesVersion = parameters.some(({ name }) => name === 'If-Match')
        expect(takesVersion, operationName).toBe(operation.responses[412] !== undefined)
        for (const parameter of parameters) {
          expect(parameter.name === 'If-Match' ? ['header'] : ['path', 'query'], operationName).toContain(parameter.in)
          expect(parameter.schema, operationName).toBeTypeOf('object')
          expect(parameter.description, operationName).toMatch(/\w/)
          if (parameter.in === 'path') expect(parameter.required, operationName).toBe(true)
        }
        for (const security of operation.security)
          for (const name of Object.keys(security)) expect(schemes).toContain(name)
        expect(
          Object.keys(operation.responses).some((status) => status < '400'),
          operationName,
        ).toBe(true)
        for (const [status, response] of Object.entries(operation.responses)) {
          expect(status, operationName).toMatch(/^[2-5]\d\d$/)
          expect(response.description, operationName).toMatch(/\w/)
          if (status >= '400')
            expect(JSON.stringify(response.content), operationName).toContain('#/components/schemas/Error')
        }
      }
    }
  })

  it('describes the required role and rate limit of a route', async () => {
    const app = await startApp()
    const { paths } = await readDocument(app)
    expect(paths['/api/refresh/']?.post?.description).toContain('role operator')
    expect(paths['/api/refresh/']?.post?.security).toEqual([{}, { session: [], csrf: [] }, { token: [] }])
    expect(paths['/api/admin/users/']?.get?.description).toContain('role admin')
    expect(paths['/api/admin/users/']?.get?.security).toEqual([{ session: [] }, { token: [] }])
    expect(paths['/api/auth/login']?.post?.security).toEqual([])
    const login = paths['/api/auth/login']?.post?.requestBody?.content['application/json']?.schema
    expect(login?.required).toEqual(['username', 'password'])
  })

  it('is compressed and cached', async () => {
    const app = await startApp()
    const { headers } = await app.get('/api/openapi.json')
    expect(headers['content-type']).toContain('application/json')
    const again = await app.get('/api/openapi.json', { 'if-none-match': String(headers.etag) })
    expect(again.status).toBe(304)
  })

  it('requires the viewer role', async () => {
    const app = await startApp({ config: { require_login: true } })
    for (const path of ['/api/openapi.json', '/api/asyncapi.json', '/api/docs/', '/api/docs/style.css']) {
      expect((await app.get(path)).status, path).toBe(401)
      expect((await app.get(path, await tokenHeaders(app, 'viewer'))).status, path).toBe(200)
    }
  })
})

describe('the AsyncAPI document', () => {
  // Conformance: C-9b.15.
  it('describes every message of both versions, and has an ETag', async () => {
    const app = await startApp({ config: { server: { mount: '/stage' } } })
    const { json: document, headers } = await app.get('/api/asyncapi.json')
    expect(document).toMatchObject({ asyncapi: '3.1.0', info: { title: 'Micwatch', version } })
    const typesOf = (version: string) => Object.keys(document.channels[version].messages).sort()
    const titles = (messages: readonly object[]) =>
      messages.map((message) => ('title' in message && message.title) || '').sort()
    expect(typesOf('v1')).toEqual(titles([...serverMessages, ...clientMessages]))
    expect(typesOf('v2')).toEqual(titles([...liveMessages.serverMessages, ...liveMessages.clientMessages]))
    expect(document.operations.v2_receive.messages).toEqual([
      { $ref: '#/channels/v2/messages/ping' },
      { $ref: '#/channels/v2/messages/ack' },
      { $ref: '#/channels/v2/messages/select_levels' },
      { $ref: '#/channels/v2/messages/select_sweeps' },
    ])
    for (const message of Object.values<Json>(document.components.messages)) {
      expect(message.payload).toMatchObject({ properties: { type: { const: message.name } } })
    }
    for (const [, ref = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      expect(
        ref.split('/').reduce((part, key) => part?.[key], document),
        ref,
      ).toBeDefined()
    }
    expect(document.channels.v2.address).toBe('/stage/ws')
    expectKnownFormats(document)
    const again = await app.get('/api/asyncapi.json', { 'if-none-match': String(headers.etag) })
    expect(again.status).toBe(304)
  })
})

describe('responses', () => {
  it('match the document', async () => {
    const { app, document } = await startService()
    const headers = await tokenHeaders(app, 'admin', ['listen'])
    const [receiver] = await app.receivers()
    const read = async (operation: string, address = operation.split(' ')[1] ?? '') => {
      const response = await app.get(address, headers)
      expectDocumented(document, operation, response)
      return response
    }
    const write = async (operation: string, body: unknown, address = operation.split(' ')[1] ?? '') => {
      const [method = ''] = operation.split(' ')
      const json = { ...headers, 'content-type': 'application/json' }
      const response = await app.send(method, address, { headers: json, body: JSON.stringify(body) })
      expect(response.status, `${operation}: ${response.bytes}`).toBeLessThan(300)
      if (response.status !== 204) expectDocumented(document, operation, response)
      return response
    }
    // Creates at least one resource of every kind, so that lists are not empty where possible.
    const { json: location } = await write('POST /api/admin/locations/', { name: 'Hall' })
    await write('PATCH /api/admin/receivers/{id}/', { location: location.id }, `/api/admin/receivers/${receiver?.id}`)
    await write('POST /api/group/', { title: 'Choir', slots: [1, 2] })
    const { json: performer } = await write('POST /api/performers/', { name: 'Aurelio' })
    const unit = await until('a unit is listed', async () => (await app.get('/api/units')).json[0])
    await write('POST /api/assignments/', { performer: performer.id, wireless_unit: unit.id })
    await write('POST /api/admin/users/', { username: 'ada', role: 'viewer', password: 'correct horse battery' })
    await write('POST /api/admin/tokens/', { name: 'a script', role: 'viewer' })
    await write('POST /api/refresh/', undefined)
    await write('POST /api/config/', { key: 'alert_battery_threshold', value: '100' })
    await write('POST /api/admin/manufacturers/{code}/test', undefined, '/api/admin/manufacturers/shure/test')
    await write('POST /api/admin/manufacturers/test', { code: 'shure' })
    await until('an alert is raised', async () => (await app.get('/api/alerts')).json.length > 0)

    const lists = operationsOf(document).filter((operation) => operation.startsWith('GET ') && !operation.includes('{'))
    for (const operation of lists.filter((list) => !/(openapi|asyncapi)\.json|\.csv|metrics/.test(list))) {
      const { json } = await read(operation)
      const [, path = ''] = operation.split(' ')
      const hasPages = document.paths[path]?.get?.parameters?.some(({ name }) => name === 'page')
      if (!hasPages) continue
      const page = await read(operation, `${path}?page=1&page_size=1`)
      expect(page.json.results.length, path).toBe(Math.min(1, (json.results ?? json).length))
      expectDocumented(document, operation, await app.get(`${path}?page=0`, headers))
      expectDocumented(document, operation, await app.get(`${path}?page=1000000`, headers))
    }
    await read('GET /api/receivers/{id}/', `/api/receivers/${receiver?.id}/`)
    for (const path of [
      'receivers',
      'units',
      'chassis',
      'groups',
      'alerts',
      'admin/movements',
      'admin/audit',
      'admin/users',
    ]) {
      expect((await app.get(`/api/${path}`, headers)).json.length, path).toBeGreaterThan(0)
    }
  })

  it('with errors match the document', async () => {
    const { app, document } = await startService()
    expectDocumented(document, 'GET /api/receivers/{id}/', await app.get('/api/receivers/none/'))
    expectDocumented(document, 'GET /api/receivers/{id}/', await app.get('/api/receivers/999/'))
    expectDocumented(document, 'POST /api/config/', await app.post('/api/config/', { key: 1 }))
    expectDocumented(document, 'GET /api/admin/users/', await app.get('/api/admin/users'))
    const admin = await tokenHeaders(app, 'admin')
    const approve = '/api/admin/discovery-queue/approve'
    expectDocumented(document, `POST ${approve}`, await app.post(approve, { ids: [999] }, admin))
    const wrongMethod = await app.send('DELETE', '/api/receivers/')
    expect(wrongMethod.status).toBe(405)
    const nowhere = await app.get('/api/nowhere')
    expect(nowhere.status).toBe(404)
    for (const { json } of [wrongMethod, nowhere]) {
      expectMatches(document, { $ref: '#/components/schemas/Error' }, json, 'an error')
    }
  })
})

describe('WebSocket messages', () => {
  const schemas = new Map<string, object>(serverMessages.map((serverMessage) => [serverMessage.title, serverMessage]))
  const expectMessage = ({ at: _, ...frame }: ReceivedMessage) => {
    const schema = strictSchema(schemas.get(frame.type)) as object
    expect(Check(schema, frame), `${JSON.stringify(frame)} ${JSON.stringify(Errors(schema, frame))}`).toBe(true)
  }

  it('match their schemas', async () => {
    const { app, shure } = await startService()
    const socket = await app.socket()
    const headers = await tokenHeaders(app, 'admin')
    const [receiver] = await app.receivers()
    socket.send({ type: 'ping', id: [1] })
    socket.send({ type: 'ping' })
    socket.sendRaw('nonsense')
    await app.post('/api/config/', { key: 'alert_battery_threshold', value: '100' })
    await app.send('PATCH', `/api/admin/receivers/${receiver?.id}/`, {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Renamed' }),
    })
    await socket.next(({ type }) => type === 'alert')
    await socket.next(({ type }) => type === 'device_update')
    shure.setFault({ type: 'status', status: 500 })
    await socket.next(({ type }) => type === 'status_update')
    for (const type of ['pong', 'error', 'status']) expect(socket.ofType(type).length, type).toBeGreaterThan(0)
    for (const frame of socket.messages) {
      expectMessage(frame)
      expect(Check(ServerMessage, frame)).toBe(true)
    }
    expect(Check(ClientMessage, { type: 'ping', id: [1] })).toBe(true)
    expect(Check(ClientMessage, { type: 'refresh' })).toBe(false)
  })

  it('have examples that match their schemas', () => {
    for (const message of [...serverMessages, ...clientMessages]) {
      for (const example of message.examples)
        expect(Check(strictSchema(message) as object, example), message.title).toBe(true)
    }
    for (const { examples } of clientMessages) {
      for (const example of examples)
        expect(respondToClient(JSON.stringify(example), new Date()).type).not.toBe('error')
    }
  })

  // Conformance: C-24.6.
  it.each(Object.entries(generateDocs()))('are described in docs/%s as in the code', (name, expected) => {
    const committed = readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8')
    expect(committed, 'run: npx tsx scripts/write-docs.ts').toBe(expected)
  })
})

describe('the API documentation page', () => {
  it('shows every route, and contains nothing that its content security policy forbids', async () => {
    const app = await startApp()
    const { headers, bytes, status } = await app.get('/api/docs/')
    const page = String(bytes)
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/html')
    expect(headers['content-security-policy']).toContain("style-src 'self'")
    const text = page.replaceAll('<wbr>', '')
    for (const path of Object.keys((await readDocument(app)).paths)) expect(text).toContain(`<code>${path}</code>`)
    expect(page).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//i)
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
  })

  it('escapes the text that it shows', async () => {
    const app = await startApp()
    const hostile = '<img src=x onerror="alert(1)">\'&`<xmp>`'
    const makeHostile = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(makeHostile)
      if (typeof value === 'object' && value !== null) {
        return Object.fromEntries(
          Object.entries(value).map(([key, inner]) => [
            key,
            ['summary', 'description', 'title', 'version'].includes(key) && typeof inner === 'string'
              ? hostile
              : key === 'enum'
                ? [hostile]
                : key === 'properties'
                  ? { ...(makeHostile(inner) as Json), [hostile]: { type: hostile } }
                  : makeHostile(inner),
          ]),
        )
      }
      return value
    }
    const page = docsPage(makeHostile(await readDocument(app)) as OpenApi, '/"><i>')
    expect(page).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;<code>&lt;xmp&gt;</code>')
    expect(page).not.toMatch(/<img|<xmp>|"><i>/)
  })
})
