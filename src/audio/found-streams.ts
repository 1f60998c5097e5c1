/** The streams that are announced on the network, and how long they stay in the list. */

import type { StoredStream, StreamSource } from '../domain/audio/audio-stream.ts'
import type { StreamDescription } from '../domain/audio/sdp.ts'
import { isSameJson } from '../domain/json.ts'

/** A stream that was announced within this time is not removed for a new one. */
const recentMs = 60_000
/** RFC 2974, 3.1: ten periods or one hour, whichever is longer. */
const sapExpiryMs = 3_600_000
/** Of streams that Micwatch asks for itself, every 30 s. */
const searchExpiryMs = 120_000
const expiryPeriods = 10

interface Found {
  lastAt: number
  /** The longest time between two announcements. */
  periodMs: number
  /** It stays in the list for at least this time after an announcement. */
  minExpiryMs: number
}

/** When each stream was announced, by the key of the stream. Times are those of a monotonic clock. */
export class FoundStreams {
  readonly #found = new Map<string, Found>()

  has(key: string): boolean {
    return this.#found.has(key)
  }

  /** Records an announcement. */
  announced(key: string, source: StreamSource, now: number): void {
    const found = this.#found.get(key)
    const minExpiryMs = source === 'sap' ? sapExpiryMs : searchExpiryMs
    if (found === undefined) this.#found.set(key, { lastAt: now, periodMs: 0, minExpiryMs })
    else {
      found.minExpiryMs = Math.max(found.minExpiryMs, minExpiryMs)
      found.periodMs = Math.max(found.periodMs, now - found.lastAt)
      found.lastAt = now
    }
  }

  withdrawn(key: string): void {
    this.#found.delete(key)
  }

  clear(): void {
    this.#found.clear()
  }

  /** Forgets the streams that are no longer announced. */
  expire(now: number): void {
    for (const [key, { lastAt, periodMs, minExpiryMs }] of this.#found) {
      if (now - lastAt > Math.max(minExpiryMs, expiryPeriods * periodMs)) this.#found.delete(key)
    }
  }

  /** Returns the streams that a new one may displace, the one that was announced first, first. */
  listOldest(streams: readonly StoredStream[], now: number): StoredStream[] {
    const lastAt = ({ key }: StoredStream) => this.#found.get(key ?? '')?.lastAt ?? Number.NEGATIVE_INFINITY
    return streams.filter((stream) => now - lastAt(stream) > recentMs).sort((a, b) => lastAt(a) - lastAt(b))
  }
}

/** Returns the stream as it is now described; the same object if nothing has changed. */
export function describeStream(
  stream: StoredStream,
  description: StreamDescription,
  interfaceAddress: string | null,
): StoredStream {
  const described = fromDescription(description, interfaceAddress)
  const name = stream.is_edited ? stream.name : described.name
  const next = { ...stream, ...described, name }
  return isSameJson(next, stream) ? stream : next
}

/** The fields of a stream that its description determines. */
export function fromDescription(description: StreamDescription, interfaceAddress: string | null) {
  const { key: _, legs, ...fields } = description
  return { ...fields, legs: [...legs], interface: interfaceAddress }
}
