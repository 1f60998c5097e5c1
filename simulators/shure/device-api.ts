/**
 * Simulates a Shure system that implements the common device API: HTTP Digest (RFC 7616), discovery addresses, and
 * changes pushed over a WebSocket. Its digest code is independent of the client's, so that each verifies the other.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type WebSocket, WebSocketServer } from 'ws'
import { type ApiRequest, type AuthorizationResult, type Reply, startDeviceApi } from '../show/device-api.ts'
import { type DeviceChanges, startPushTimer } from '../show/push.ts'
import {
  createShowContext,
  type PushConnections,
  type Simulator,
  type SimulatorOptions,
  toSimulator,
} from '../show/simulator.ts'

type Algorithm = 'MD5' | 'SHA-256'

export interface ShureSimulatorOptions extends SimulatorOptions {
  readonly username?: string
  readonly sharedKey?: string
  /** The offered algorithms, in this order. Default: both. */
  readonly algorithms?: readonly Algorithm[]
  /** Number of requests after which a nonce is stale. */
  readonly nonceUses?: number
  readonly nonceLifetimeMs?: number
  /** Sends the next nonce with every response. */
  readonly nextNonce?: boolean
  /** Also requires the shared key in `X-Vendor-Auth-Key`. */
  readonly demandVendorKey?: boolean
  /** `…/ips/remove` responds to PATCH with 405 and requires POST. */
  readonly refusePatch?: boolean
}

export interface ShureSimulator extends Simulator {
  /** The addresses that the system searches for devices. */
  readonly discoveryIps: readonly string[]
}

const discoveryPath = '/api/v1/config/discovery/ips'
const socketPath = '/api/v1/ws'

export async function startShureSimulator(options: ShureSimulatorOptions = {}): Promise<ShureSimulator> {
  const { sharedKey = 'stage-left-shared-key', username = 'api', now = Date.now } = options
  const context = createShowContext('shure', 13, options)
  const discovery = createDiscoveryList(options.refusePatch ?? false)
  const server = new WebSocketServer({ noServer: true, autoPong: false, perMessageDeflate: false, maxPayload: 65_536 })
  const digest = createDigest({ ...options, username, sharedKey, now })

  const api = await startDeviceApi(
    {
      ...context,
      authorize: (apiRequest) =>
        checkVendorKey(apiRequest, options.demandVendorKey ? sharedKey : null) ?? digest(apiRequest),
      handle: (apiRequest) =>
        checkContentType(apiRequest) ?? discovery.handle(apiRequest) ?? requireUpgrade(apiRequest),
      upgrade(apiRequest, request, socket, head) {
        if (apiRequest.path !== socketPath) return false
        server.handleUpgrade(request, socket, head, (client) => accept(client))
        return true
      },
      dropConnections: () => {
        for (const client of server.clients) client.terminate()
      },
    },
    options,
  )
  const accept = (client: WebSocket) => {
    client.on('ping', (data) => api.isSilent() || client.pong(data))
    client.on('error', () => client.terminate())
    pushTimer.start()
  }

  let sent = 0
  const connections: PushConnections = {
    count: () => server.clients.size,
    sent: () => sent,
    send(text) {
      if (api.isSilent()) return
      for (const client of server.clients) {
        client.send(text)
        sent++
      }
    },
    close: () => closeSockets(server),
  }
  const pushTimer = startPushTimer({
    ...context,
    perSecond: options.pushesPerSecond ?? 5,
    hasSubscribers: () => server.clients.size > 0,
    publish: (changes) => {
      for (const frame of changes.flatMap(toFrames)) connections.send(JSON.stringify(frame))
    },
  })

  const config = {
    api_base_url: api.baseUrl,
    ...(username === 'api' ? {} : { username }),
    shared_key: sharedKey,
    ...(options.tls === undefined ? {} : { ssl_verify: false }),
    ...(options.demandVendorKey ? { auth_header: true } : {}),
  }
  return Object.defineProperty(toSimulator(context, { api, pushTimer, connections, config }), 'discoveryIps', {
    get: discovery.list,
  }) as ShureSimulator
}

function toFrames(changes: DeviceChanges): object[] {
  const { id, fields, status } = changes
  if (status === 'removed') return [{ type: 'device_removed', device_id: id }]
  const frames: object[] = []
  if (Object.keys(fields).length > 0) frames.push({ type: 'device_update', device_id: id, ...fields })
  if (status !== undefined) frames.push({ type: 'status_update', device_id: id, status })
  return frames
}

export async function closeSockets(server: WebSocketServer): Promise<void> {
  const closed = [...server.clients].map(
    (client) => new Promise<void>((resolve) => client.once('close', () => resolve())),
  )
  for (const client of server.clients) client.close(1001, 'shutting down')
  // A client that does not answer the close frame is terminated.
  const timer = setTimeout(() => {
    for (const client of server.clients) client.terminate()
  }, 200)
  await Promise.all(closed)
  clearTimeout(timer)
  server.close()
}

function requireUpgrade(apiRequest: ApiRequest): Reply | undefined {
  if (apiRequest.path !== socketPath) return undefined
  return { status: 426, headers: { upgrade: 'websocket' }, body: { title: 'Upgrade Required', status: 426 } }
}

/** Rejects a request that has a content type but no body, as the real server does. */
export function checkContentType({ headers, body }: ApiRequest): Reply | undefined {
  if (body !== '' || headers['content-type'] === undefined) return undefined
  return { status: 400, body: { title: 'A non-empty request body is required.', status: 400 } }
}

// --- Discovery addresses ----------------------------------------------------------------------------------------------

