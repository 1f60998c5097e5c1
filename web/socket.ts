/** The WebSocket connection: receives messages and reconnects. */

import { createRecordReader, levelsProtocol } from '../src/domain/levels/level-records.ts'
import type { ClientMessage, ServerMessage } from '../src/domain/messages.ts'

export interface SocketOptions {
  readonly url: string
  readonly signal: AbortSignal
  onMessage(message: ServerMessage): void
  /** `open`: the first message has arrived. `lost`: `nextTryAt` is the browser time of the next attempt. */
  onStatus(change: { readonly status: 'open' } | { readonly status: 'lost'; readonly nextTryAt: number }): void
}

const pingIntervalMs = 1_000
const ping = JSON.stringify({ type: 'ping' } satisfies ClientMessage)
/**
 * Closes the connection after this much silence. An unplugged cable causes no close event, so silence is the only sign
 * of it; normally the responses to pings prevent silence.
 */
const silenceMs = 2_500
const openingMs = 8_000
const checkIntervalMs = 250
/** A connection that lasts this long resets the retry delay. */
const steadyMs = 10_000

export function openSocket({ url, signal, onMessage, onStatus }: SocketOptions): void {
  let losses = 0
  let waiting: ReturnType<typeof setTimeout> | undefined

  connect()
  window.addEventListener('online', retryNow, { signal })
  document.addEventListener('visibilitychange', retryNow, { signal })
  signal.addEventListener('abort', () => clearTimeout(waiting))

  function connect() {
    waiting = undefined
    if (signal.aborted) return
    const connection = new AbortController()
    const socket = new WebSocket(url, levelsProtocol)
    socket.binaryType = 'arraybuffer'
    const records = createRecordReader()
    let openedAt: number | null = null
    let silence = 0
    let checkedAt = performance.now()
    let pingedAt = 0

    socket.addEventListener('message', ({ data }) => {
      if (connection.signal.aborted) return
      silence = 0
      if (openedAt === null) {
        openedAt = performance.now()
        onStatus({ status: 'open' })
      }
      if (data instanceof ArrayBuffer) return records.read(data).forEach(onMessage)
      const message = parseMessage(data)
      if (message?.type === 'device_update') records.remember(message)
      if (message !== null) onMessage(message)
    })
    socket.addEventListener('close', lose)

    const check = setInterval(() => {
      const now = performance.now()
      // Time during which the page was suspended is not silence.
      silence += Math.min(now - checkedAt, 2 * checkIntervalMs)
      checkedAt = now
      if (silence > (openedAt === null ? openingMs : silenceMs)) return lose()
      if (socket.readyState === WebSocket.OPEN && now - pingedAt >= pingIntervalMs) {
        pingedAt = now
        socket.send(ping)
      }
    }, checkIntervalMs)

    signal.addEventListener('abort', end, { signal: connection.signal })

    function end() {
      clearInterval(check)
      connection.abort()
      socket.close()
    }

    function lose() {
      if (connection.signal.aborted) return
      end()
      if (openedAt !== null && performance.now() - openedAt >= steadyMs) losses = 0
      const delay = retryDelayMs(losses, Math.random())
      losses += 1
      waiting = setTimeout(connect, delay)
      onStatus({ status: 'lost', nextTryAt: Date.now() + delay })
    }
  }

  function retryNow() {
    if (waiting === undefined || document.hidden) return
    clearTimeout(waiting)
    connect()
  }
}

/** Returns 1, 2, 4 … 30 s times a random factor of 0.5 to 1.5, so that many pages do not reconnect at the same time. */
export function retryDelayMs(losses: number, random: number): number {
  return Math.min(30_000, 1_000 * 2 ** Math.min(losses, 5)) * (0.5 + random)
}

/** Parses a message; returns null if its type is unknown, because a newer server may send more types. */
export function parseMessage(data: unknown): ServerMessage | null {
  if (typeof data !== 'string') return null
  let message: unknown
  try {
    message = JSON.parse(data)
  } catch {
    return null
  }
  if (typeof message !== 'object' || message === null || !('type' in message)) return null
  switch (message.type) {
    case 'device_update':
      return isDeviceUpdate(message) ? (message as ServerMessage) : null
    case 'alert':
    case 'status':
    case 'status_update':
    case 'pong':
    case 'error':
      return message as ServerMessage
    default:
      return null
  }
}

function isDeviceUpdate(message: object): boolean {
  if (!('receiver_id' in message) || typeof message.receiver_id !== 'number') return false
  if (!('data' in message) || typeof message.data !== 'object' || message.data === null) return false
  return 'channels' in message.data && Array.isArray(message.data.channels)
}
