/**
 * Simulates an SSC 2 device on a real socket: an EW-DX with two or four channels, or a Spectera base station. Only the
 * identity and the protocol version are readable without a password. Third-party access can be disabled and is locked
 * after five wrong passwords. A list of paths is rejected if one path is invalid. The status is 404 for a channel that
 * the device does not have and 422 for a transmitter that is not linked.
 */

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../src/domain/json.ts'
import { isSilenced, type SentValue, type Silence } from '../show/silence.ts'
import { createInitialResources, packsPath, type SpecteraApi, withoutLevelsOf } from './ssc2-resources.ts'

export interface Ssc2SimulatorOptions {
  readonly product?: 'EWDX2CHS' | 'EWDX4CHDS' | 'Spectera Base Station'
  readonly serial?: string
  readonly port?: number
  readonly host?: string
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer }
  /** The API version of a Spectera; default 18. */
  readonly api?: SpecteraApi
  /** The only user that is accepted. Default: `controlSennheiser` for a Spectera, `api` for an EW-DX. */
  readonly user?: string
  /** Resources that this firmware does not have. */
  readonly without?: readonly string[]
  readonly password?: string
  /** True if the identity requires the password, unlike on the documented devices. */
  readonly hidesIdentity?: boolean
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
  setSilence(silence: Silence | null): void
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
const identityPath = '/api/device/identity'
const publicPaths = ['/api/ssc/version', identityPath]
const isLevelPath = (path: string) => /\/(signal\w+Indicator|diversityIndicator|level|levels|metering)$/.test(path)

export async function startSsc2Simulator(options: Ssc2SimulatorOptions = {}): Promise<Ssc2Simulator> {
  const { host = '127.0.0.1', port = 0 } = options
  const device = new SimulatedSsc2Device(options)
  await device.listen(port, host)
  return device
}

class SimulatedSsc2Device implements Ssc2Simulator {
  url = ''
  readonly requests: string[] = []
  readonly #options: Ssc2SimulatorOptions
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** The body of every resource; null if it is not available. */
  readonly #resources: Map<string, unknown>
  readonly #sessions = new Map<string, Session>()
  readonly #user: string
  readonly #maxWrongPasswords: number
  readonly #maxSessions: number
  #password: string
  #wrongPasswords = 0
  #hasAccess = true
  #isSilent = false
  #silence: Silence | null = null
  #levelTimer: NodeJS.Timeout | undefined

