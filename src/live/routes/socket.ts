/** The WebSocket routes `/ws` and `/ws/<name>/`, for both versions. The name has no effect. */

import type { Writable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { Credential } from '../../actions/access/credentials.ts'
import type { ServerMessage } from '../../contract/messages.ts'
import { fullBucket, takeToken } from '../../domain/access/limits.ts'
import type { EquipmentFilter } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import { findJsonExcess } from '../../domain/json-limits.ts'
import { respondToClient } from '../../domain/messages.ts'
import { toSentence } from '../../domain/text.ts'
import { clientKeyOf } from '../../http/server/client-key.ts'
import type { ShownCodes } from '../../ingest/level-demand.ts'
import { now } from '../../platform/clock.ts'
import type { ClientShares } from '../../platform/concurrency.ts'
import type { Service } from '../../service.ts'
import type { LiveData } from '../live-data.ts'
import type { LivePublisher } from '../live-publisher.ts'
import { LiveSession } from '../live-session.ts'
import { filterBatch, type MessageBatch } from '../version-1.ts'
import { type LiveRequest, liveProtocol, readLiveMessage, readSocketOptions } from './client-messages.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    isSocket?: boolean
  }
}

/** Options of @fastify/websocket for its `ws` server. */
export const socketServerOptions = {
  maxPayload: 64 * 1024,
  maxFragments: 1024,
  maxBufferedChunks: 16 * 1024,
  perMessageDeflate: false,
  /**
   * Browsers require that an offered subprotocol is accepted, so version 1 accepts any. Pages of Micwatch 0.1.0 offer
   * only `micwatch.levels.v1`.
   */
  handleProtocols(offered: Set<string>) {
    const [first = ''] = offered
    return offered.has(liveProtocol) ? liveProtocol : first
  },
} as const

const heartbeatMs = 20_000
const switchCheckMs = 250
const maxUnsentBytes = 512 * 1024
const maxDrainMs = 30_000
const drainCheckMs = 50
const closeTimeoutMs = 1000
const messageRate = { perSecond: 20, burst: 100 }
/** Enough for a selection of 500 sites. */
const maxMessageValues = 4000
const invalidLimit = { count: 20, withinMs: 60_000 }

const closeCodes = { goingAway: 1001, unsupported: 1003, policy: 1008, tryLater: 1013, signedOut: 4401 } as const

/** `sockets`: the share of each client in all connections. */
export function socketRoutes(app: FastifyInstance, service: Service, liveData: LiveData, sockets: ClientShares): void {
  const { live: publisher, installation } = service
  const { lists } = publisher
  const alive = new WeakSet<WebSocket>()
  /** Without those that play sound. */
  const liveSockets = new Set<WebSocket>()
  app.websocketServer.on('connection', (socket) => {
    alive.add(socket)
    socket.on('pong', () => alive.add(socket))
  })
  const switchCheck = setInterval(() => {
    if (lists.isBroadcasting(null)) return
    for (const socket of liveSockets) switchOff(socket)
  }, switchCheckMs)
  const heartbeat = setInterval(() => {
    for (const socket of app.websocketServer.clients) {
      if (!alive.delete(socket)) socket.terminate()
      else socket.ping()
    }
  }, heartbeatMs)
  app.addHook('onClose', async () => {
    clearInterval(heartbeat)
    clearInterval(switchCheck)
  })

  for (const path of ['/ws', '/ws/:name']) {
    app.route({
      method: 'GET',
      url: path,
      config: { isSocket: true },
      handler: () => {
        throw new RequestError('upgrade_required', { details: 'Connect with ws:// or wss://.' })
      },
      preHandler: async (request) => {
        readSocketOptions(request, liveData)
        if (!lists.isBroadcasting(null)) throw new RequestError('websocket_off')
        if (request.ws) takeSocket(sockets, request)
      },
      wsHandler: (socket, request) => {
        liveSockets.add(socket)
        socket.on('close', () => liveSockets.delete(socket))
        const { filter, live } = readSocketOptions(request, liveData)
        if (live !== null) {
          const session = new LiveSession(socket, publisher, liveData, installation, live, () => alive.add(socket))
          serveLiveClient(socket, session, service, request.credential)
          addDemand(socket, service, {
            manufacturers: () => session.shownManufacturers(),
            sites: () => session.shownSites(),
          })
          return
        }
        holdCredential(socket, request.credential, (message) => send(socket, message))
        const client = { socket, stream: request.raw.socket }
        serveClient(client, publisher, filter)
        addDemand(socket, service, {
          manufacturers: () => (filter.manufacturer === undefined ? null : [filter.manufacturer]),
          sites: () => (filter.site === undefined ? null : [filter.site]),
        })
      },
    })
  }
}

function takeSocket(sockets: ClientShares, request: FastifyRequest): void {
  const release = sockets.take(clientKeyOf(request))
  if (release === null) {
    throw new RequestError('websocket_full', { details: `at most ${sockets.share} of one client are open at a time` })
  }
  request.raw.socket.once('close', release)
}

/** Requests the levels that the client is sent, until its connection is closed. */
function addDemand(
  socket: WebSocket,
  { levelDemand, siteLevelDemand }: Service,
  shown: { readonly manufacturers: ShownCodes; readonly sites: ShownCodes },
): void {
  const removals = [levelDemand.add(shown.manufacturers), siteLevelDemand.add(shown.sites)]
  socket.on('close', () => {
    for (const remove of removals) remove()
  })
}

/** Closes the connection when its session or token expires or is revoked. */
function holdCredential(
  socket: WebSocket,
  credential: Credential | null,
  sendTo: (message: ServerMessage) => void,
): void {
  const release = credential?.hold({
    warn: (endsAt) => sendTo({ type: 'status', message: `Your sign-in ends at ${new Date(endsAt).toISOString()}` }),
    end: () => socket.close(closeCodes.signedOut, 'Signed out'),
  })
  if (release !== undefined) socket.on('close', release)
}

