/** WebSocket clients as bare sockets: thousands of full ones would leave the server no core. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A WebSocket after its handshake, as a plain socket: a hundred full clients would leave the server no core. */
export async function openSocket(address: string, protocol?: string): Promise<Socket> {
  const { hostname, port, host, pathname } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
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
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`${address} refused the WebSocket`)
  socket.pause()
  socket.unshift(head.subarray(head.indexOf('\r\n\r\n') + 4))
  return socket
}

/** Reads only the lengths of the frames; those of a server are not masked. Whoever does not answer pings is cut off. */
export function countFrames(socket: Socket, tell: (count: number) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  let toSkip = 0
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = Math.min(toSkip, bytes.length)
    toSkip -= at
    let count = 0
    while (toSkip === 0 && at < bytes.length) {
      const size = readSize(bytes, at)
      if (size === null) break
      if (isPing(bytes, at)) socket.write(emptyPong)
      else count += 1
      const end = at + size
      at = Math.min(end, bytes.length)
      toSkip = end - at
    }
    rest = bytes.subarray(at)
    tell(count)
  })
  socket.resume()
}

/** Of the whole frame that begins at `at`; null while its head is not all there. */
function readSize(bytes: Buffer, at: number): number | null {
  const length = (bytes[at + 1] ?? 0) & 0x7f
  if (at + 2 > bytes.length) return null
  if (length < 126) return 2 + length
  if (length === 126) return at + 4 > bytes.length ? null : 4 + bytes.readUInt16BE(at + 2)
  return at + 10 > bytes.length ? null : 10 + Number(bytes.readBigUInt64BE(at + 2))
}

function isPing(bytes: Buffer, at: number): boolean {
  return ((bytes[at] ?? 0) & 0x0f) === 0x9
}

/** RFC 6455 section 5.5.3; a server's pings carry nothing. A mask of zeros masks nothing. */
const emptyPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
