/** One connection: frames in, reconnects, nothing else. */

import { createRecordReader, levelsProtocol } from '../src/model/level-records.ts'
import type { ClientMessage, ServerMessage } from '../src/model/messages.ts'

export interface SocketOptions {
  readonly url: string
  readonly signal: AbortSignal
  onMessage(message: ServerMessage): void
  /** Open: the first frame has come. Lost: `nextTryAt` is the browser's time of the next try. */
  onLink(link: { readonly status: 'open' } | { readonly status: 'lost'; readonly nextTryAt: number }): void
}

const pingEveryMs = 1_000
const ping = JSON.stringify({ type: 'ping' } satisfies ClientMessage)
/** Longer than a ping and its answer: a pulled cable tells nobody, so silence is the only sign. */
const silenceMs = 2_500
const openingMs = 8_000
const checkEveryMs = 250
/** How long a connection must hold before the next loss is met with short delays again. */
const steadyMs = 10_000

export function listen({ url, signal, onMessage, onLink }: SocketOptions): void {
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
        onLink({ status: 'open' })
      }
      if (data instanceof ArrayBuffer) return records.read(data).forEach(onMessage)
      const message = parseMessage(data)
      if (message?.type === 'device_update') records.remember(message)
      if (message !== null) onMessage(message)
    })
    socket.addEventListener('close', lose)

    const check = setInterval(() => {
      const now = performance.now()
      // Time in which this page slept (hidden tab, closed lid) is not the server's silence.
      silence += Math.min(now - checkedAt, 2 * checkEveryMs)
      checkedAt = now
      if (silence > (openedAt === null ? openingMs : silenceMs)) return lose()
      if (socket.readyState === WebSocket.OPEN && now - pingedAt >= pingEveryMs) {
        pingedAt = now
        socket.send(ping)
      }
    }, checkEveryMs)

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
      onLink({ status: 'lost', nextTryAt: Date.now() + delay })
    }
  }

  function retryNow() {
    if (waiting === undefined || document.hidden) return
    clearTimeout(waiting)
    connect()
  }
}

/** 1, 2, 4 … 30 s, times 0.5 to 1.5: a thousand pages must not come back in the same instant. */
export function retryDelayMs(losses: number, random: number): number {
  return Math.min(30_000, 1_000 * 2 ** Math.min(losses, 5)) * (0.5 + random)
}

/** Null for what this page does not understand: a newer server may say more. */
export function parseMessage(data: unknown): ServerMessage | null {
  if (typeof data !== 'string') return null
  let said: unknown
  try {
    said = JSON.parse(data)
  } catch {
    return null
  }
  if (typeof said !== 'object' || said === null || !('type' in said)) return null
  switch (said.type) {
    case 'device_update':
      return isDeviceUpdate(said) ? (said as ServerMessage) : null
    case 'alert':
    case 'status':
    case 'status_update':
    case 'pong':
    case 'error':
      return said as ServerMessage
    default:
      return null
  }
}

function isDeviceUpdate(said: object): boolean {
  if (!('receiver_id' in said) || typeof said.receiver_id !== 'number') return false
  if (!('data' in said) || typeof said.data !== 'object' || said.data === null) return false
  return 'channels' in said.data && Array.isArray(said.data.channels)
}
