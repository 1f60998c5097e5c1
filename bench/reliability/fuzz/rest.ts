/**
 * Fuzzes the REST API with requests generated from its OpenAPI document. Half of them are valid, a quarter invalid, and
 * a quarter random bytes. No response may be malformed or late. A 5xx status is only allowed if it is an expected 503.
 */

import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { invalidValue, type Schema, type Schemas, validValue } from './from-schema.ts'
import { createRandom, type Random } from './random.ts'
import { addProblem, count, type FuzzReport, recordDuration, runConcurrently } from './report.ts'

export interface Target {
  /** Without a trailing slash. */
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  /** The id of the token in `headers`, which must not be revoked. */
  readonly tokenId: number
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly body: Schema | undefined
  readonly query: readonly string[]
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components?: { readonly schemas?: Schemas }
}

interface OpenApiOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
}

/** Requests that are passed on to Planning Center, which does not respond. */
const mayBe502 = /^POST \/api\/import\/planning-center/
/**
 * Requests that may return 503 in normal operation, because the upstream is unreachable, the service is busy, or the
 * feature is switched off.
 */
const mayBe503 = /^(POST \/api\/(refresh|discover|auth\/|admin\/users)|PATCH \/api\/admin\/users|GET \/ws)/

export async function fuzzRest(report: FuzzReport, target: Target, total: number): Promise<void> {
  const response = await fetch(`${target.address}/api/openapi.json`, { headers: target.headers })
  const openApi = (await response.json()) as OpenApiDocument
  const schemas = openApi.components?.schemas ?? {}
  const operations = toOperations(openApi)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  await runConcurrently(4, total, async (index) => {
    const random = createRandom(report.seed + index)
    const kind = index % 4
    if (kind === 3) return sendRawRequest(report, target, random, index)
    const operation = random.pick(operations)
    const fuzzRequest = toRequest(random, operation, schemas, { isValid: kind < 2, tokenId: target.tokenId })
    await sendRequest(report, target, agent, fuzzRequest, index)
  })
  agent.destroy()
}

function toOperations({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      body: requestBody?.content?.['application/json']?.schema,
      query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    })),
  )
}

interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

function toRequest(
  random: Random,
  { method, path, body, query }: Operation,
  schemas: Schemas,
  { isValid, tokenId }: { isValid: boolean; tokenId: number },
): FuzzRequest {
  const id = () => {
    const number = random.integer(1, 60)
    return isValid || random.chance(0.5)
      ? String(number === tokenId ? number + 1 : number)
      : encodeURIComponent(random.text(10).toWellFormed())
  }
  const filled = path.replaceAll(/\{\w+\}/g, () =>
    path.includes('manufacturers') ? random.pick(['shure', 'unknown']) : id(),
  )
  const chosen = query
    .filter(() => random.chance(0.3))
    .map((name) => [name, queryValue(random, name, isValid)] as const)
  const search = chosen.length === 0 ? '' : `?${new URLSearchParams(chosen.map(([name, value]) => [name, value]))}`
  const value = body && (isValid ? validValue(random, body, schemas) : invalidValue(random, body, schemas))
  return { method, path: filled + search, body: body === undefined ? undefined : JSON.stringify(value) }
}

function queryValue(random: Random, name: string, isValid: boolean): string {
  if (!isValid) return random.text(12).toWellFormed()
  if (name === 'manufacturer') return random.pick(['shure', 'sennheiser', 'unknown'])
  if (name === 'page' || name === 'page_size') return String(random.integer(1, 3))
  return random.pick(['true', 'false', 'pending', 'connected', '5', '2026-05-01'])
}

