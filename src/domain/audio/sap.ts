/** Announcements of streams (SAP, RFC 2974, section 6). */

import { parseIpv4 } from '../identity/network.ts'
import { maxSdpBytes, parseOrigin } from './sdp.ts'

export const sapPort = 9875
/** AES67 and Dante use the first group, ffmpeg the second. */
export const sapGroups = ['239.255.255.255', '224.2.127.254'] as const

export type SapMessage =
  | { readonly type: 'announcement'; readonly sdp: string }
  /** `key` is the beginning of the key of the stream in `StreamDescription`. */
  | { readonly type: 'deletion'; readonly key: string }

const version = 1

export interface SapDecoders {
  /** Decompresses zlib. Throws or returns null beyond the limit. */
  inflate(bytes: Uint8Array, maxBytes: number): Uint8Array | null
  /** Decodes UTF-8. */
  decode(bytes: Uint8Array): string
}

/** Returns null for anything that is not a readable announcement of SDP; encrypted ones are not. */
export function parseSap(packet: Uint8Array, { inflate, decode }: SapDecoders): SapMessage | null {
  const flags = packet[0] ?? 0
  if (packet.length < 8 || flags >> 5 !== version) return null
  const isEncrypted = (flags & 0x02) !== 0
  if (isEncrypted) return null
  const authentication = 4 * (packet[1] ?? 0)
  const start = 4 + ((flags & 0x10) === 0 ? 4 : 16) + authentication
  if (start >= packet.length) return null
  const compressed = packet.subarray(start)
  const payload = (flags & 0x01) === 0 ? compressed : inflate(compressed, 2 * maxSdpBytes)
  if (payload === null) return null
  const sdp = readPayload(payload, decode)
  if (sdp === null) return null
  const isDeletion = (flags & 0x04) !== 0
  if (!isDeletion) return sdp.startsWith('v=0') ? { type: 'announcement', sdp } : null
  const [, origin = ''] = /(?:^|[\r\n])o=([^\r\n]*)/.exec(sdp) ?? []
  const parsed = parseOrigin(origin)
  return parsed && { type: 'deletion', key: parsed.key }
}

/** Returns the text after the optional type of the payload; null if it is of another type, or too long. */
function readPayload(payload: Uint8Array, decode: SapDecoders['decode']): string | null {
  const hasType = decode(payload.subarray(0, 3)) !== 'v=0' && decode(payload.subarray(0, 2)) !== 'o='
  const end = hasType ? payload.indexOf(0) : -1
  if (hasType && (end === -1 || decode(payload.subarray(0, end)).toLowerCase() !== 'application/sdp')) return null
  const text = payload.subarray(end + 1)
  return text.length > maxSdpBytes ? null : decode(text)
}

const mediaType = Uint8Array.from('application/sdp\0', (character) => character.charCodeAt(0))

/**
 * Writes a packet without authentication. `sdp` is UTF-8, `origin` an IPv4 address, and `hash` changes with the
 * description.
 */
export function writeSap(sdp: Uint8Array, origin: string, hash: number, isDeletion = false): Uint8Array {
  const packet = new Uint8Array(8 + mediaType.length + sdp.length)
  const view = new DataView(packet.buffer)
  view.setUint8(0, (version << 5) | (isDeletion ? 0x04 : 0))
  view.setUint16(2, hash & 0xffff)
  view.setUint32(4, parseIpv4(origin) ?? 0)
  packet.set(mediaType, 8)
  packet.set(sdp, 8 + mediaType.length)
  return packet
}
