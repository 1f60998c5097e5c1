/** OSC 1.0 packets, and their frames over TCP: an int32 with the length before each packet. */

import { fromBuffer, type OscArgOutputOrArray, type OscPacketOutput, toBuffer } from 'osc-min'

export interface OscMessage {
  readonly address: string
  /** Numbers are sent as int32. */
  readonly args: readonly (string | number)[]
}

export interface ReceivedMessage {
  readonly address: string
  /** Arguments that are neither text nor numbers are null. */
  readonly args: readonly (string | number | boolean | null)[]
}

/** The largest packet that a UDP datagram can contain, rounded to a multiple of 4. */
export const maxPacketBytes = 65_504

export function encodeMessage({ address, args }: OscMessage): Uint8Array {
  const typed = args.map((value) =>
    typeof value === 'number' ? { type: 'integer' as const, value } : { type: 'string' as const, value },
  )
  const { buffer, byteOffset, byteLength } = toBuffer({ address, args: typed })
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Returns the messages of a packet, also those of nested bundles, whose times are ignored; null if it is malformed. */
export function decodePacket(bytes: Uint8Array): readonly ReceivedMessage[] | null {
  if (bytes.length === 0 || bytes.length % 4 !== 0 || bytes.length > maxPacketBytes) return null
  if (countBundles(bytes) > maxBundles) return null
  try {
    return listMessages(fromBuffer(bytes))
  } catch {
    return null
  }
}

/** Nested bundles are copied at every level, so their number is limited. */
const maxBundles = 32

function countBundles(bytes: Uint8Array): number {
  const [hash, letter] = ['#'.charCodeAt(0), 'b'.charCodeAt(0)]
  let count = 0
  for (let at = 0; at < bytes.length; at += 4) if (bytes[at] === hash && bytes[at + 1] === letter) count += 1
  return count
}

function listMessages(packet: OscPacketOutput): ReceivedMessage[] {
  if (packet.oscType === 'bundle') return packet.elements.flatMap(listMessages)
  return [{ address: packet.address, args: packet.args.map(toValue) }]
}

function toValue(argument: OscArgOutputOrArray): string | number | boolean | null {
  switch (argument.type) {
    case 'true':
      return true
    case 'false':
      return false
    case 'string':
    case 'symbol':
    case 'integer':
    case 'float':
    case 'double':
      return argument.value
    default:
      return null
  }
}

/** Adds the length that precedes a packet over TCP. */
export function toFrame(packet: Uint8Array): Uint8Array {
  const frame = new Uint8Array(4 + packet.length)
  new DataView(frame.buffer).setInt32(0, packet.length)
  frame.set(packet, 4)
  return frame
}

/** Splits a TCP stream into packets. */
export class FrameReader {
  #pending = new Uint8Array(0)

  /** Returns the packets that are complete; null if a length is impossible, after which nothing more can be read. */
  read(chunk: Uint8Array): readonly Uint8Array[] | null {
    const bytes = new Uint8Array(this.#pending.length + chunk.length)
    bytes.set(this.#pending)
    bytes.set(chunk, this.#pending.length)
    const view = new DataView(bytes.buffer)
    const packets: Uint8Array[] = []
    let at = 0
    while (bytes.length - at >= 4) {
      const length = view.getInt32(at)
      if (length <= 0 || length % 4 !== 0 || length > maxPacketBytes) return null
      if (bytes.length - at - 4 < length) break
      packets.push(bytes.subarray(at + 4, at + 4 + length))
      at += 4 + length
    }
    this.#pending = bytes.slice(at)
    return packets
  }
}