async function sendRequest(
  report: FuzzReport,
  { address, headers }: Target,
  agent: Agent,
  fuzzRequest: FuzzRequest,
  index: number,
) {
  const { method, path, body } = fuzzRequest
  const description = `${method} ${path} ${body?.slice(0, 200) ?? ''} (seed ${report.seed}, ${index})`
  const startedAt = performance.now()
  const json =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  await new Promise<void>((resolve) => {
    const clientRequest = request(
      address + path,
      { method, agent, headers: { ...headers, ...json } },
      async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        const status = response.statusCode ?? 0
        count(report, `REST ${status}`)
        recordDuration(report, description, performance.now() - startedAt)
        checkResponse(
          report,
          description,
          `${method} ${path}`,
          status,
          response.headers['content-type'],
          Buffer.concat(chunks).toString(),
        )
        resolve()
      },
    )
    clientRequest.on('error', (error) => {
      // A server may close the connection before it has read the body of a rejected request.
      if (!/ECONNRESET|EPIPE|socket hang up/.test(String(error))) addProblem(report, `${description}: ${error}`)
      count(report, 'REST closed')
      resolve()
    })
    clientRequest.end(body)
  })
}

function checkResponse(
  report: FuzzReport,
  description: string,
  name: string,
  status: number,
  type: string | undefined,
  text: string,
) {
  if (status < 400) return
  if (status >= 500 && !(status === 503 && mayBe503.test(name)) && !(status === 502 && mayBe502.test(name)))
    addProblem(report, `${description} returned ${status}: ${text}`)
  if (name.startsWith('HEAD')) return
  const body = parse(text)
  const isError = typeof body?.error === 'string' && body.error !== '' && body.status === status
  if (!isError || !type?.startsWith('application/json'))
    addProblem(report, `${description} returned ${status} with ${text.slice(0, 200)}`)
}

function parse(text: string): { readonly error?: unknown; readonly status?: unknown } | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

// --- Raw bytes --------------------------------------------------------------------------------------------------------

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'get', '']
const paths = ['/', '/api/data.json', '/api/group/', '/api/receivers/1/', '/ws', '/assets/', '/api/admin/users/', '*']
const headerNames = [
  'Content-Length',
  'Transfer-Encoding',
  'Content-Type',
  'Cookie',
  'Authorization',
  'If-None-Match',
  'Accept-Encoding',
  'X-Forwarded-For',
  'Range',
  'Expect',
  'Upgrade',
  'Connection',
  '__proto__',
]
const headerValues = [
  '0',
  '5',
  '-1',
  'chunked',
  'gzip, chunked',
  'application/json',
  'Bearer x',
  '*',
  'bytes=0-',
  '100-continue',
  'websocket',
  'Upgrade',
  'h2c',
  'close',
]

function rawRequest(random: Random): Buffer {
  if (random.chance(0.2)) return random.bytes(random.integer(1, 400))
  const path = random.chance(0.5) ? random.pick(paths) : `/${random.text(60)}`
  const lines = Array.from({ length: random.integer(0, 5) }, () => {
    const value = random.chance(0.5) ? random.pick(headerValues) : random.text(30)
    return `${random.pick(headerNames)}: ${value}\r\n`
  })
  const host = random.chance(0.9) ? 'Host: localhost\r\n' : ''
  const head = `${random.pick(methods)} ${path} HTTP/1.1\r\n${host}${lines.join('')}\r\n`
  return Buffer.concat([
    Buffer.from(head),
    random.chance(0.5) ? random.bytes(random.integer(0, 200)) : Buffer.from('{"title":'),
  ])
}

/** Sends random bytes, waits for the first response or half a second, and closes the connection. */
async function sendRawRequest(report: FuzzReport, { address }: Target, random: Random, index: number): Promise<void> {
  const { hostname, port } = new URL(address)
  const bytes = rawRequest(random)
  const description = `bytes ${JSON.stringify(bytes.toString('latin1').slice(0, 120))} (seed ${report.seed}, ${index})`
  const socket = connect(Number(port), hostname)
  let received = ''
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 500)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('error', done).on('close', done)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (isComplete(received)) done()
    })
    socket.write(bytes)
  })
  socket.destroy()
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0)
  count(report, `raw ${status}`)
  if (status >= 500) addProblem(report, `${description} returned ${received.slice(0, 300)}`)
  if (received !== '' && status === 0)
    addProblem(report, `${description} did not return HTTP: ${received.slice(0, 100)}`)
}

function isComplete(response: string): boolean {
  const end = response.indexOf('\r\n\r\n')
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(response)?.[1] ?? 0)
  return end !== -1 && response.length >= end + 4 + length
}
