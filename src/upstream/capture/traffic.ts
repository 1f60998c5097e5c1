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
  closed(): void
}

/** The beginning of each connection is kept while it is open, so that a capture can be replayed. */
interface Opening {
  readonly records: (Exchange | Interpretation)[]
  readonly endsAt: number
  bytesLeft: number
}

const openingMs = 20_000
const openingBytes = 64 * 1024
/** The approximate size of a report in memory. */
const reportBytes = 1024

export class Traffic {
  /** Receives everything from now on; null while nothing is captured. */
  onRecord: ((record: Exchange | Interpretation) => void) | null = null
  #sessions = 0
  /** By session. */
  readonly #openings = new Map<number, Opening>()
  /** Openings that are not complete. */
  readonly #recording = new Set<Opening>()
  /** The requests at the beginning of the subscription. */
  #preparation: Opening | null = null

  /** The beginnings of the open connections. */
  get opening(): readonly (Exchange | Interpretation)[] {
    const preparation = this.#preparation?.records ?? []
    // Requests and reports are part of every opening.
    const records = new Set([...preparation, ...[...this.#openings.values()].flatMap((opening) => opening.records)])
    return [...records].sort((a, b) => a.at - b.at)
  }

  /** Called before a subscription starts, because an adapter may send requests before it opens a connection. */
  prepare(): void {
    if (this.#preparation !== null) this.#recording.delete(this.#preparation)
    this.#preparation = this.#startOpening()
  }

  open(transport: CaptureTransport, encoding: BufferEncoding = 'utf8'): SessionTap {
    const session = ++this.#sessions
    const opening = transport === 'http' ? null : this.#startOpening()
    if (opening !== null) this.#openings.set(session, opening)
    const record = (from: Exchange['from'], data: string | Uint8Array, http?: HttpPart) => {
      if (this.#isIdle) return
      const at = performance.now()
      // Copied, because sockets reuse their buffers.
      const bytes = typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data)
      const exchange = { at, session, transport, from, bytes, http }
      this.#record(exchange, bytes.length, opening)
    }
    return {
      sent: (data, http) => record('micwatch', data, http),
      received: (data, http) => record('device', data, http),
      closed: () => {
        this.#openings.delete(session)
        if (opening !== null) this.#recording.delete(opening)
      },
    }
  }

  /** Records what was read from the device. */
  report(report: DeviceReport): void {
    if (this.#isIdle) return
    const { metadata: _, ...interpretation } = report
    // Copied, because an adapter may change its objects.
    this.#record({ at: performance.now(), report: structuredClone(interpretation) }, reportBytes)
  }

  /** Records levels, of which there are too many to keep while nothing is captured. */
  levels(device: string, channels: readonly LevelSample[]): void {
    if (this.onRecord !== null) this.report({ id: device, kind: 'receiver', channels })
  }

  get #isIdle(): boolean {
    return this.onRecord === null && this.#recording.size === 0
  }

  #startOpening(): Opening {
    const opening = { records: [], endsAt: performance.now() + openingMs, bytesLeft: openingBytes }
    this.#recording.add(opening)
    return opening
  }

  /** A message of a connection belongs to its opening. */
  #record(record: Exchange | Interpretation, bytes: number, connection: Opening | null = null): void {
    this.onRecord?.(record)
    for (const opening of this.#recording) {
      if (connection !== null && connection !== opening) continue
      if (record.at > opening.endsAt || bytes > opening.bytesLeft) {
        this.#recording.delete(opening)
        continue
      }
      opening.bytesLeft -= bytes
      opening.records.push(record)
    }
  }
}