function switchOff(socket: WebSocket): void {
  socket.close(closeCodes.goingAway, 'Real-time updates are disabled')
}

/**
 * Closes every connection, and terminates those that do not complete the closing handshake in time. Call the returned
 * function when all are closed.
 */
export function closeSockets(clients: Iterable<WebSocket>): () => void {
  for (const socket of clients) socket.close(closeCodes.goingAway, 'The service is stopping')
  const timer = setTimeout(() => {
    for (const socket of clients) socket.terminate()
  }, closeTimeoutMs)
  return () => clearTimeout(timer)
}

function serveLiveClient(
  socket: WebSocket,
  session: LiveSession,
  { levelDemand, siteLevelDemand }: Service,
  credential: Credential | null,
): void {
  socket.on('close', () => session.stop())
  socket.on('error', () => socket.terminate())
  holdCredential(socket, credential, (message) => session.send(message))
  handleMessages(socket, {
    read: (text) => readLiveMessage(text, new Date(now())),
    acknowledge: (seq) => session.acknowledge(seq),
    change(request) {
      switch (request.type) {
        case 'select_sweeps':
          session.selectSweeps(request)
          return null
        case 'select_levels': {
          const error = session.changeLevels(request)
          if (error !== null) return error
          levelDemand.update()
          siteLevelDemand.update()
          return null
        }
        default:
          return request
      }
    },
    send: (message) => session.send(message),
  })
  session.start()
}

interface Client {
  readonly socket: WebSocket
  /** The underlying TCP or TLS connection. */
  readonly stream: Writable
}

function serveClient(client: Client, live: LivePublisher, filter: EquipmentFilter): void {
  const { socket } = client
  const ended = new AbortController()
  socket.on('close', () => ended.abort())
  socket.on('error', () => socket.terminate())
  handleMessages(socket, {
    read: (text) => respondToClient(text, new Date(now())),
    acknowledge: () => false,
    change: (request) => (request.type === 'select_levels' || request.type === 'select_sweeps' ? null : request),
    send: (message) => send(socket, message),
  })
  send(socket, { type: 'status', message: 'Connected' })
  sendVersion1(client, live, filter, ended.signal).catch(() => socket.terminate())
}

async function sendVersion1(
  { socket, stream }: Client,
  { version1, lists }: LivePublisher,
  filter: EquipmentFilter,
  signal: AbortSignal,
): Promise<void> {
  for await (const published of version1.subscribe(filter, signal)) {
    if (!lists.isBroadcasting(null)) return switchOff(socket)
    const batch = filterBatch(published, (manufacturer) => lists.isBroadcasting(manufacturer))
    if (batch.messages.length === 0) continue
    if (socket.bufferedAmount > maxUnsentBytes && !(await drained(socket))) {
      socket.close(closeCodes.tryLater, 'Too slow')
      // Gives the client time to read the close reason.
      setTimeout(() => socket.terminate(), closeTimeoutMs).unref()
      return
    }
    stream.cork()
    for (const message of serialize(batch)) socket.send(message, { binary: false })
    stream.uncork()
  }
}

const serialized = new WeakMap<MessageBatch, readonly Buffer[]>()

function serialize(batch: MessageBatch): readonly Buffer[] {
  const known = serialized.get(batch)
  if (known !== undefined) return known
  const messages = batch.messages.map((message) => Buffer.from(JSON.stringify(message)))
  serialized.set(batch, messages)
  return messages
}

/** Waits until a slow client has read its buffered data; meanwhile only the latest state is kept for it. */
async function drained(socket: WebSocket): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < maxDrainMs; waitedMs += drainCheckMs) {
    if (socket.bufferedAmount <= maxUnsentBytes / 2 || socket.readyState !== socket.OPEN) return true
    await new Promise((resolve) => setTimeout(resolve, drainCheckMs))
  }
  return false
}

type Change = Exclude<LiveRequest, { readonly type: 'ack' }>

interface MessageHandler {
  read(text: string): LiveRequest
  acknowledge(seq: number | null): boolean
  /** Returns the response; null if there is none. */
  change(request: Change): ServerMessage | null
  send(message: ServerMessage): void
}

function handleMessages(socket: WebSocket, handler: MessageHandler): void {
  let allowance = fullBucket(messageRate, performance.now())
  /** Times of the latest invalid messages. */
  const invalidTimes: number[] = []
  socket.on('message', (data, isBinary) => {
    if (isBinary) return socket.close(closeCodes.unsupported, 'Text frames only')
    const excess = findJsonExcess(data as Buffer, maxMessageValues)
    const request: LiveRequest =
      excess === null ? handler.read(String(data)) : { type: 'error', error: toSentence(excess.message) }
    // An expected acknowledgement does not count towards the rate limit.
    if (request.type === 'ack' && handler.acknowledge(request.seq)) return
    const now = performance.now()
    const result = takeToken(allowance, messageRate, now)
    allowance = result.bucket
    if (result.waitMs > 0) return socket.close(closeCodes.policy, 'Too many messages')
    if (request.type === 'ack') return
    const response = handler.change(request)
    if (response === null) return
    handler.send(response)
    if (response.type !== 'error' || invalidTimes.push(now) < invalidLimit.count) return
    const first = invalidTimes.shift() ?? now
    if (now - first < invalidLimit.withinMs) socket.close(closeCodes.policy, 'Too many invalid messages')
  })
}

function send(socket: WebSocket, message: ServerMessage): void {
  socket.send(JSON.stringify(message))
}
