/** The WebSocket end of the feed. */

import type { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import type { Credential } from '../actions/credentials.ts'
import { type Feed, filterBatch } from '../live/feed.ts'
import { RequestError } from '../model/errors.ts'
import { levelsProtocol } from '../model/level-records.ts'
import { respondToClient, type ServerMessage } from '../model/messages.ts'
import { fullBucket, takeToken } from '../model/rate-limit.ts'
import { createLevelsEncoder, type FrameEncoder, jsonEncoder } from './frame-encoding.ts'
import { type Query, readParameter } from './response.ts'

export interface SocketDeps {
  readonly feed: Feed
  /** False while an operator has switched real-time updates off, for all or for one manufacturer. */
  isBroadcasting(manufacturer: string | null): boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route speaks WebSocket. */
    isSocket?: boolean
  }
}

/** For @fastify/websocket: what the `ws` server is to accept. */
export const socketServerOptions = {
  maxPayload: 64 * 1024,
  maxFragments: 1024,
  maxBufferedChunks: 16 * 1024,
  perMessageDeflate: false,
  /** Of other subprotocols the first is agreed to, since browsers insist; what is said in it is JSON as ever. */
  handleProtocols(offered: Set<string>) {
    const [first = ''] = offered
    return offered.has(levelsProtocol) ? levelsProtocol : first
  },
} as const

const heartbeatMs = 20_000
const lookoutMs = 250
const maxUnsentBytes = 512 * 1024
const slowestDrainMs = 30_000
const lookAgainMs = 50
const goodbyeMs = 1000
/** Messages a client may send, and how many that mean nothing end its connection when they come within how long. */
const pace = { perSecond: 20, burst: 100 }
const nonsense = { count: 20, withinMs: 60_000 }

const closeCodes = { goingAway: 1001, unsupported: 1003, policy: 1008, tryLater: 1013, signedOut: 4401 } as const

/** `/ws` and `/ws/<name>/`; whatever the name, it is the same feed. */
export function socketRoutes(app: FastifyInstance, deps: SocketDeps & { readonly maxClients: number }): void {
  const levelsWire = createLevelsEncoder()
  const alive = new WeakSet<WebSocket>()
  /** Somebody may switch real-time updates off while nothing happens that would be sent. */
  const lookout = setInterval(() => {
    if (deps.isBroadcasting(null)) return
    for (const socket of app.websocketServer.clients) switchOff(socket)
  }, lookoutMs)
  const heartbeat = setInterval(() => {
    for (const socket of app.websocketServer.clients) {
      if (!alive.delete(socket)) socket.terminate()
      else socket.ping()
    }
  }, heartbeatMs)
  app.addHook('onClose', async () => {
    clearInterval(heartbeat)
    clearInterval(lookout)
  })

  for (const path of ['/ws', '/ws/:name']) {
    app.route({
      method: 'GET',
      url: path,
      config: { isSocket: true },
      handler: () => {
        throw new RequestError('upgrade_required', { details: 'Connect with ws:// or wss://.' })
      },
      preHandler: async ({ query }) => {
        readParameter(query as Query, 'manufacturer')
        if (!deps.isBroadcasting(null)) throw new RequestError('websocket_off')
        if (app.websocketServer.clients.size >= deps.maxClients) throw new RequestError('websocket_full')
      },
      wsHandler: (socket, request) => {
        alive.add(socket)
        socket.on('pong', () => alive.add(socket))
        holdCredential(socket, request.credential)
        const wire = socket.protocol === levelsProtocol ? levelsWire() : jsonEncoder
        const client = { socket, stream: request.raw.socket, wire }
        listen(client, deps, readParameter(request.query as Query, 'manufacturer'))
      },
    })
  }
}

/** The connection lasts as long as the session or token that opened it. */
function holdCredential(socket: WebSocket, credential: Credential | null): void {
  const release = credential?.hold({
    warn: (endsAt) =>
      say(socket, { type: 'status', message: `Your sign-in ends at ${new Date(endsAt).toISOString()}` }),
    end: () => socket.close(closeCodes.signedOut, 'Signed out'),
  })
  if (release !== undefined) socket.on('close', release)
}

function switchOff(socket: WebSocket): void {
  socket.close(closeCodes.goingAway, 'Real-time updates are switched off')
}

/** Ends every connection, saying so; whoever does not say goodbye in return is cut. Call the answer when all are gone. */
export function closeSockets(clients: Iterable<WebSocket>): () => void {
  for (const socket of clients) socket.close(closeCodes.goingAway, 'The service is stopping')
  const timer = setTimeout(() => {
    for (const socket of clients) socket.terminate()
  }, goodbyeMs)
  return () => clearTimeout(timer)
}

interface Client {
  readonly socket: WebSocket
  /** The bare connection beneath. */
  readonly stream: Writable
  readonly wire: FrameEncoder
}

function listen(client: Client, deps: SocketDeps, manufacturer: string | undefined): void {
  const { socket } = client
  const ended = new AbortController()
  socket.on('close', () => ended.abort())
  socket.on('error', () => socket.terminate())
  answerMessages(socket)
  say(socket, { type: 'status', message: 'Connected' })
  sendFeed(client, deps, manufacturer, ended.signal).catch(() => socket.terminate())
}

async function sendFeed(
  { socket, stream, wire }: Client,
  deps: SocketDeps,
  manufacturer: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  for await (const told of deps.feed.subscribe({ manufacturer, signal })) {
    if (!deps.isBroadcasting(null)) return switchOff(socket)
    const batch = filterBatch(told, deps.isBroadcasting)
    if (batch.messages.length === 0) continue
    if (socket.bufferedAmount > maxUnsentBytes && !(await drained(socket))) {
      socket.close(closeCodes.tryLater, 'Too slow')
      // Time to read the reason, for whoever does read on after all.
      setTimeout(() => socket.terminate(), goodbyeMs).unref()
      return
    }
    // Whole frames, so they may stand between those that the library writes; nothing may follow its goodbye.
    if (socket.readyState === socket.OPEN) stream.write(wire(batch))
  }
}

/** Waits until a slow client has taken what it was sent; meanwhile the feed keeps only the newest for it. */
async function drained(socket: WebSocket): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < slowestDrainMs; waitedMs += lookAgainMs) {
    if (socket.bufferedAmount <= maxUnsentBytes / 2 || socket.readyState !== socket.OPEN) return true
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
  }
  return false
}

function answerMessages(socket: WebSocket): void {
  let allowance = fullBucket(pace, performance.now())
  /** When each of the last pieces of nonsense came. */
  const nonsenseAt: number[] = []
  socket.on('message', (data, isBinary) => {
    if (isBinary) return socket.close(closeCodes.unsupported, 'Text frames only')
    const now = performance.now()
    const taken = takeToken(allowance, pace, now)
    allowance = taken.bucket
    if (taken.waitMs > 0) return socket.close(closeCodes.policy, 'Too many messages')
    const answer = respondToClient(String(data), new Date())
    say(socket, answer)
    if (answer.type !== 'error' || nonsenseAt.push(now) < nonsense.count) return
    const first = nonsenseAt.shift() ?? now
    if (now - first < nonsense.withinMs) socket.close(closeCodes.policy, 'Too many messages that mean nothing')
  })
}

function say(socket: WebSocket, message: ServerMessage): void {
  socket.send(JSON.stringify(message))
}
