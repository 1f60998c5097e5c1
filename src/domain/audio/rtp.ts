/** RTP packets with PCM audio (RFC 3550, RFC 3551 and RFC 3190), and the statistics of the stream that they form. */

const headerBytes = 12
const version = 2

export interface RtpPacket {
  readonly payloadType: number
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
  /** Without padding. A view of the packet's memory. */
  readonly payload: Uint8Array
}

/** Returns null for anything that is not a complete RTP packet (RFC 3550, 5.1). */
export function parseRtp(packet: Uint8Array): RtpPacket | null {
  if (packet.length < headerBytes) return null
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength)
  const flags = view.getUint8(0)
  if (flags >> 6 !== version) return null
  let start = headerBytes + 4 * (flags & 0x0f)
  if ((flags & 0x10) !== 0) {
    if (packet.length < start + 4) return null
    start += 4 + 4 * view.getUint16(start + 2)
  }
  const padding = (flags & 0x20) === 0 ? 0 : (packet[packet.length - 1] ?? 0)
  if (((flags & 0x20) !== 0 && padding === 0) || start + padding > packet.length) return null
  return {
    payloadType: view.getUint8(1) & 0x7f,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: packet.subarray(start, packet.length - padding),
  }
}

export interface RtpHeader extends Omit<RtpPacket, 'payload'> {
  readonly marker?: boolean
}

export function writeRtp({ payloadType, sequence, timestamp, ssrc, marker = false }: RtpHeader, payload: Uint8Array) {
  const packet = new Uint8Array(headerBytes + payload.length)
  const view = new DataView(packet.buffer)
  view.setUint8(0, version << 6)
  view.setUint8(1, (marker ? 0x80 : 0) | payloadType)
  view.setUint16(2, sequence)
  view.setUint32(4, timestamp)
  view.setUint32(8, ssrc)
  packet.set(payload, headerBytes)
  return packet
}

export interface RtpStatistics {
  /** Includes duplicates. */
  packets: number
  lost: number
  reordered: number
  restarts: number
  /** Interarrival jitter in samples (RFC 3550, A.8). */
  jitter: number
}

/** Where the samples of a packet belong. */
export interface PlacedPacket {
  /** The index of the first sample in the segment. The first sample of a segment has a positive index. */
  readonly position: number
  readonly frames: number
  readonly payload: Uint8Array
  /** True if earlier positions have no relation to this one. */
  readonly startsSegment: boolean
}

// RFC 3550, A.1.
const minSequential = 2
const maxDropout = 3000
const maxMisorder = 100
const sequenceCount = 65_536
/** Packets of another sender are ignored unless the known one has been silent for this time. */
const silenceMs = 500
/** Sequence numbers for which a duplicate can be recognised. */
const windowSize = 1024
/** A description that does not fit the packets is reported after this many in a row. */
const minMismatches = 16
/** The first position of a segment, so that packets that arrive late have positive positions too. */
const firstPosition = 2 ** 20

interface RtpOptions {
  /** Hz. */
  readonly rate: number
  readonly bytesPerFrame: number
  /** Null to accept that of the first packet. */
  readonly payloadType: number | null
}

const maxCandidates = 8

interface Candidate {
  readonly next: number
  readonly count: number
}

/** Locks on to one sender, places its packets by their timestamps, and counts. */
export class RtpReceiver {
  readonly statistics: RtpStatistics = { packets: 0, lost: 0, reordered: 0, restarts: 0, jitter: 0 }
  readonly #options: RtpOptions
  #payloadType: number | null
  #ssrc: number | null = null
  /** Senders of which the last packets were in sequence, by SSRC. */
  readonly #candidates = new Map<number, Candidate>()
  /** The highest sequence number, counted on from 65535. */
  #highest = 0
  #seen = new Uint8Array(windowSize)
  #timestamp = 0
  #position = firstPosition
  #lastFrames = 0
  #lastAt = Number.NEGATIVE_INFINITY
  /** Arrival minus timestamp of the last packet, in samples. */
  #transit: number | null = null
  #mismatches = 0
  #problem: string | null = null
  /** When another sender was last ignored. */
  #foreignAt = Number.NEGATIVE_INFINITY

  constructor(options: RtpOptions) {
    this.#options = options
    this.#payloadType = options.payloadType
  }

  /** Why packets that arrive cannot be used; null if they can. */
  get problem(): string | null {
    return this.#problem
  }

  /** True if packets of another sender were ignored since this time. */
  hasOtherSender(sinceMs: number): boolean {
    return this.#foreignAt > sinceMs
  }

