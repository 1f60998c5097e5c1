/**
 * Sends packets to one receiver each. A peer that reads too slowly delays nobody: of each key only the newest packet
 * waits, and the number of waiting packets is limited.
 */

import type { Socket } from 'node:net'
import { toFrame } from '../../domain/osc/packet.ts'

export interface OscPeer {
  /** Sends the packet in place of one with the same key that was not sent yet. */
  put(key: string, packet: Uint8Array): void
  close(): void
}

const maxWaiting = 20_000
/** The number of datagrams that are sent at once; more might not fit into the buffer of the receiver. */
const datagramsAtOnce = 32
const datagramPauseMs = 2

class Outbox {
  readonly #packets = new Map<string, Uint8Array>()

  put(key: string, packet: Uint8Array): void {
    this.#packets.set(key, packet)
    if (this.#packets.size > maxWaiting) this.take()
  }

  /** Removes and returns the packet that has waited longest. */
  take(): Uint8Array | undefined {
    for (const [key, packet] of this.#packets) {
      this.#packets.delete(key)
      return packet
    }
    return undefined
  }

  get isEmpty(): boolean {
    return this.#packets.size === 0
  }
}

/** `send` sends one datagram. */
export function createUdpPeer(send: (packet: Uint8Array) => void): OscPeer {
  const outbox = new Outbox()
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    for (let count = 0; count < datagramsAtOnce && !outbox.isEmpty; count++) {
      const packet = outbox.take()
      if (packet !== undefined) send(packet)
    }
    timer = outbox.isEmpty ? undefined : setTimeout(flush, datagramPauseMs)
  }
  return {
    put(key, packet) {
      outbox.put(key, packet)
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
      if (!socket.write(toFrame(packet))) break
    }
    socket.uncork()
  }
  socket.on('drain', flush)
  return {
    put(key, packet) {
      outbox.put(key, packet)
      immediate ??= setImmediate(flush)
    },
    close() {
      clearImmediate(immediate)
      socket.off('drain', flush)
    },
  }
}
