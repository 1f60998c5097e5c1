/** A RAVENNA device that describes its streams by RTSP, with good or bad manners for each path. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/**
 * How a path responds. `slow` sends nothing, `trickle` one byte every second, `closes` half of the description.
 * `huge` announces a body of 100 MB, `endless` sends a header without an end, `loop` redirects to itself.
 */
export type RtspManners =
  | { readonly type: 'description'; readonly sdp: string }
  | { readonly type: 'redirect'; readonly to: string }
  | { readonly type: 'slow' | 'trickle' | 'closes' | 'huge' | 'endless' | 'loop' | 'garbage' | 'resets' }

export interface RtspDevice {
  readonly port: number
  /** Requests that arrived, by path. */
  readonly requests: Map<string, number>
  addressOf(path: string): string
  set(path: string, manners: RtspManners): void
  close(): Promise<void>
}

/** A path that is not set responds with 404. */
export async function startRtspDevice(): Promise<RtspDevice> {
  const paths = new Map<string, RtspManners>()
  const requests = new Map<string, number>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', (bytes) => {
      const [, address = ''] = /^DESCRIBE (\S+) RTSP\/1\.0\r\n/.exec(bytes.toString()) ?? []
      const path = decodeURIComponent(new URL(address).pathname)
      requests.set(path, (requests.get(path) ?? 0) + 1)
      respond(socket, paths.get(path), address)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    requests,
    addressOf: (path) => `rtsp://127.0.0.1:${port}${path}`,
    set: (path, manners) => void paths.set(path, manners),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function respond(socket: Socket, manners: RtspManners | undefined, address: string): void {
  switch (manners?.type) {
    case undefined:
      socket.end('RTSP/1.0 404 Not Found\r\nCSeq: 1\r\n\r\n')
      return
    case 'description':
      // In two pieces, as a network may deliver it.
      socket.write(headOf(manners.sdp.length) + manners.sdp.slice(0, 20))
      setTimeout(() => socket.end(manners.sdp.slice(20)), 20)
      return
    case 'redirect':
      socket.end(`RTSP/1.0 302 Moved Temporarily\r\nCSeq: 1\r\nLocation: ${manners.to}\r\n\r\n`)
      return
    case 'loop':
      socket.end(`RTSP/1.0 301 Moved\r\nCSeq: 1\r\nLocation: ${address}\r\n\r\n`)
      return
    case 'slow':
      return
    case 'trickle':
      trickle(socket)
      return
    case 'closes':
      socket.end(`${headOf(1000)}v=0\r\n`)
      return
    case 'huge':
      socket.write(headOf(100_000_000))
      return
    case 'endless':
      endlessly(socket)
      return
    case 'garbage':
      socket.end('\0\xff HTTP/1.1 200\r\n\r\n')
      return
    case 'resets':
      socket.resetAndDestroy()
      return
    default:
      manners satisfies never
  }
}

function headOf(length: number): string {
  return `RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Type: application/sdp\r\nContent-Length: ${length}\r\n\r\n`
}

function trickle(socket: Socket): void {
  const timer = setInterval(() => socket.write('R'), 1000)
  socket.once('close', () => clearInterval(timer))
}

function endlessly(socket: Socket): void {
  socket.write('RTSP/1.0 200 OK\r\n')
  const write = () => {
    if (!socket.destroyed) socket.write('X-Header: value\r\n'.repeat(100), () => setImmediate(write))
  }
  write()
}
