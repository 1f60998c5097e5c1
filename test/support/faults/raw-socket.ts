/** A WebSocket client that sends raw bytes as frames and returns raw bytes, without enforcing the protocol. */

import { connect, type Socket } from 'node:net'

export interface RawSocket {
  readonly socket: Socket
  /** Status code of the response to the upgrade. */
  readonly status: number
  /** Code of the received close frame; null if the connection ended without one. */
  readonly closeCode: Promise<number | null>
}

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

/** Opens a WebSocket, with `head` as additional header lines. The caller closes the connection. */
export async function openRaw(
  port: number,
  { path = '/ws', host = 'localhost', head = '', localAddress = '127.0.0.1' } = {},
): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  let received = Buffer.alloc(0)
  let resolveClose: (code: number | null) => void = () => {}
  const closeCode = new Promise<number | null>((resolve) => {
    resolveClose = resolve
  })
  const status = new Promise<number>((resolve) => {
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) return
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(received.toString('latin1'))?.[1]))
      const code = findClose(received.subarray(end + 4))
      if (code !== null) resolveClose(code)
    })
    socket.on('close', () => {
      resolve(0)
      resolveClose(null)
    })
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n${head}\r\n`)
  return { socket, status: await status, closeCode }
}

/** Finds the close frame among the frames of a server, which are never masked. */
function findClose(bytes: Buffer): number | null {
  let offset = 0
  while (offset + 2 <= bytes.length) {
    const opcode = (bytes[offset] ?? 0) & 0x0f
    const shortLength = (bytes[offset + 1] ?? 0) & 0x7f
    const head = shortLength === 126 ? 4 : shortLength === 127 ? 10 : 2
    if (offset + head > bytes.length) return null
    const length =
      shortLength === 126
        ? bytes.readUInt16BE(offset + 2)
        : shortLength === 127
          ? bytes.readUInt32BE(offset + 6)
          : shortLength
    if (opcode === 8) return offset + head + 2 <= bytes.length ? bytes.readUInt16BE(offset + head) : null
    offset += head + length
  }
  return null
}

interface FrameOptions {
  /** First byte: FIN, RSV and opcode. */
  readonly first?: number
  readonly isMasked?: boolean
  /** Length to write in the frame header, regardless of the payload. */
  readonly declaredLength?: bigint
}

export function frame(payload: string | Buffer, options: FrameOptions = {}): Buffer {
  const { first = 0x81, isMasked = true, declaredLength } = options
  const bytes = Buffer.from(payload)
  const length = declaredLength ?? BigInt(bytes.length)
  const mask = isMasked ? 0x80 : 0
  const head =
    length < 126n
      ? Buffer.from([first, mask | Number(length)])
      : length < 65_536n
        ? Buffer.from([first, mask | 126, Number(length >> 8n), Number(length & 255n)])
        : Buffer.concat([Buffer.from([first, mask | 127]), bigEndian(length)])
  const key = Buffer.from([1, 2, 3, 4])
  const body = isMasked ? bytes.map((byte, index) => byte ^ (key[index % 4] ?? 0)) : bytes
  return Buffer.concat(isMasked ? [head, key, body] : [head, body])
}

function bigEndian(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}
