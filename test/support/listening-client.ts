/** A client of `/api/audio/listen` that keeps what it receives. */

import { once } from 'node:events'
import WebSocket from 'ws'
import { now } from '../../src/platform/clock.ts'
import { onTestEnd } from './cleanup.ts'

export interface ReceivedFrame {
  readonly sequence: number
  /** Unix milliseconds of the first sample. */
  readonly at: number
  readonly samples: Int16Array
  readonly receivedAt: number
}

export interface ListeningClient {
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
  readonly messages: readonly any[]
  readonly frames: readonly ReceivedFrame[]
  readonly socket: WebSocket
  /** The close code. */
  readonly closed: Promise<number>
  close(): void
}

export interface Refusal {
  readonly status: number
  readonly error: string
  readonly headers: Record<string, string | string[] | undefined>
}

/** Returns the error response if the upgrade is refused. */
export async function listen(
  url: string,
  query: string,
  headers: Record<string, string> = {},
): Promise<ListeningClient | Refusal> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/audio/listen?${query}`, {
    headers,
    perMessageDeflate: false,
    rejectUnauthorized: false,
  })
  onTestEnd(() => socket.terminate())
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const messages: any[] = []
  const frames: ReceivedFrame[] = []
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) frames.push(decodeFrame(data))
    else messages.push(JSON.parse(String(data)))
  })
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  const refused = once(socket, 'unexpected-response').then(async ([, response]): Promise<Refusal> => {
    socket.on('error', () => {})
    let body = ''
    for await (const chunk of response) body += chunk
    return { status: response.statusCode, error: JSON.parse(body).error, headers: response.headers }
  })
  refused.catch(() => {})
  const opened = once(socket, 'open').then((): ListeningClient => {
    socket.on('error', () => {})
    return { messages, frames, socket, closed, close: () => socket.close() }
  })
  opened.catch(() => {})
  return Promise.race([opened, refused])
}

function decodeFrame(bytes: Buffer): ReceivedFrame {
  const samples = Int16Array.from({ length: (bytes.length - 12) / 2 }, (_, index) => bytes.readInt16LE(12 + index * 2))
  return { sequence: bytes.readUInt32LE(0), at: bytes.readDoubleLE(4), samples, receivedAt: now() }
}

export async function listenOrThrow(url: string, query: string, headers: Record<string, string> = {}) {
  const client = await listen(url, query, headers)
  if ('status' in client) throw new Error(`HTTP ${client.status} ${client.error}`)
  return client
}

export async function refusalOf(url: string, query: string, headers: Record<string, string> = {}): Promise<Refusal> {
  const client = await listen(url, query, headers)
  if ('status' in client) return client
  throw new Error(`The sound of ${query} was not refused.`)
}
