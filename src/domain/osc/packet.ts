/** OSC 1.0 packets, the commands in them, and their frames over TCP: an int32 with the length before each packet. */

import { fromBuffer, type OscArgOutputOrArray, type OscPacketOutput, toBuffer } from 'osc-min'

export interface OscMessage {
  readonly address: string
  /** Numbers are sent as int32. */
  readonly args: readonly (string | number)[]
}

/** A message that may also contain bytes, which are sent as a blob. */
export interface OscMessageWithBlobs {
  readonly address: string
  readonly args: readonly (string | number | Uint8Array)[]
}

export interface ReceivedMessage {
  readonly address: string
  /** Arguments that are neither text nor numbers are null. */
  readonly args: readonly (string | number | boolean | null)[]
}

/** The largest packet that a UDP datagram can contain, rounded to a multiple of 4. */
export const maxPacketBytes = 65_504

export function encodeMessage({ address, args }: OscMessageWithBlobs): Uint8Array {
  const typed = args.map((value) => {
    if (typeof value === 'number') return { type: 'integer' as const, value }
    if (typeof value === 'string') return { type: 'string' as const, value }
    return { type: 'blob' as const, value: new DataView(value.buffer, value.byteOffset, value.byteLength) }
  })
  const { buffer, byteOffset, byteLength } = toBuffer({ address, args: typed })
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Returns the messages of a packet and of nested bundles, whose times are ignored; null if it is malformed. */
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

const headerBytes = 4

/** Splits a TCP stream into packets. Copies every byte at most once, however the stream is cut. */
export class FrameReader {
  readonly #header = new Uint8Array(headerBytes)
  #headerLength = 0
  /** The packet that is being read; null while its length is incomplete. */
  #packet: Uint8Array | null = null
  #packetLength = 0

  /** Returns the complete packets; null after an impossible length, which makes the rest of the stream unreadable. */
  read(chunk: Uint8Array): readonly Uint8Array[] | null {
    const packets: Uint8Array[] = []
    for (let at = 0; at < chunk.length; ) {
      if (this.#packet === null) {
        at += this.#readHeader(chunk.subarray(at))
        if (this.#headerLength < headerBytes) break
        const length = new DataView(this.#header.buffer).getInt32(0)
        if (length <= 0 || length % 4 !== 0 || length > maxPacketBytes) return null
        this.#packet = new Uint8Array(length)
        this.#packetLength = 0
        this.#headerLength = 0
      } else {
        const part = chunk.subarray(at, at + this.#packet.length - this.#packetLength)
        this.#packet.set(part, this.#packetLength)
        this.#packetLength += part.length
        at += part.length
        if (this.#packetLength < this.#packet.length) break
        packets.push(this.#packet)
        this.#packet = null
      }
    }
    return packets
  }

  /** Returns the number of bytes that belong to the header. */
  #readHeader(bytes: Uint8Array): number {
    const part = bytes.subarray(0, headerBytes - this.#headerLength)
    this.#header.set(part, this.#headerLength)
    this.#headerLength += part.length
    return part.length
  }
}

export type OscCommand = { readonly type: 'subscribe'; readonly isOn: boolean } | OscAction

/** Commands that change something. */
export type OscAction =
  | { readonly type: 'marker'; readonly text: string }
  /** `show` is an id or a title; null if only one show is possible. */
  | { readonly type: 'start_show' | 'end_show'; readonly show: string | null }
  | { readonly type: 'acknowledge'; readonly alert: number }

const maxMarkerCharacters = 500

/** Returns `unknown` for other addresses, and `malformed` for invalid arguments. */
export function parseCommand({ address, args }: ReceivedMessage): OscCommand | 'unknown' | 'malformed' {
  const [argument = null] = args
  if (address === '/micwatch/subscribe') return { type: 'subscribe', isOn: !isRelease(args) }
  if (address === '/micwatch/marker') return parseMarker(argument)
  if (address === '/micwatch/show/start') return { type: 'start_show', show: toShow(argument) }
  if (address === '/micwatch/show/end') return { type: 'end_show', show: toShow(argument) }
  const alert = /^\/micwatch\/alert\/(\d{1,15})\/ack$/.exec(address)?.[1]
  if (alert === undefined) return 'unknown'
  return isRelease(args) ? 'unknown' : { type: 'acknowledge', alert: Number(alert) }
}

/** Buttons of controllers send 1 when pressed and 0 when released. */
function isRelease([first]: ReceivedMessage['args']): boolean {
  return first === 0 || first === false
}

function parseMarker(argument: ReceivedMessage['args'][number]): OscCommand | 'malformed' {
  if (typeof argument !== 'string') return 'malformed'
  const text = argument.replace(/\p{Control}+/gu, ' ').trim()
  if (text === '') return 'malformed'
  return { type: 'marker', text: Array.from(text).slice(0, maxMarkerCharacters).join('') }
}

function toShow(argument: ReceivedMessage['args'][number]): string | null {
  if (typeof argument === 'number') return String(argument)
  return typeof argument === 'string' && argument.trim() !== '' ? argument : null
}
