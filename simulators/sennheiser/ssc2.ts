/**
 * Simulates an SSC 2 device on a real socket: an EW-DX with two or four channels, or a Spectera base station. Only the
 * identity and the protocol version are readable without a password. Third-party access can be disabled and is locked
 * after five wrong passwords. A list of paths is rejected if one path is invalid. The status is 404 for a channel that
 * the device does not have and 422 for a transmitter that is not linked.
 */

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../src/domain/json.ts'
import { createInitialResources } from './ssc2-resources.ts'

export interface Ssc2SimulatorOptions {
  readonly product?: 'EWDX2CHS' | 'EWDX4CHDS' | 'Spectera Base Station'
  readonly serial?: string
  readonly port?: number
  readonly host?: string
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer }
  readonly user?: string
  readonly password?: string
  /** Interval of level events while a client is subscribed; default 150 ms. */
  readonly levelIntervalMs?: number
  /** Number of wrong passwords after which access is locked; default 5. */
  readonly maxWrongPasswords?: number
  /** Maximum number of concurrent event streams; default 8. */
  readonly maxSessions?: number
}

export interface Ssc2Simulator {
  readonly url: string
  /** Received requests in order, such as `GET /api/device/identity`. */
  readonly requests: readonly string[]
  readonly sessions: number
  readonly isLocked: boolean
  /** Merges the change into the resource and notifies its subscribers; null removes the resource. */
  set(path: string, change: unknown): void
  /** Switches the transmitter of a channel on or off. */
  setLinked(channel: number, isLinked: boolean): void
  setAccess(isOn: boolean): void
  /** Changes the password and ends all sessions, as the real device does. */
  setPassword(password: string): void
  /** While true, sends neither responses nor events; connections stay open. */
  setSilent(isSilent: boolean): void
  /** Sends this text unchanged to every session as the data of an event. */
  send(data: string): void
  close(): Promise<void>
}

interface Session {
  readonly id: string
  readonly response: ServerResponse
  readonly paths: Set<string>
}

interface Reply {
  readonly status: number
  readonly body?: unknown
}

const subscriptionsPath = '/api/ssc/state/subscriptions'
const publicPaths = ['/api/ssc/version', '/api/device/identity']
const isLevelPath = (path: string) => /\/(signal\w+Indicator|diversityIndicator|level|metering)$/.test(path)

