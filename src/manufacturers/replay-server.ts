/** Answers an adapter over real sockets as the device in a capture did. */

import { createSocket, type RemoteInfo } from 'node:dgram'
import { EventEmitter, once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { type Capture, type ExchangeLine, isExchange } from '../upstream/capture/capture-file.ts'

/**
 * If the adapter does not send what it sent before the next message, that message follows after this time, because the
 * adapter may send less, or later, than it did.
 */
const impatienceMs = 300
const host = '127.0.0.1'
/** Some devices reply to the port number on which they listen, so they need another address than the adapter. */
const udpHost = '127.0.0.2'

export interface ReplayServer {
  readonly host: string
  /** `host:port` */
  readonly address: string
  /** The time in the capture of the last message that was sent, or -Infinity. */
  readonly time: number
  /** True if the capture has connections besides HTTP requests. */
  readonly hasConnections: boolean
  /** True if the capture has HTTP requests. */
  readonly hasRequests: boolean
  /** Requests that are not in the capture. */
  readonly unknownRequests: ReadonlySet<string>
  /** Resolves when everything that the device sent on its connections has been sent. */
  readonly ended: Promise<void>
  /** True if a connection was closed before everything that the device sent on it had been sent. */
  readonly isCutOff: boolean
  close(): Promise<void>
}

const bytesOf = ({ text, latin1 }: ExchangeLine) => Buffer.from(text, latin1 ? 'latin1' : 'utf8')

export async function startReplayServer({ lines }: Capture): Promise<ReplayServer> {
  const exchanges = lines.filter(isExchange)
  const requests = exchanges.filter(({ transport }) => transport === 'http')
  const connections = exchanges.filter(({ transport }) => transport !== 'http')
  const player = new Player(connections)
  const [first] = exchanges
  const responses = new Responses(requests)
  const server =
    first?.transport === 'tcp'
      ? await serveTcp(player)
      : first?.transport === 'udp'
        ? await serveUdp(player)
        : await serveHttp(player, responses)
  return {
    host: server.host,
    address: `${server.host}:${server.port}`,
    get time() {
      return Math.max(player.time, responses.time)
    },
    hasConnections: connections.length > 0,
    hasRequests: requests.length > 0,
    unknownRequests: responses.unknown,
    ended: player.ended,
    get isCutOff() {
      return player.isCutOff
    },
    async close() {
      player.stop()
      await server.close()
    },
  }
}

interface Peer {
  send(bytes: Buffer): unknown
  /** Closes the connection. */
  end(): void
}

/** Replays the connections in the order in which they were opened. */
class Player {
  time = Number.NEGATIVE_INFINITY
  isCutOff = false
  readonly ended: Promise<void>
  readonly #sessions: ExchangeLine[][]
  readonly #stopping = new AbortController()
  readonly #end: () => void

  constructor(lines: readonly ExchangeLine[]) {
    const sessions = new Map<number, ExchangeLine[]>()
    for (const line of lines) {
      const known = sessions.get(line.session)
      if (known === undefined) sessions.set(line.session, [line])
      else known.push(line)
    }
    this.#sessions = [...sessions.values()]
    let end = () => {}
    this.ended = new Promise((resolve) => {
      end = resolve
    })
    this.#end = end
    if (this.#sessions.length === 0) end()
  }

  stop(): void {
    this.#stopping.abort()
  }

  /** Plays the next connection. `received` is emitted for everything that the adapter sends, `close` when it closes. */
  async play(peer: Peer, events: EventEmitter): Promise<void> {
    const session = this.#sessions.shift()
    if (session === undefined) return
    let credit = 0
    let isOpen = !this.#stopping.signal.aborted
    let wake = () => {}
    events.on('received', (bytes: number) => {
      credit += bytes
      wake()
    })
    const close = () => {
      isOpen = false
      wake()
    }
    events.once('close', close)
    this.#stopping.signal.addEventListener('abort', close, { once: true })
    const last = session.findLastIndex(({ from }) => from === 'device')
    const lastRequest = session.findLastIndex(({ from }, index) => from === 'micwatch' && index < last)
    for (const [index, line] of session.entries()) {
      if (line.from === 'micwatch') credit -= bytesOf(line).length
      while (isOpen && credit < 0) {
        const timer = setTimeout(() => {
          credit = 0
          wake()
        }, impatienceMs)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        clearTimeout(timer)
      }
      if (!isOpen) {
        this.isCutOff ||= index <= lastRequest
        break
      }
      if (line.from === 'micwatch') continue
      await peer.send(bytesOf(line))
      this.time = Math.max(this.time, line.t)
    }
    // The last connection stays open, because the adapter may still wait for something.
    if (this.#sessions.length === 0) this.#end()
    else peer.end()
  }
}

/** The last response to each request, because it shows the device as it was in the end. */
class Responses {
  time = Number.NEGATIVE_INFINITY
  readonly unknown = new Set<string>()
  readonly #byRequest = new Map<string, ExchangeLine>()

  constructor(lines: readonly ExchangeLine[]) {
    const requests = new Map<number, string>()
    for (const line of lines) {
      if (line.from === 'micwatch') requests.set(line.session, `${line.method} ${line.path}`)
      else this.#byRequest.set(requests.get(line.session) ?? '', line)
    }
  }

  answer({ method, url = '/' }: IncomingMessage, response: ServerResponse): void {
    const request = `${method} ${url}`
    const line = this.#byRequest.get(request)
    if (line === undefined) {
      this.unknown.add(request)
      // A request that changes something may have been sent before the capture.
      response.writeHead(method === 'GET' ? 404 : 204).end()
      return
    }
    this.time = Math.max(this.time, line.t)
    const { status = 200, type } = line
    response.writeHead(status, typeof type === 'string' ? { 'content-type': type } : {})
    // These have no body, even if the capture was edited.
    response.end(status === 204 || status === 304 ? undefined : bytesOf(line))
  }
}

interface Listener {
  readonly host: string
  readonly port: number
  close(): Promise<unknown>
}

async function serveTcp(player: Player): Promise<Listener> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    const events = new EventEmitter()
    socket.setNoDelay()
    socket.on('error', () => {}).on('data', (bytes) => events.emit('received', bytes.length))
    socket.once('close', () => events.emit('close'))
    void player.play({ send: (bytes) => socket.write(bytes), end: () => socket.end() }, events)
  })
  await once(server.listen(0, host), 'listening')
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return once(server.close(), 'close')
    },
  }
}

