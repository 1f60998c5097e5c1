/** Version 2 of the live interface: receives messages, reconnects, and resumes after the last message. */

import type { LiveMessage } from '../../src/contract/live-messages.ts'
import { readServiceClock, serviceNow } from './service-time.ts'

export interface SocketOptions {
  /** Without the parameters of a resumption. */
  readonly url: string
  readonly signal: AbortSignal
  onMessage(message: LiveMessage): void
  onStatus(change: SocketStatus): void
  /** Called when nothing has arrived for `silentMs`. */
  onSilence(): void
  /** By how many seconds messages are late; 0 if they are not. */
  onDelay(seconds: number): void
  readonly silentMs: number
}

/**
 * `open`: the first message has arrived. `lost`: `nextTryAt` is the next attempt, and `wasOpen` is false if the
 * connection never opened. `isSignedOut`: its session has ended.
 */
export type SocketStatus =
  | { readonly status: 'open' }
  | { readonly status: 'lost'; readonly nextTryAt: number; readonly wasOpen: boolean; readonly isSignedOut: boolean }

export interface Connection {
  retry(): void
  /** Does nothing unless the connection is open. */
  send(message: object): void
}

const protocol = 'micwatch.v2'
const signedOutCode = 4401
/**
 * An unplugged cable causes no close event, so silence is the only sign of it. A `tick` a second normally prevents
 * silence.
 */
const lostMs = 5_000
/** A slow line needs time for the snapshot. */
const openingMs = 15_000
const checkIntervalMs = 250
const pingMs = 1_000
/** A response that takes longer means that the line is slower than its data. */
const behindMs = 3_000
/** A connection that lasts this long resets the retry delay. */
const steadyMs = 10_000

export function openSocket(options: SocketOptions): Connection {
  const { url, signal, onMessage, onStatus, onSilence, onDelay, silentMs } = options
  let losses = 0
  let current: WebSocket | null = null
  let waiting: ReturnType<typeof setTimeout> | undefined
  let position: Position | null = null
  /** May be less than that of an earlier alert. */
  let lastSeq: number | null = null

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
    const delay = new LineDelay()
    let startSeq: number | null = null

    socket.addEventListener('message', ({ data }) => {
      if (connection.signal.aborted) return
      silence = 0
      const message = parseMessage(data)
      if (message === null || isRepeated(startSeq, message)) return
      if ('seq' in message) lastSeq = message.seq
      if (message.type === 'snapshot' || message.type === 'resumed') startSeq = message.seq
      if (message.type === 'pong') delay.receive(message)
      else if ('at' in message) readServiceClock({ at: Date.parse(message.at), receivedAt: Date.now() })
      position = positionAfter(position, message)
      if (openedAt === null) {
        openedAt = performance.now()
        onStatus({ status: 'open' })
      }
      onMessage(message)
      if (message.type === 'levels') acknowledge()
    })
    socket.addEventListener('close', ({ code }) => lose(code === signedOutCode))

    const check = setInterval(() => {
      const now = performance.now()
      // Time during which the page was suspended is not silence.
      const elapsed = Math.min(now - checkedAt, 2 * checkIntervalMs)
      checkedAt = now
      silence += elapsed
      if (silence > (openedAt === null ? openingMs : lostMs)) return lose(false)
      if (openedAt !== null && silence >= silentMs && silence - elapsed < silentMs) onSilence()
      if (openedAt === null) return
      const ping = delay.nextPing()
      if (ping !== null) {
        send(ping)
        acknowledge()
      }
      if (delay.hasChanged()) onDelay(delay.seconds)
    }, checkIntervalMs)

    signal.addEventListener('abort', end, { signal: connection.signal })

    function end() {
      clearInterval(check)
      connection.abort()
      if (delay.seconds > 0) onDelay(0)
      socket.close()
    }

    function lose(isSignedOut: boolean) {
      if (connection.signal.aborted) return
      end()
      if (openedAt !== null && performance.now() - openedAt >= steadyMs) losses = 0
      const delay = retryDelayMs(losses, Math.random())
      losses += 1
      waiting = setTimeout(connect, delay)
      onStatus({ status: 'lost', nextTryAt: serviceNow() + delay, wasOpen: openedAt !== null, isSignedOut })
    }
  }

  function retry() {
    if (waiting === undefined) return
    clearTimeout(waiting)
    connect()
  }

  /** Acknowledges received messages, so that the service sends no more than the line can carry. */
  function acknowledge() {
    if (lastSeq !== null) send({ type: 'ack', seq: lastSeq })
  }

  function send(message: object) {
    if (current?.readyState === WebSocket.OPEN) current.send(JSON.stringify(message))
  }
}

