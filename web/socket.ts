/**
 * The connection to the live interface, version 2: receives messages, reconnects, and resumes after the last message
 * that it received.
 */

import type { LiveMessage } from '../src/contract/live-messages.ts'

export interface SocketOptions {
  /** The URL without the parameters of a resumption. */
  readonly url: string
  readonly signal: AbortSignal
  onMessage(message: LiveMessage): void
  onStatus(change: SocketStatus): void
  /** Called when nothing has arrived for `silentMs`. */
  onSilence(): void
  readonly silentMs: number
}

/**
 * `open`: the first message has arrived. `lost`: `nextTryAt` is the browser time of the next attempt, and `wasOpen` is
 * false if the connection was never open.
 */
export type SocketStatus =
  | { readonly status: 'open' }
  | { readonly status: 'lost'; readonly nextTryAt: number; readonly wasOpen: boolean }

export interface Connection {
  /** Connects now if the connection is lost. */
  retry(): void
  /** Sends a message if the connection is open. */
  send(message: object): void
}

const protocol = 'micwatch.v2'
/**
 * Closes the connection after this much silence. An unplugged cable causes no close event, so silence is the only sign
 * of it; normally a `tick` a second prevents silence.
 */
const lostMs = 5_000
/** A slow line needs time for the snapshot. */
const openingMs = 15_000
const checkIntervalMs = 250
/** A connection that lasts this long resets the retry delay. */
const steadyMs = 10_000

export function openSocket(options: SocketOptions): Connection {
  const { url, signal, onMessage, onStatus, onSilence, silentMs } = options
  let losses = 0
  let current: WebSocket | null = null
  let waiting: ReturnType<typeof setTimeout> | undefined
  let position: Position | null = null

  connect()
  const retryIfVisible = () => {
    if (!document.hidden) retry()
  }
  window.addEventListener('online', retryIfVisible, { signal })
  document.addEventListener('visibilitychange', retryIfVisible, { signal })
  signal.addEventListener('abort', () => clearTimeout(waiting))
  return { retry, send }

  function connect() {
    waiting = undefined
    if (signal.aborted) return
    const connection = new AbortController()
    const socket = new WebSocket(resumeUrl(url, position), protocol)
    current = socket
    let openedAt: number | null = null
    let silence = 0
    let checkedAt = performance.now()

    socket.addEventListener('message', ({ data }) => {
      if (connection.signal.aborted) return
      silence = 0
      const message = parseMessage(data)
      if (message === null || isRepeated(position, message)) return
      position = positionAfter(position, message)
      if (openedAt === null) {
        openedAt = performance.now()
        onStatus({ status: 'open' })
      }
      onMessage(message)
      if (message.type === 'levels') send({ type: 'ack', at: message.at })
    })
    socket.addEventListener('close', lose)

    const check = setInterval(() => {
      const now = performance.now()
      // Time during which the page was suspended is not silence.
      const elapsed = Math.min(now - checkedAt, 2 * checkIntervalMs)
      checkedAt = now
      silence += elapsed
      if (silence > (openedAt === null ? openingMs : lostMs)) return lose()
      if (openedAt !== null && silence >= silentMs && silence - elapsed < silentMs) onSilence()
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
      onStatus({ status: 'lost', nextTryAt: Date.now() + delay, wasOpen: openedAt !== null })
    }
  }

  function retry() {
    if (waiting === undefined) return
    clearTimeout(waiting)
    connect()
  }

  function send(message: object) {
    if (current?.readyState === WebSocket.OPEN) current.send(JSON.stringify(message))
  }
}

/** Returns 1, 2, 4 … 30 s times a random factor of 0.5 to 1.5, so that many pages do not reconnect at the same time. */
export function retryDelayMs(losses: number, random: number): number {
  return Math.min(30_000, 1_000 * 2 ** Math.min(losses, 5)) * (0.5 + random)
}

/** The last message that was received. */
export interface Position {
  readonly seq: number
  readonly epoch: string
}

export function positionAfter(position: Position | null, message: LiveMessage): Position | null {
  if (message.type === 'snapshot' || message.type === 'resumed') return { seq: message.seq, epoch: message.epoch }
  return position !== null && 'seq' in message ? { ...position, seq: message.seq } : position
}

/** Whether a message is older than the last one or repeats it, so that it must not be applied. */
export function isRepeated(position: Position | null, message: LiveMessage): boolean {
  if (message.type === 'snapshot' || message.type === 'resumed' || !('seq' in message)) return false
  if (position === null) return true
  return message.seq <= position.seq
}

/** Adds the parameters that resume after this position. */
export function resumeUrl(url: string, position: Position | null): string {
  if (position === null) return url
  return `${url}&${new URLSearchParams({ since: String(position.seq), epoch: position.epoch })}`
}

/**
 * Parses a message; returns null if the data is not a valid message. Unknown types are accepted, because a newer service
 * may send more types.
 */
export function parseMessage(data: unknown): LiveMessage | null {
  if (typeof data !== 'string') return null
  let message: unknown
  try {
    message = JSON.parse(data)
  } catch {
    return null
  }
  if (typeof message !== 'object' || message === null || !('type' in message)) return null
  return typeof message.type === 'string' ? (message as LiveMessage) : null
}