async function serveUdp(player: Player): Promise<Listener> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  const peers = new Map<number, EventEmitter>()
  socket.on('message', (bytes: Buffer, { port, address }: RemoteInfo) => {
    let events = peers.get(port)
    if (events === undefined) {
      events = new EventEmitter()
      peers.set(port, events)
      // A burst of datagrams would overflow the buffer of the adapter's socket.
      const send = (bytes: Buffer) => {
        socket.send(bytes, port, address)
        return pause(1)
      }
      void player.play({ send, end() {} }, events)
    }
    events.emit('received', bytes.length)
  })
  socket.bind(0, udpHost)
  await once(socket, 'listening')
  return { host: udpHost, port: socket.address().port, close: () => once(socket.close(), 'close') }
}

async function serveHttp(player: Player, responses: Responses): Promise<Listener> {
  const sockets = new WebSocketServer({ noServer: true })
  const server = createHttpServer((request, response) => {
    if (request.headers.accept !== 'text/event-stream') {
      request.resume().once('end', () => responses.answer(request, response))
      return
    }
    const events = new EventEmitter()
    response.once('close', () => events.emit('close'))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    void player.play({ send: (bytes) => response.write(bytes), end: () => response.end() }, events)
  })
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (peer) => {
      const events = new EventEmitter()
      peer.on('error', () => {}).on('message', (data) => events.emit('received', (data as Buffer).length))
      peer.once('close', () => events.emit('close'))
      void player.play({ send: (bytes) => peer.send(bytes.toString()), end: () => peer.close() }, events)
    })
  })
  await once(server.listen(0, host), 'listening')
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      return once(server.close(), 'close')
    },
  }
}
