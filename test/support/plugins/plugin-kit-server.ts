/** Minimal servers for responses that no simulator returns. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface MinimalServer {
  readonly url: string
  /** Number of open connections. */
  readonly connections: number
  close(): Promise<void>
}

export interface RequestHandlers {
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => unknown
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown
}

export function serveHttp({ onRequest, onUpgrade }: RequestHandlers): Promise<MinimalServer> {
  const server = createServer(onRequest as RequestListener)
  if (onUpgrade !== undefined) server.on('upgrade', onUpgrade)
  return listen(server)
}

/** Starts a TCP server that passes every connection to `onSocket`. */
export function serveRaw(onSocket: (socket: Socket) => unknown): Promise<MinimalServer> {
  return listen(createRawServer(onSocket))
}

async function listen(server: Server): Promise<MinimalServer> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return sockets.size
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Starts a device that responds to known lines with `responses`, and to unknown lines with `defaultResponse`. */
export async function serveLines(options: {
  readonly responses: Readonly<Record<string, unknown>>
  readonly requestEnd: string
  readonly responseEnd: string
  readonly defaultResponse: string | ((line: string) => string)
}): Promise<MinimalServer> {
  const { responses, requestEnd, responseEnd, defaultResponse } = options
  const respondToUnknown = typeof defaultResponse === 'string' ? () => defaultResponse : defaultResponse
  const server = await serveRaw((socket) => {
    let remainder = ''
    socket.on('data', (bytes) => {
      const lines = (remainder + bytes.toString('utf8')).split(requestEnd)
      remainder = lines.pop() ?? ''
      for (const line of lines) socket.write(`${responses[line] ?? respondToUnknown(line)}${responseEnd}`)
    })
  })
  return { ...server, url: server.url.replace('http:', 'tcp:') }
}
