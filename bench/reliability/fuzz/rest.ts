/**
 * REST from the interface's own description: half as it says, a quarter against it, a quarter bytes at random. Whatever
 * is asked, the answer is no bug (5xx), has the one shape of an error, and comes soon.
 */

import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { type Schema, type Schemas, validValue, wrongValue } from './from-schema.ts'
import { createRandom, type Random } from './random.ts'
import { complain, count, type FuzzReport, inLanes, noteTime } from './report.ts'

export interface Target {
  /** Without a final slash. */
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  /** Of the token that asks: it must not be taken away. */
  readonly ownToken: number
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly body: Schema | undefined
  readonly query: readonly string[]
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components?: { readonly schemas?: Schemas }
}

interface DescribedOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
}

/** These may be out of reach, busy or switched off without anybody being at fault. */
const mayBe503 = /^(POST \/api\/(refresh|discover|auth\/|admin\/users)|PATCH \/api\/admin\/users|GET \/ws)/

export async function fuzzRest(report: FuzzReport, target: Target, total: number): Promise<void> {
  const answer = await fetch(`${target.address}/api/openapi.json`, { headers: target.headers })
  const described = (await answer.json()) as Described
  const schemas = described.components?.schemas ?? {}
  const operations = toOperations(described)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  await inLanes(4, total, async (nth) => {
    const random = createRandom(report.seed + nth)
    const kind = nth % 4
    if (kind === 3) return askRaw(report, target, random, nth)
    const operation = random.pick(operations)
    const asked = toRequest(random, operation, schemas, { isValid: kind < 2, ownToken: target.ownToken })
    await ask(report, target, agent, asked, nth)
  })
  agent.destroy()
}

function toOperations({ paths }: Described): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      body: requestBody?.content?.['application/json']?.schema,
      query: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
    })),
  )
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

function toRequest(
  random: Random,
  { method, path, body, query }: Operation,
  schemas: Schemas,
  { isValid, ownToken }: { isValid: boolean; ownToken: number },
): Asked {
  const id = () => {
    const one = random.whole(1, 60)
    return isValid || random.chance(0.5)
      ? String(one === ownToken ? one + 1 : one)
      : encodeURIComponent(random.text(10).toWellFormed())
  }
  const filled = path.replaceAll(/\{\w+\}/g, () =>
    path.includes('manufacturers') ? random.pick(['shure', 'nobody']) : id(),
  )
  const chosen = query
    .filter(() => random.chance(0.3))
    .map((name) => [name, queryValue(random, name, isValid)] as const)
  const search = chosen.length === 0 ? '' : `?${new URLSearchParams(chosen.map(([name, value]) => [name, value]))}`
  const value = body && (isValid ? validValue(random, body, schemas) : wrongValue(random, body, schemas))
  return { method, path: filled + search, body: body === undefined ? undefined : JSON.stringify(value) }
}

function queryValue(random: Random, name: string, isValid: boolean): string {
  if (!isValid) return random.text(12).toWellFormed()
  if (name === 'manufacturer') return random.pick(['shure', 'sennheiser', 'nobody'])
  if (name === 'page' || name === 'page_size') return String(random.whole(1, 3))
  return random.pick(['true', 'false', 'pending', 'connected', '5', '2026-05-01'])
}

async function ask(report: FuzzReport, { address, headers }: Target, agent: Agent, asked: Asked, nth: number) {
  const { method, path, body } = asked
  const about = `${method} ${path} ${body?.slice(0, 200) ?? ''} (seed ${report.seed}, ${nth})`
  const startedAt = performance.now()
  const json =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  await new Promise<void>((resolve) => {
    const sent = request(address + path, { method, agent, headers: { ...headers, ...json } }, async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      const status = answer.statusCode ?? 0
      count(report, `REST ${status}`)
      noteTime(report, about, performance.now() - startedAt)
      judge(
        report,
        about,
        `${method} ${path}`,
        status,
        answer.headers['content-type'],
        Buffer.concat(chunks).toString(),
      )
      resolve()
    })
    sent.on('error', (error) => {
      // A server may end a connection it has refused a body on before the body is through.
      if (!/ECONNRESET|EPIPE|socket hang up/.test(String(error))) complain(report, `${about}: ${error}`)
      count(report, 'REST cut')
      resolve()
    })
    sent.end(body)
  })
}

function judge(
  report: FuzzReport,
  about: string,
  name: string,
  status: number,
  type: string | undefined,
  text: string,
) {
  if (status < 400) return
  if (status >= 500 && !(status === 503 && mayBe503.test(name)))
    complain(report, `${about} answered ${status}: ${text}`)
  if (name.startsWith('HEAD')) return
  const body = parse(text)
  const isError = typeof body?.error === 'string' && body.error !== '' && body.status === status
  if (!isError || !type?.startsWith('application/json'))
    complain(report, `${about} answered ${status} with ${text.slice(0, 200)}`)
}

function parse(text: string): { readonly error?: unknown; readonly status?: unknown } | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

// --- Bytes ------------------------------------------------------------------------------------------------------------

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
  if (random.chance(0.2)) return random.bytes(random.whole(1, 400))
  const path = random.chance(0.5) ? random.pick(paths) : `/${random.text(60)}`
  const lines = Array.from({ length: random.whole(0, 5) }, () => {
    const value = random.chance(0.5) ? random.pick(headerValues) : random.text(30)
    return `${random.pick(headerNames)}: ${value}\r\n`
  })
  const host = random.chance(0.9) ? 'Host: localhost\r\n' : ''
  const head = `${random.pick(methods)} ${path} HTTP/1.1\r\n${host}${lines.join('')}\r\n`
  return Buffer.concat([
    Buffer.from(head),
    random.chance(0.5) ? random.bytes(random.whole(0, 200)) : Buffer.from('{"title":'),
  ])
}

/** Says it, waits for the first answer or half a second, and hangs up. */
async function askRaw(report: FuzzReport, { address }: Target, random: Random, nth: number): Promise<void> {
  const { hostname, port } = new URL(address)
  const bytes = rawRequest(random)
  const about = `bytes ${JSON.stringify(bytes.toString('latin1').slice(0, 120))} (seed ${report.seed}, ${nth})`
  const socket = connect(Number(port), hostname)
  let heard = ''
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 500)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('error', done).on('close', done)
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1')
      if (isWhole(heard)) done()
    })
    socket.write(bytes)
  })
  socket.destroy()
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(heard)?.[1] ?? 0)
  count(report, `raw ${status}`)
  if (status >= 500) complain(report, `${about} answered ${heard.slice(0, 300)}`)
  if (heard !== '' && status === 0) complain(report, `${about} answered no HTTP: ${heard.slice(0, 100)}`)
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? 0)
  return end !== -1 && answer.length >= end + 4 + length
}
