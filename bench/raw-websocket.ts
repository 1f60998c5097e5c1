/**
 * WebSocket clients on plain sockets, because thousands of full clients would use the CPU time that the server needs.
 */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

let opened = 0

/** Connects, completes the WebSocket handshake and returns the plain socket, paused. */
export async function openRawWebSocket(address: string, protocol?: string): Promise<Socket> {
  const { hostname, port, host, pathname } = new URL(address)
  opened += 1
  // One address may use a quarter of the connections.
  const localAddress = `127.0.0.${1 + (opened % 8)}`
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, localAddress })
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n` +
      `${protocol === undefined ? '' : `sec-websocket-protocol: ${protocol}\r\n`}\r\n`,
  )
  let head = Buffer.alloc(0)
  while (!head.includes('\r\n\r\n')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    head = Buffer.concat([head, chunk])
  }
  if (!head.toString('latin1').startsWith('HTTP/1.1 101'))
    throw new Error(`${address} rejected the WebSocket handshake`)
  socket.pause()
  socket.unshift(head.subarray(head.indexOf('\r\n\r\n') + 4))
  return socket
}

/**
 * Counts frames without decoding their payloads (frames from a server are not masked). Responds to pings, because the
 * server disconnects clients that do not.
 */
export function countFrames(socket: Socket, onFrames: (count: number) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  let toSkip = 0
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let offset = Math.min(toSkip, bytes.length)
    toSkip -= offset
    let count = 0
    while (toSkip === 0 && offset < bytes.length) {
      const size = readFrameSize(bytes, offset)
      if (size === null) break
      if (isPing(bytes, offset)) socket.write(emptyPong)
      else count += 1
      const end = offset + size
      offset = Math.min(end, bytes.length)
      toSkip = end - offset
    }
    rest = bytes.subarray(offset)
    onFrames(count)
  })
  socket.resume()
}

/** Returns the size of the frame that begins at `offset`, including its header; null while the header is incomplete. */
function readFrameSize(bytes: Buffer, offset: number): number | null {
  const length = (bytes[offset + 1] ?? 0) & 0x7f
  if (offset + 2 > bytes.length) return null
  if (length < 126) return 2 + length
  if (length === 126) return offset + 4 > bytes.length ? null : 4 + bytes.readUInt16BE(offset + 2)
  return offset + 10 > bytes.length ? null : 10 + Number(bytes.readBigUInt64BE(offset + 2))
}

function isPing(bytes: Buffer, offset: number): boolean {
  return ((bytes[offset] ?? 0) & 0x0f) === 0x9
}

/** A pong (RFC 6455, section 5.5.3). It is empty, like the server's pings, and its masking key is zero. */
const emptyPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
