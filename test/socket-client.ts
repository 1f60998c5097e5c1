/** A WebSocket client that remembers what it was told, and when. */

import { once } from 'node:events'

import WebSocket from 'ws'
import type { ChannelBody } from '../src/model/api.ts'
import { createRecordReader } from '../src/model/level-records.ts'
import { atEnd } from './scope.ts'

export interface Heard {
  readonly type: string
  readonly at: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
  readonly [field: string]: any
}

export interface SocketOptions {
  readonly headers?: Record<string, string>
  /** Subprotocols that are offered. */
  readonly protocols?: readonly string[]
}

export interface TestSocket {
  /** The subprotocol that was agreed to. */
  readonly protocol: string
  /** How many binary frames there were; what their records say is heard as well. */
  readonly binaryFrames: number
  readonly heard: readonly Heard[]
  ofType(type: string): readonly Heard[]
  send(data: unknown): void
  /** As it is, text or binary. */
  sendRaw(data: string | Buffer): void
  /** The first message so far or to come that fits. */
  next(fits: (message: Heard) => boolean, withinMs?: number): Promise<Heard>
  /** Once all that was announced before is heard: the pong to a ping comes after it. */
  caughtUp(): Promise<void>
  /** The code of the end. */
  readonly closed: Promise<number>
  close(): void
}

/** What a message tells of a channel; undefined where it is about something else. */
export function channelIn({ type, data }: Heard, channel = 1): ChannelBody | undefined {
  return type === 'device_update' ? data.channels?.find((one: ChannelBody) => one.channel === channel) : undefined
}

/** Open, with what it was greeted with. Throws `HTTP <status>` when the upgrade is refused. */
export async function openSocket(
  url: string,
  { headers = {}, protocols = [] }: SocketOptions = {},
): Promise<TestSocket> {
  const socket = new WebSocket(url, [...protocols], { headers, perMessageDeflate: false })
  atEnd(() => socket.terminate())
  const heard: Heard[] = []
  const waiting = new Set<() => void>()
  const records = createRecordReader()
  let binaryFrames = 0
  socket.on('message', (data: Buffer, isBinary) => {
    const at = performance.now()
    if (isBinary) {
      binaryFrames += 1
      for (const update of records.read(new Uint8Array(data).buffer)) heard.push({ ...update, at })
    } else {
      const message = JSON.parse(String(data))
      if (message.type === 'device_update') records.remember(message)
      heard.push({ ...message, at })
    }
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

  const ofType = (type: string) => heard.filter((message) => message.type === type)
  const next = (fits: (message: Heard) => boolean, withinMs = 10_000) =>
    new Promise<Heard>((resolve, reject) => {
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
    })

  return {
    protocol: socket.protocol,
    get binaryFrames() {
      return binaryFrames
    },
    heard,
    ofType,
    send: (data) => socket.send(JSON.stringify(data)),
    sendRaw: (data) => socket.send(data),
    next,
    async caughtUp() {
      const pongs = ofType('pong').length
      socket.send(JSON.stringify({ type: 'ping' }))
      await next(() => ofType('pong').length > pongs)
    },
    closed,
    close: () => socket.close(),
  }
}
