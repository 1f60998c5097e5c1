/** A WebSocket client that records messages and the times of their arrival. */

import { once } from 'node:events'
import WebSocket from 'ws'
import type { ChannelBody } from '../../src/contract/channels.ts'
import { liveProtocol } from '../../src/live/routes/client-messages.ts'
import { onTestEnd } from './cleanup.ts'
import { checkMessage } from './response-check.ts'
import { timeLimit, waitInTurns } from './time-limit.ts'

export interface ReceivedMessage {
  readonly type: string
  readonly at: number
  /** The field `at` of the message, if it has one. */
  readonly sentAt?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
  readonly [field: string]: any
}

export interface SocketOptions {
  readonly headers?: Record<string, string>
  /** Subprotocols to offer. */
  readonly protocols?: readonly string[]
}

export interface TestSocket {
  /** The negotiated subprotocol. */
  readonly protocol: string
  readonly messages: readonly ReceivedMessage[]
  ofType(type: string): readonly ReceivedMessage[]
  send(data: unknown): void
  /** Sends text or binary data unchanged. */
  sendRaw(data: string | Buffer): void
  /** Returns the first matching message, waiting for it if necessary. */
  next(matches: (message: ReceivedMessage) => boolean, timeoutMs?: number): Promise<ReceivedMessage>
  /** Resolves once all messages sent so far are received: it sends a ping, and the pong comes after them. */
  receiveAll(): Promise<void>
  /** Resolves with the close code when the socket is closed. */
  readonly closed: Promise<number>
  close(): void
}

/** Returns the fields of a channel in a message; undefined if the message is about something else. */
export function channelIn({ type, data }: ReceivedMessage, channel = 1): ChannelBody | undefined {
  return type === 'device_update'
    ? data.channels?.find((candidate: ChannelBody) => candidate.channel === channel)
    : undefined
}

/**
 * Opens a socket and waits for the greeting. Throws `HTTP <status>` if the upgrade is rejected. A message that differs
 * from its description fails the test at its end.
 */
export async function openSocket(
  url: string,
  { headers = {}, protocols = [] }: SocketOptions = {},
): Promise<TestSocket> {
  const socket = new WebSocket(url, [...protocols], { headers, perMessageDeflate: false })
  let fault: unknown
  onTestEnd(() => {
    socket.terminate()
    if (fault !== undefined) throw fault
  })
  const version = protocols.includes(liveProtocol) || /[?&]protocol=2/.test(url) ? 'v2' : 'v1'
  const messages: ReceivedMessage[] = []
  const checks = new Set<() => void>()
  socket.on('message', (data: Buffer, isBinary) => {
    const at = performance.now()
    const message = isBinary ? { type: 'binary' } : JSON.parse(String(data))
    try {
      checkMessage(version, message)
    } catch (error) {
      fault ??= error
    }
    messages.push({ ...message, at, ...(message.at !== undefined && { sentAt: message.at }) })
    for (const check of [...checks]) check()
  })
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  const rejected = once(socket, 'unexpected-response').then(([, response]) => {
    socket.on('error', () => {})
    throw new Error(`HTTP ${response.statusCode}`)
  })
  await Promise.race([once(socket, 'open'), rejected])
  rejected.catch(() => {})
  socket.on('error', () => {})

  const ofType = (type: string) => messages.filter((message) => message.type === type)
  const next = (matches: (message: ReceivedMessage) => boolean, timeoutMs = 60_000) =>
    new Promise<ReceivedMessage>((resolve, reject) => {
      const check = () => {
        const found = messages.find(matches)
        if (found === undefined) return
        checks.delete(check)
        resolve(found)
      }
      checks.add(check)
      check()
      void waitInTurns(async () => !checks.has(check), timeLimit(timeoutMs)).then((isFound) => {
        if (isFound) return
        checks.delete(check)
        reject(new Error(`No such message within ${timeoutMs} ms; received ${JSON.stringify(messages.slice(-5))}`))
      })
    })

  return {
    protocol: socket.protocol,
    messages,
    ofType,
    send: (data) => socket.send(JSON.stringify(data)),
    sendRaw: (data) => socket.send(data),
    next,
    async receiveAll() {
      const pongs = ofType('pong').length
      socket.send(JSON.stringify({ type: 'ping' }))
      await next(() => ofType('pong').length > pongs)
    },
    closed,
    close: () => socket.close(),
  }
}
