/**
 * Sends messages to one receiver each. A peer that reads too slowly delays no other: of each key only the newest message
 * waits, and the number of waiting messages is limited.
 */

import type { Socket } from 'node:net'
import { encodeMessage, type OscMessage, toFrame } from '../../domain/osc/packet.ts'
import { isTimeSliceUsed } from '../../platform/time-slice.ts'

/** A message to several peers, which is encoded once, and only if it is sent before a newer one replaces it. */
export class PeerMessage {
  readonly #message: OscMessage
  #packet: Uint8Array | undefined

  constructor(message: OscMessage) {
    this.#message = message
  }

  get address(): string {
    return this.#message.address
  }

  get packet(): Uint8Array {
    this.#packet ??= encodeMessage(this.#message)
    return this.#packet
  }
}

export interface OscPeer {
  /** Sends the message in place of one with the same key that was not sent yet. */
  put(key: string, message: PeerMessage): void
  close(): void
}

/** All values of 6,000 slots. */
const maxWaiting = 50_000
/** The number of datagrams that are sent at once; more might not fit into the buffer of the receiver. */
const datagramsAtOnce = 32
const datagramPauseMs = 2
const maxSavedMs = 30

class Outbox {
  readonly #messages = new Map<string, PeerMessage>()

  put(key: string, message: PeerMessage): void {
    this.#messages.set(key, message)
    if (this.#messages.size > maxWaiting) this.take()
  }

  /** Removes and returns the packet of the message that has waited longest. */
  take(): Uint8Array | undefined {
    for (const [key, { packet }] of this.#messages) {
      this.#messages.delete(key)
      return packet
    }
    return undefined
  }

  get isEmpty(): boolean {
    return this.#messages.size === 0
  }
}

/** Sends the datagrams of peers, which take turns, within a limit for all of them together. */
export class UdpPeers {
  /** Null if there is no limit. */
  readonly #bytesPerSecond: number | null
  /** The bytes that may be sent now; negative after more were sent. */
  #budget = 0
  #refilledAt = performance.now()
  /** Peers with messages, and how to send a datagram to each. The peer whose turn is next comes first. */
  readonly #waiting = new Map<Outbox, (packet: Uint8Array) => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(bytesPerSecond: number | null = null) {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** `send` sends one datagram. */
  create(send: (packet: Uint8Array) => void): OscPeer {
    const outbox = new Outbox()
    return {
      put: (key, message) => {
        outbox.put(key, message)
        this.#waiting.set(outbox, send)
        this.#timer ??= setTimeout(() => this.#flush(), 0)
      },
      close: () => void this.#waiting.delete(outbox),
    }
  }

  #flush(): void {
    this.#refill()
    for (let count = 0; count < datagramsAtOnce && this.#budget > 0; count++) {
      const [next] = this.#waiting
      if (next === undefined) break
      const [outbox, send] = next
      this.#waiting.delete(outbox)
      const packet = outbox.take()
      if (packet === undefined) continue
      if (this.#bytesPerSecond !== null) this.#budget -= packet.length
      send(packet)
      if (!outbox.isEmpty) this.#waiting.set(outbox, send)
      if (isTimeSliceUsed()) break
    }
    this.#timer = this.#waiting.size === 0 ? undefined : setTimeout(() => this.#flush(), datagramPauseMs)
  }

  /** Unused bytes accumulate for at most `maxSavedMs`. */
  #refill(): void {
    const now = performance.now()
    const perMs = (this.#bytesPerSecond ?? 1000) / 1000
    this.#budget = Math.min(maxSavedMs * perMs, this.#budget + (now - this.#refilledAt) * perMs)
    this.#refilledAt = now
  }
}

/** Writes frames while the connection accepts them. */
export function createTcpPeer(socket: Socket): OscPeer {
  const outbox = new Outbox()
  let immediate: NodeJS.Immediate | undefined
  const flush = () => {
    immediate = undefined
    if (socket.destroyed || socket.writableNeedDrain) return
    socket.cork()
    for (let packet = outbox.take(); packet !== undefined; packet = outbox.take()) {
      if (!socket.write(toFrame(packet)) || isTimeSliceUsed()) break
    }
    socket.uncork()
    if (!outbox.isEmpty && !socket.writableNeedDrain) immediate = setImmediate(flush)
  }
  socket.on('drain', flush)
  return {
    put(key, message) {
      outbox.put(key, message)
      immediate ??= setImmediate(flush)
    },
    close() {
      clearImmediate(immediate)
      socket.off('drain', flush)
    },
  }
}
