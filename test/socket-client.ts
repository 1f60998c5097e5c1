/** A WebSocket client that remembers what it was told, and when. */

import { once } from 'node:events'

import WebSocket from 'ws'
import { atEnd } from './scope.ts'

export interface Heard {
  readonly type: string
  readonly at: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
  readonly [field: string]: any
}

export interface SocketOptions {
  readonly headers?: Record<string, string>
}

export interface TestSocket {
  readonly heard: readonly Heard[]
  ofType(type: string): readonly Heard[]
  send(data: unknown): void
  /** As it is, text or binary. */
  sendRaw(data: string | Buffer): void
  /** The first message so far or to come that fits. */
  next(fits: (message: Heard) => boolean, withinMs?: number): Promise<Heard>
  /** The code of the end. */
  readonly closed: Promise<number>
  close(): void
}

/** Open, with what it was greeted with. Throws `HTTP <status>` when the upgrade is refused. */
export async function openSocket(url: string, { headers = {} }: SocketOptions = {}): Promise<TestSocket> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  atEnd(() => socket.terminate())
  const heard: Heard[] = []
  const waiting = new Set<() => void>()
  socket.on('message', (data) => {
    heard.push({ ...JSON.parse(String(data)), at: performance.now() })
    for (const look of [...waiting]) look()
  })
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  const refused = once(socket, 'unexpected-response').then(([, response]) => {
    socket.on('error', () => {})
    throw new Error(`HTTP ${response.statusCode}`)
  })
  await Promise.race([once(socket, 'open'), refused])
  refused.catch(() => {})
  socket.on('error', () => {})

  return {
    heard,
    ofType: (type) => heard.filter((message) => message.type === type),
    send: (data) => socket.send(JSON.stringify(data)),
    sendRaw: (data) => socket.send(data),
    next: (fits, withinMs = 10_000) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          clearTimeout(timer)
          waiting.delete(look)
        }
        const look = () => {
          const found = heard.find(fits)
          if (found === undefined) return
          stop()
          resolve(found)
        }
        const timer = setTimeout(() => {
          stop()
          reject(new Error(`No such message within ${withinMs} ms; heard ${JSON.stringify(heard.slice(-5))}`))
        }, withinMs)
        waiting.add(look)
        look()
      }),
    closed,
    close: () => socket.close(),
  }
}