/** A time of the browser's clock, and of its monotonic clock, because the browser's clock can be set meanwhile. */
interface Moment {
  readonly clock: number
  readonly monotonic: number
}

/** Sends a `ping` every second and measures the time until the response. */
class LineDelay {
  readonly #sent = new Map<number, Moment>()
  #lastId = 0
  #lastSentAt = Number.NEGATIVE_INFINITY
  #lastDelayMs = 0
  #reported = 0

  nextPing(): object | null {
    const monotonic = performance.now()
    if (monotonic - this.#lastSentAt < pingMs) return null
    this.#lastSentAt = monotonic
    this.#lastId += 1
    this.#sent.set(this.#lastId, { clock: Date.now(), monotonic })
    return { type: 'ping', id: this.#lastId }
  }

  receive({ id, timestamp }: Extract<LiveMessage, { type: 'pong' }>): void {
    if (typeof id !== 'number') return
    const sent = this.#sent.get(id)
    if (sent === undefined) return
    readServiceClock({ at: Date.parse(timestamp), sentAt: sent.clock, receivedAt: Date.now() })
    this.#lastDelayMs = performance.now() - sent.monotonic
    // Responses arrive in order.
    for (const earlier of this.#sent.keys()) if (earlier <= id) this.#sent.delete(earlier)
  }

  /** Whole seconds; 0 if the line is fast enough. */
  get seconds(): number {
    const [oldest] = this.#sent.values()
    const waitedMs = oldest === undefined ? 0 : performance.now() - oldest.monotonic
    const delayMs = Math.max(this.#lastDelayMs, waitedMs)
    return delayMs > behindMs ? Math.round(delayMs / 1_000) : 0
  }

  hasChanged(): boolean {
    const before = this.#reported
    this.#reported = this.seconds
    return this.#reported !== before
  }
}

/** 1, 2, 4 … 30 s times a random factor of 0.5 to 1.5, so that pages do not reconnect at the same time. */
export function retryDelayMs(losses: number, random: number): number {
  return Math.min(30_000, 1_000 * 2 ** Math.min(losses, 5)) * (0.5 + random)
}

export interface Position {
  readonly seq: number
  readonly epoch: string
}

export function positionAfter(position: Position | null, message: LiveMessage): Position | null {
  if (message.type === 'snapshot' || message.type === 'resumed') return { seq: message.seq, epoch: message.epoch }
  return position !== null && 'seq' in message ? { ...position, seq: Math.max(position.seq, message.seq) } : position
}

/**
 * True for a message from before this connection, which must not be applied again. `startSeq` is null before the
 * first message. Alerts may overtake other messages.
 */
export function isRepeated(startSeq: number | null, message: LiveMessage): boolean {
  if (message.type === 'snapshot' || message.type === 'resumed' || !('seq' in message)) return false
  return startSeq === null || message.seq <= startSeq
}

export function resumeUrl(url: string, position: Position | null): string {
  if (position === null) return url
  return `${url}&${new URLSearchParams({ since: String(position.seq), epoch: position.epoch })}`
}

/** Null if the data is no valid message. Unknown types are accepted, because a newer service may send more types. */
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