export function createDiscoveryList(refusePatch: boolean) {
  let ips: readonly string[] = []
  const removal = refusePatch ? 'POST' : 'PATCH'
  const handle = ({ method, path, body }: ApiRequest): Reply | undefined => {
    if (path !== discoveryPath && path !== `${discoveryPath}/remove`) return undefined
    const isRemoval = path !== discoveryPath
    if (method === 'GET' && !isRemoval) return { status: 200, body: { ips } }
    if (method !== (isRemoval ? removal : 'PUT')) {
      return {
        status: 405,
        headers: { allow: isRemoval ? removal : 'GET, PUT' },
        body: { title: 'Not allowed', status: 405 },
      }
    }
    const requestedIps = parseIps(body)
    if (requestedIps === null) return { status: 400, body: { title: 'Expected {"ips": [text, ...]}', status: 400 } }
    ips = isRemoval ? ips.filter((ip) => !requestedIps.includes(ip)) : [...new Set(requestedIps)]
    return { status: 202 }
  }
  return { handle, list: () => ips }
}

function parseIps(body: string): string[] | null {
  try {
    const { ips } = JSON.parse(body) as { ips: unknown }
    return Array.isArray(ips) && ips.every((ip) => typeof ip === 'string') ? ips : null
  } catch {
    return null
  }
}

// --- Authentication ---------------------------------------------------------------------------------------------------

interface Nonce {
  readonly issuedAt: number
  uses: number
  highestCount: number
}

interface DigestOptions
  extends Pick<ShureSimulatorOptions, 'algorithms' | 'nonceUses' | 'nonceLifetimeMs' | 'nextNonce'> {
  readonly username: string
  readonly sharedKey: string
  readonly now: () => number
}

const realm = 'System API'
const maxNonces = 1000

export function createDigest(options: DigestOptions): (apiRequest: ApiRequest) => AuthorizationResult {
  const { username, sharedKey, now, nextNonce = false } = options
  const { algorithms = ['SHA-256', 'MD5'], nonceUses = Number.POSITIVE_INFINITY, nonceLifetimeMs = 300_000 } = options
  const nonces = new Map<string, Nonce>()

  const issue = (): string => {
    const nonce = randomBytes(18).toString('base64url')
    nonces.set(nonce, { issuedAt: now(), uses: 0, highestCount: 0 })
    // A Map preserves insertion order.
    const [oldest = ''] = nonces.keys()
    if (nonces.size > maxNonces) nonces.delete(oldest)
    return nonce
  }
  const challenge = (reason: string, stale = false): AuthorizationResult => {
    const nonce = issue()
    const staleness = stale ? ', stale=true' : ''
    const headers = {
      'www-authenticate': algorithms.map(
        (algorithm) => `Digest realm="${realm}", qop="auth", algorithm=${algorithm}, nonce="${nonce}"${staleness}`,
      ),
    }
    return {
      ok: false,
      reason,
      response: { status: 401, headers, body: { title: 'Request Unauthorized.', status: 401 } },
    }
  }

  return (apiRequest) => {
    const credentials = parseDigest(apiRequest.headers.authorization)
    if (credentials === null) return challenge('no-credentials')
    const { nonce = '', nc = '', cnonce = '', response = '', uri, qop, algorithm = 'MD5' } = credentials
    const isWellFormed = qop === 'auth' && /^[0-9a-f]{8}$/i.test(nc) && cnonce !== '' && uri === apiRequest.target
    const offered = algorithms.find((candidate) => candidate === algorithm.toUpperCase())
    if (!isWellFormed || offered === undefined || credentials.realm !== realm) return challenge('malformed')

    const hash = (text: string) => digestOf(offered, text)
    const secret = hash(`${username}:${realm}:${sharedKey}`)
    const proof = (a2: string) => hash(`${secret}:${nonce}:${nc}:${cnonce}:${qop}:${hash(a2)}`)
    const isCorrect =
      credentials.username === username && equals(response.toLowerCase(), proof(`${apiRequest.method}:${uri}`))
    if (!isCorrect) return challenge('wrong-credentials')

    // The credentials are correct. If only the nonce is invalid, the client may retry with a new one.
    const known = nonces.get(nonce)
    if (known === undefined || known.uses >= nonceUses || now() - known.issuedAt > nonceLifetimeMs) {
      return challenge('stale', true)
    }
    const count = Number.parseInt(nc, 16)
    if (count <= known.highestCount) return challenge('replay', true)
    known.highestCount = count
    known.uses++

    const info = `qop=auth, rspauth="${proof(`:${uri}`)}", cnonce="${cnonce}", nc=${nc}`
    const next = nextNonce ? `, nextnonce="${issue()}"` : ''
    return { ok: true, headers: { 'authentication-info': info + next } }
  }
}

/** Parses `Digest name=value, name="quoted value", …`; returns null for any other scheme and for a repeated name. */
function parseDigest(header: string | undefined): Record<string, string> | null {
  const [, list] = /^Digest\s+(.*)$/is.exec(header ?? '') ?? []
  if (list === undefined) return null
  const fields: Record<string, string> = {}
  for (const [, name = '', quoted, token] of list.matchAll(/([a-z*]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi)) {
    const key = name.toLowerCase()
    if (fields[key] !== undefined) return null
    fields[key] = quoted === undefined ? String(token) : quoted.replace(/\\(.)/g, '$1')
  }
  return fields
}

function digestOf(algorithm: Algorithm, text: string): string {
  return createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
    .update(text)
    .digest('hex')
}

function checkVendorKey(apiRequest: ApiRequest, expected: string | null): AuthorizationResult | undefined {
  const key = apiRequest.headers['x-vendor-auth-key']
  if (expected === null || (typeof key === 'string' && equals(key, expected))) return undefined
  return {
    ok: false,
    reason: 'no-vendor-key',
    response: { status: 401, body: { title: 'Request Unauthorized.', status: 401 } },
  }
}

function equals(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
