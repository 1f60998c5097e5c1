/** Records the messages between a client and its source, for a capture. */

import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import type { LevelSample } from '../../domain/levels/level-sample.ts'

export type CaptureTransport = 'http' | 'websocket' | 'sse' | 'tcp' | 'udp'

/** The parts of an HTTP exchange besides its body. Headers are never recorded, because they contain credentials. */
export type HttpPart =
  | { readonly method: string; readonly path: string }
  | { readonly status: number; readonly type: string | null }

/** A report that the adapter has made from the messages before. */
export interface Interpretation {
  readonly at: number
  readonly report: DeviceReport
}

export interface Exchange {
  /** `performance.now()` */
  readonly at: number
  /** Counts the connections of the client, and its HTTP requests. */
  readonly session: number
  readonly transport: CaptureTransport
  readonly from: 'micwatch' | 'device'
  readonly bytes: Buffer
  readonly http?: HttpPart | undefined
}

/** Records one connection, or one HTTP request and its response. */
export interface SessionTap {
  sent(data: string | Uint8Array, http?: HttpPart): void
  received(data: string | Uint8Array, http?: HttpPart): void
}

/**
 * The beginning of a connection is kept until the next one begins, so that a capture of an open connection can be
 * replayed.
 */
const openingMs = 20_000
const openingBytes = 64 * 1024
/** The approximate size of a report in memory. */
const reportBytes = 1024

export class Traffic {
  /** Receives everything from now on; null while nothing is captured. */
  onRecord: ((record: Exchange | Interpretation) => void) | null = null
  #sessions = 0
  #opening: (Exchange | Interpretation)[] = []
  #openingEndsAt = 0
  #openingBytesLeft = 0

  /** The beginning of the last connection. */
  get opening(): readonly (Exchange | Interpretation)[] {
    return this.#opening
  }

  open(transport: CaptureTransport, encoding: BufferEncoding = 'utf8'): SessionTap {
    const session = ++this.#sessions
    if (transport !== 'http') {
      this.#opening = []
      this.#openingEndsAt = performance.now() + openingMs
      this.#openingBytesLeft = openingBytes
    }
    const record = (from: Exchange['from'], data: string | Uint8Array, http?: HttpPart) => {
      if (this.onRecord === null && this.#openingBytesLeft === 0) return
      const at = performance.now()
      // Copied, because sockets reuse their buffers.
      const bytes = typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data)
      const exchange = { at, session, transport, from, bytes, http }
      this.#record(exchange, bytes.length)
    }
    return {
      sent: (data, http) => record('micwatch', data, http),
      received: (data, http) => record('device', data, http),
    }
  }

  /** Records what was read from the device. */
  report(report: DeviceReport): void {
    if (this.onRecord === null && this.#openingBytesLeft === 0) return
    const { metadata: _, ...interpretation } = report
    // Copied, because an adapter may change its objects.
    this.#record({ at: performance.now(), report: structuredClone(interpretation) }, reportBytes)
  }

  /** Records levels, of which there are too many to keep while nothing is captured. */
  levels(device: string, channels: readonly LevelSample[]): void {
    if (this.onRecord !== null) this.report({ id: device, kind: 'receiver', channels })
  }

  #record(record: Exchange | Interpretation, bytes: number): void {
    this.onRecord?.(record)
    if (record.at > this.#openingEndsAt || bytes > this.#openingBytesLeft) this.#openingBytesLeft = 0
    if (this.#openingBytesLeft === 0) return
    this.#openingBytesLeft -= bytes
    this.#opening.push(record)
  }
}
