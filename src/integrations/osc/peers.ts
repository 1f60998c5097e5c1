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

/** `send` sends one datagram. */
export function createUdpPeer(send: (packet: Uint8Array) => void): OscPeer {
  const outbox = new Outbox()
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    for (let count = 0; count < datagramsAtOnce; count++) {
      const packet = outbox.take()
      if (packet === undefined) break
      send(packet)
      if (isTimeSliceUsed()) break
    }
    timer = outbox.isEmpty ? undefined : setTimeout(flush, datagramPauseMs)
  }
  return {
    put(key, message) {
      outbox.put(key, message)
      timer ??= setTimeout(flush, 0)
    },
    close: () => clearTimeout(timer),
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
