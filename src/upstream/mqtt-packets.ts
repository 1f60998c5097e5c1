/** Protects against MQTT brokers that send larger or more packets than Micwatch can need. */

import type { Duplex } from 'node:stream'
import { type Bucket, fullBucket, type RateLimit, takeToken } from '../domain/access/limits.ts'

/** Reason codes of MQTT 3.1.1 and 5 for a protocol version that the broker does not support. */
export const unsupportedVersionCodes: readonly unknown[] = [1, 132]

/** Ten times the largest packet, which describes a device for Home Assistant. */
export const maxMqttPacketBytes = 1024 * 1024
/** At first, a broker may send everything that it retains for 10,000 receivers, their channels and their devices. */
const packetRate: RateLimit = { perSecond: 100, burst: 100_000 }

/** The remaining length of a packet has at most this many bytes, of seven bits each. */
const maxLengthBytes = 4

/** Follows the headers of the packets in a stream. */
export class MqttPacketReader {
  /** Remaining bytes of the current packet's body. */
  #left = 0
  /** Bytes read of the current packet's header. */
  #headerBytes = 0
  #length = 0
  #packets: Bucket

  constructor(now: number) {
    this.#packets = fullBucket(packetRate, now)
  }

  /** Returns the problem with the next bytes, or null. */
  read(chunk: Uint8Array, now: number): string | null {
    for (let offset = 0; offset < chunk.length; ) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - offset)
        this.#left -= skipped
        offset += skipped
        continue
      }
      const problem = this.#readHeaderByte(chunk[offset] ?? 0, now)
      if (problem !== null) return problem
      offset += 1
    }
    return null
  }

  #readHeaderByte(byte: number, now: number): string | null {
    this.#headerBytes += 1
    // The first byte has the type of the packet.
    if (this.#headerBytes === 1) return null
    this.#length += (byte & 0x7f) * 128 ** (this.#headerBytes - 2)
    if (this.#length > maxMqttPacketBytes) return `a packet of more than ${maxMqttPacketBytes / 1024 / 1024} MiB`
    if (byte >= 0x80) return this.#headerBytes > maxLengthBytes ? 'a packet that is not MQTT' : null
    this.#left = this.#length
    this.#headerBytes = 0
    this.#length = 0
    const { bucket, waitMs } = takeToken(this.#packets, packetRate, now)
    this.#packets = bucket
    return waitMs > 0 ? `more than ${packetRate.burst} messages in a short time` : null
  }
}

/** Closes the stream when the broker sends too much. `onExcess` receives a description. */
export function limitMqttPackets(stream: Duplex, onExcess: (sent: string) => void = () => {}): void {
  const reader = new MqttPacketReader(performance.now())
  const check = (chunk: Uint8Array) => {
    const problem = reader.read(chunk, performance.now())
    if (problem === null) return
    stream.off('data', check)
    onExcess(problem)
    stream.destroy()
  }
  stream.on('data', check)
}