  constructor(options: Ssc2SimulatorOptions) {
    const { tls, product, password = 'stage-right-password', maxWrongPasswords = 5, maxSessions = 8 } = options
    const { user = product === 'Spectera Base Station' ? 'controlSennheiser' : 'api' } = options
    this.#options = options
    this.#resources = new Map(Object.entries(this.#initialResources()))
    this.#user = user
    this.#password = password
    this.#maxWrongPasswords = maxWrongPasswords
    this.#maxSessions = maxSessions
    const handle: RequestListener = (request, response) => this.#handleRequest(request, response)
    this.#server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle)
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    })
  }

  async listen(port: number, host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve))
    const scheme = this.#options.tls === undefined ? 'http' : 'https'
    this.url = `${scheme}://${host}:${(this.#server.address() as AddressInfo).port}`
    this.#levelTimer = setInterval(() => this.#sendLevels(), this.#options.levelIntervalMs ?? 150)
  }

  get sessions(): number {
    return this.#sessions.size
  }

  get isLocked(): boolean {
    return this.#wrongPasswords >= this.#maxWrongPasswords
  }

  set(path: string, change: unknown): void {
    const previous = this.#resources.get(path)
    const next = isRecord(previous) && isRecord(change) ? { ...previous, ...change } : change
    if (isDeepStrictEqual(previous, next)) return
    this.#resources.set(path, next)
    // Levels are sent by their own timer.
    if (isLevelPath(path) && change !== null) return
    for (const session of this.#sessions.values())
      if (session.paths.has(path)) this.#sendEvent(session, { [path]: change })
  }

  setLinked(channel: number, isLinked: boolean): void {
    const index = channel - 1
    if (isLinked === (this.#resources.get(`/api/transmitters/${index}`) !== null)) return
    const initial = this.#initialResources()
    const transmitter = `/api/transmitters/${index}`
    for (const path of [`${transmitter}/battery`, `${transmitter}/warnings`, transmitter])
      this.set(path, isLinked ? initial[path] : null)
    this.set(`/api/channel/${index}/warnings`, isLinked ? [] : ['NoLink'])
  }

  setAccess(isOn: boolean): void {
    this.#hasAccess = isOn
    if (!isOn) this.#endSessions()
  }

  setPassword(password: string): void {
    this.#password = password
    this.#endSessions()
  }

  setSilent(isSilent: boolean): void {
    this.#isSilent = isSilent
  }

  setSilence(silence: Silence | null): void {
    this.#silence = silence
  }

  send(data: string): void {
    for (const { response } of this.#sessions.values()) response.write(`data: ${data}\n\n`)
  }

  async close(): Promise<void> {
    clearInterval(this.#levelTimer)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #initialResources(): Record<string, unknown> {
    const { product = 'EWDX2CHS', serial = '1234567890', api } = this.#options
    const resources = createInitialResources(product, serial, api)
    for (const path of this.#options.without ?? []) delete resources[path]
    return resources
  }

  async #handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/' } = request
    this.requests.push(`${method} ${path}`)
    const body = await readBody(request)
    if (this.#isSilent || (method === 'GET' && this.#isSilenced(path))) return
    const isHidden = path === identityPath && this.#options.hidesIdentity === true
    const denial = publicPaths.includes(path) && !isHidden ? null : this.#checkAccess(request)
    if (denial !== null) {
      send(response, denial)
      return
    }
    const isStream = path === subscriptionsPath && (request.headers.accept?.includes('text/event-stream') ?? false)
    if (isStream && this.#sessions.size < this.#maxSessions) this.#openSession(response)
    else send(response, isStream ? { status: 503 } : this.#handleAuthorized(method, path, body))
  }

  #handleAuthorized(method: string, path: string, body: string): Reply {
    if (path === subscriptionsPath) return { status: 400, body: { message: 'expected Accept: text/event-stream' } }
    if (path.startsWith(`${subscriptionsPath}/`)) return this.#changeSession(method, path, body)
    return method === 'GET' ? this.#readResource(path) : { status: 405 }
  }

  #checkAccess({ headers }: IncomingMessage): Reply | null {
    if (!this.#hasAccess || this.isLocked) return { status: 403, body: { message: 'access disabled' } }
    if (headers.authorization === `Basic ${Buffer.from(`${this.#user}:${this.#password}`).toString('base64')}`)
      return null
    if (headers.authorization !== undefined) this.#wrongPasswords += 1
    return { status: 401, body: { message: 'unauthorized' } }
  }

  #readResource(path: string): Reply {
    if (!this.#resources.has(path)) return { status: 404, body: { message: 'unknown resource' } }
    const body = this.#resources.get(path)
    if (body === null) return { status: 422, body: { message: 'not available' } }
    return { status: 200, body: withoutLevelsOf(body, this.#silence) }
  }

  #openSession(response: ServerResponse): void {
    const id = randomUUID()
    const path = `${subscriptionsPath}/${id}`
    this.#sessions.set(id, { id, response, paths: new Set() })
    response.on('close', () => this.#sessions.delete(id))
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-location': path })
    response.write(toEvent({ path, sessionUUID: id }, 'open'))
  }

  #changeSession(method: string, path: string, text: string): Reply {
    const [, id = '', action] = /^\/([^/]+)(?:\/(add|remove))?$/.exec(path.slice(subscriptionsPath.length)) ?? []
    const session = this.#sessions.get(id)
    if (session === undefined) return { status: 422, body: { message: 'unknown session' } }
    if (method === 'GET') return { status: 200, body: [...session.paths] }
    if (method === 'DELETE') {
      this.#endSession(session)
      return { status: 200 }
    }
    const paths = parsePaths(text)
    if (method !== 'PUT' || paths === null) return { status: 400, body: { message: 'expected a list of paths' } }
    const invalidPath = paths.find(
      (candidate) => !this.#resources.has(candidate) || this.#resources.get(candidate) === null,
    )
    if (invalidPath !== undefined)
      return { status: 400, body: { path: invalidPath, error: this.#resources.has(invalidPath) ? 422 : 404 } }
    if (action === undefined) session.paths.clear()
    for (const resourcePath of paths) {
      if (action === 'remove') session.paths.delete(resourcePath)
      else session.paths.add(resourcePath)
      if (action !== 'remove') this.#sendEvent(session, { [resourcePath]: this.#resources.get(resourcePath) })
    }
    return { status: 200, body: [...session.paths] }
  }

  #endSession({ id, response }: Session): void {
    this.#sessions.delete(id)
    response.end(toEvent({ path: `${subscriptionsPath}/${id}`, sessionUUID: id }, 'close'))
  }

  #endSessions(): void {
    for (const session of [...this.#sessions.values()]) this.#endSession(session)
  }

  #sendEvent({ response }: Session, changes: Record<string, unknown>): void {
    const sent = Object.entries(changes)
      .filter(([path]) => !this.#isSilenced(path))
      .map(([path, body]) => [path, withoutLevelsOf(body, this.#silence)])
    if (!this.#isSilent && sent.length > 0) response.write(toEvent(Object.fromEntries(sent)))
  }

  #isSilenced(path: string): boolean {
    return path !== packsPath && isSilenced(this.#silence, kindOf(path))
  }

  #sendLevels(): void {
    for (const session of this.#sessions.values()) {
      const paths = [...session.paths].filter(isLevelPath)
      this.#sendEvent(session, Object.fromEntries(paths.map((path) => [path, this.#resources.get(path)])))
    }
  }
}

function kindOf(path: string): SentValue {
  const [, index] = /^\/api\/(?:rf\/)?(?:channels?|transmitters)\/(\d+)/.exec(path) ?? []
  return { isLevel: isLevelPath(path), channel: index === undefined ? null : Number(index) + 1 }
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