export async function startSsc2Simulator(options: Ssc2SimulatorOptions = {}): Promise<Ssc2Simulator> {
  const { product = 'EWDX2CHS', serial = '1234567890', user = 'api', maxWrongPasswords = 5, maxSessions = 8 } = options
  let { password = 'stage-right-password' } = options
  const resources = new Map<string, unknown>(Object.entries(createInitialResources(product, serial)))
  const sessions = new Map<string, Session>()
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let wrongPasswords = 0
  let hasAccess = true
  let isSilent = false

  const handleRequest: RequestListener = async (request, response) => {
    const { method = 'GET', url: path = '/' } = request
    requests.push(`${method} ${path}`)
    const body = await readBody(request)
    if (isSilent) return
    const denial = publicPaths.includes(path) ? null : checkAccess(request)
    if (denial !== null) {
      send(response, denial)
      return
    }
    const isStream = path === subscriptionsPath && (request.headers.accept?.includes('text/event-stream') ?? false)
    if (isStream && sessions.size < maxSessions) openSession(response)
    else send(response, isStream ? { status: 503 } : handleAuthorized(method, path, body))
  }

  function handleAuthorized(method: string, path: string, body: string): Reply {
    if (path === subscriptionsPath) return { status: 400, body: { message: 'expected Accept: text/event-stream' } }
    if (path.startsWith(`${subscriptionsPath}/`)) return changeSession(method, path, body)
    return method === 'GET' ? readResource(path) : { status: 405 }
  }

  function checkAccess({ headers }: IncomingMessage): Reply | null {
    if (!hasAccess || wrongPasswords >= maxWrongPasswords) return { status: 403, body: { message: 'access disabled' } }
    if (headers.authorization === `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`) return null
    if (headers.authorization !== undefined) wrongPasswords += 1
    return { status: 401, body: { message: 'unauthorized' } }
  }

  function readResource(path: string): Reply {
    if (!resources.has(path)) return { status: 404, body: { message: 'unknown resource' } }
    const body = resources.get(path)
    return body === null ? { status: 422, body: { message: 'not available' } } : { status: 200, body }
  }

  function openSession(response: ServerResponse): void {
    const id = randomUUID()
    const path = `${subscriptionsPath}/${id}`
    sessions.set(id, { id, response, paths: new Set() })
    response.on('close', () => sessions.delete(id))
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-location': path })
    response.write(toEvent({ path, sessionUUID: id }, 'open'))
  }

  function changeSession(method: string, path: string, text: string): Reply {
    const [, id = '', action] = /^\/([^/]+)(?:\/(add|remove))?$/.exec(path.slice(subscriptionsPath.length)) ?? []
    const session = sessions.get(id)
    if (session === undefined) return { status: 422, body: { message: 'unknown session' } }
    if (method === 'GET') return { status: 200, body: [...session.paths] }
    if (method === 'DELETE') {
      endSession(session)
      return { status: 200 }
    }
    const paths = parsePaths(text)
    if (method !== 'PUT' || paths === null) return { status: 400, body: { message: 'expected a list of paths' } }
    const invalidPath = paths.find((candidate) => !resources.has(candidate) || resources.get(candidate) === null)
    if (invalidPath !== undefined)
      return { status: 400, body: { path: invalidPath, error: resources.has(invalidPath) ? 422 : 404 } }
    if (action === undefined) session.paths.clear()
    for (const resourcePath of paths) {
      if (action === 'remove') session.paths.delete(resourcePath)
      else session.paths.add(resourcePath)
      if (action !== 'remove') sendEvent(session, { [resourcePath]: resources.get(resourcePath) })
    }
    return { status: 200, body: [...session.paths] }
  }

  function endSession({ id, response }: Session): void {
    sessions.delete(id)
    response.end(toEvent({ path: `${subscriptionsPath}/${id}`, sessionUUID: id }, 'close'))
  }

  function sendEvent({ response }: Session, changes: Record<string, unknown>): void {
    if (!isSilent && Object.keys(changes).length > 0) response.write(toEvent(changes))
  }

  function set(path: string, change: unknown): void {
    const previous = resources.get(path)
    const next = isRecord(previous) && isRecord(change) ? { ...previous, ...change } : change
    if (isDeepStrictEqual(previous, next)) return
    resources.set(path, next)
    // Levels are sent by their own timer.
    if (isLevelPath(path) && change !== null) return
    for (const session of sessions.values()) if (session.paths.has(path)) sendEvent(session, { [path]: change })
  }

  const server = options.tls === undefined ? createServer(handleRequest) : createTlsServer(options.tls, handleRequest)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  const { host = '127.0.0.1', port = 0 } = options
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const levelTimer = setInterval(() => {
    for (const session of sessions.values()) {
      sendEvent(
        session,
        Object.fromEntries([...session.paths].filter(isLevelPath).map((path) => [path, resources.get(path)])),
      )
    }
  }, options.levelIntervalMs ?? 150)

  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    get sessions() {
      return sessions.size
    },
    get isLocked() {
      return wrongPasswords >= maxWrongPasswords
    },
    set,
    setLinked(channel, isLinked) {
      const index = channel - 1
      if (isLinked === (resources.get(`/api/transmitters/${index}`) !== null)) return
      const { [`/api/transmitters/${index}`]: body, [`/api/transmitters/${index}/battery`]: battery } =
        createInitialResources(product, serial)
      set(`/api/transmitters/${index}/battery`, isLinked ? battery : null)
      set(`/api/transmitters/${index}`, isLinked ? body : null)
      set(`/api/channel/${index}/warnings`, isLinked ? [] : ['NoLink'])
    },
    setAccess(isOn) {
      hasAccess = isOn
      if (!isOn) for (const session of [...sessions.values()]) endSession(session)
    },
    setPassword(next) {
      password = next
      for (const session of [...sessions.values()]) endSession(session)
    },
    setSilent(value) {
      isSilent = value
    },
    send(data) {
      for (const { response } of sessions.values()) response.write(`data: ${data}\n\n`)
    },
    async close() {
      clearInterval(levelTimer)
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function toEvent(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const text = body === undefined ? '' : JSON.stringify(body)
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function parsePaths(text: string): string[] | null {
  try {
    const paths: unknown = JSON.parse(text)
    return Array.isArray(paths) && paths.every((path) => typeof path === 'string') ? paths : null
  } catch {
    return null
  }
}