  /** `atMs` is a monotonic time. Returns null for packets that carry no new sound of this stream. */
  receive(packet: RtpPacket, atMs: number): PlacedPacket | null {
    const isForeign = this.#ssrc !== null && packet.ssrc !== this.#ssrc && atMs - this.#lastAt < silenceMs
    if (isForeign) this.#foreignAt = atMs
    const frames = isForeign ? null : this.#countFrames(packet)
    if (frames === null) return null
    const startsSegment = this.#accept(packet)
    if (startsSegment === null) return null
    this.#lastAt = atMs
    const sequence = startsSegment ? this.#restart(packet) : this.#extend(packet.sequence)
    this.statistics.packets++
    const isNew = startsSegment || this.#count(sequence)
    const jumps = !startsSegment && this.#jumps(packet, sequence, frames)
    if (jumps) {
      this.statistics.restarts++
      this.#transit = null
    }
    this.#measureJitter(packet.timestamp, atMs)
    const position =
      startsSegment || jumps ? firstPosition : this.#position + signedDifference(packet.timestamp, this.#timestamp)
    if (startsSegment || jumps || sequence >= this.#highest) {
      this.#highest = sequence
      this.#timestamp = packet.timestamp
      this.#position = position
      this.#lastFrames = frames
    }
    if (!isNew || this.#mismatches >= minMismatches) return null
    return { position, frames, payload: packet.payload, startsSegment: startsSegment || jumps }
  }

  /** Returns null, and states the problem, if the packet does not have the format of the stream. */
  #countFrames({ payloadType, payload }: RtpPacket): number | null {
    const { bytesPerFrame } = this.#options
    if (this.#payloadType !== null && payloadType !== this.#payloadType) {
      this.#problem = `The packets have the payload type ${payloadType} instead of ${this.#payloadType}. The format has changed: update the stream.`
      return null
    }
    if (payload.length === 0) return null
    if (payload.length % bytesPerFrame !== 0) {
      this.#problem = `The packets have ${payload.length} bytes, which is no multiple of ${bytesPerFrame}. Check the encoding and the number of channels.`
      return null
    }
    return payload.length / bytesPerFrame
  }

  /** Returns whether a segment starts with the packet; null while that is not certain. */
  #accept({ ssrc, sequence, payloadType }: RtpPacket): boolean | null {
    if (ssrc === this.#ssrc) {
      const ahead = (sequence - this.#highest) & 0xffff
      if (ahead < maxDropout || ahead >= sequenceCount - maxMisorder) {
        this.#candidates.clear()
        return false
      }
    }
    // A new sender, or new sequence numbers: accepted after packets in sequence.
    const { count, next } = this.#candidates.get(ssrc) ?? { count: 0, next: sequence }
    const inSequence = sequence === next ? count + 1 : 1
    if (inSequence < minSequential) {
      if (this.#candidates.size >= maxCandidates) this.#candidates.clear()
      this.#candidates.set(ssrc, { next: (sequence + 1) & 0xffff, count: inSequence })
      return null
    }
    if (this.#ssrc !== null) this.statistics.restarts++
    this.#ssrc = ssrc
    this.#payloadType ??= payloadType
    this.#candidates.clear()
    return true
  }

  #restart({ sequence }: RtpPacket): number {
    this.#seen.fill(0)
    // Above the window, so that late packets have positive numbers.
    const extended = sequence + sequenceCount
    this.#seen[extended % windowSize] = 1
    this.#transit = null
    this.#mismatches = 0
    this.#problem = null
    this.#foreignAt = Number.NEGATIVE_INFINITY
    return extended
  }

  #extend(sequence: number): number {
    return this.#highest + signedDifference16(sequence, this.#highest & 0xffff)
  }

  /** Returns false for a duplicate. */
  #count(sequence: number): boolean {
    const ahead = sequence - this.#highest
    if (ahead > 0) {
      for (let skipped = this.#highest + 1; skipped < sequence; skipped++) this.#seen[skipped % windowSize] = 0
      this.statistics.lost += ahead - 1
    } else {
      if (this.#seen[sequence % windowSize] === 1) return false
      this.statistics.reordered++
      this.statistics.lost--
    }
    this.#seen[sequence % windowSize] = 1
    return true
  }

  /** True if the timestamp has no relation to the previous one. */
  #jumps({ timestamp }: RtpPacket, sequence: number, frames: number): boolean {
    const packets = sequence - this.#highest
    const advance = signedDifference(timestamp, this.#timestamp)
    if (packets === 1) {
      if (advance === this.#lastFrames) {
        this.#mismatches = Math.max(0, this.#mismatches - 1)
        if (this.#mismatches === 0) this.#problem = null
      } else {
        this.#mismatches = Math.min(this.#mismatches + 1, 2 * minMismatches)
        if (this.#mismatches >= minMismatches) {
          this.#problem = `The packets have ${frames} samples, but their timestamps advance by ${advance}. The format has changed: check the encoding and the number of channels.`
        }
      }
    }
    const expected = packets * frames
    return Math.abs(advance - expected) > this.#options.rate
  }

  #measureJitter(timestamp: number, atMs: number): void {
    const transit = (atMs * this.#options.rate) / 1000 - timestamp
    if (this.#transit !== null) {
      const difference = Math.abs(wrapTransit(transit - this.#transit))
      this.statistics.jitter += (difference - this.statistics.jitter) / 16
    }
    this.#transit = transit
  }
}

/** The difference of two timestamps of 32 bits, which wrap around. */
function signedDifference(a: number, b: number): number {
  return (a - b) | 0
}

function signedDifference16(a: number, b: number): number {
  return ((a - b) << 16) >> 16
}

function wrapTransit(difference: number): number {
  return difference - 2 ** 32 * Math.round(difference / 2 ** 32)
}
