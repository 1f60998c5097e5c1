/**
 * OSC messages over TCP, as an N-DR1 exchanges them. A packet is a text with one character per byte.
 *
 * Sources: two public programs, a Companion module (lnswlrd/companion-module-dpa-wireless) and a plugin of Cue View
 * (stagehacks/Cue-View). They disagree about the frames. The first puts the length before each packet, as OSC 1.0 does;
 * the second uses SLIP, as OSC 1.1 does.
 */

import { decodePacket, encodeMessage, maxPacketBytes, type ReceivedMessage } from '../../domain/osc/packet.ts'

export type Framing = 'length' | 'slip'

const slipEnd = '\xc0'
const slipEscape = '\xdb'
const lengthBytes = 4

/** Detects the framing of the device. */
export function splitPackets(text: string): { messages: string[]; rest: string } {
  return text.startsWith(slipEnd) ? splitSlip(text) : splitByLength(text)
}

function splitSlip(text: string): { messages: string[]; rest: string } {
  const parts = text.split(slipEnd)
  const rest = slipEnd + (parts.pop() ?? '')
  const messages = parts.filter((part) => part !== '').map(unescapeSlip)
  return { messages, rest: rest.length > maxPacketBytes ? slipEnd : rest }
}

function splitByLength(text: string): { messages: string[]; rest: string } {
  const bytes = Buffer.from(text, 'latin1')
  const messages: string[] = []
  let offset = 0
  while (offset + lengthBytes <= bytes.length) {
    const length = bytes.readInt32BE(offset)
    if (length <= 0 || length % 4 !== 0 || length > maxPacketBytes) return { messages, rest: '' }
    const end = offset + lengthBytes + length
    if (end > bytes.length) break
    messages.push(text.slice(offset + lengthBytes, end))
    offset = end
  }
  return { messages, rest: text.slice(offset) }
}

function unescapeSlip(text: string): string {
  return text.replaceAll('\xdb\xdc', slipEnd).replaceAll('\xdb\xdd', slipEscape)
}

function escapeSlip(text: string): string {
  return text.replaceAll(slipEscape, '\xdb\xdd').replaceAll(slipEnd, '\xdb\xdc')
}

/** Returns null if the packet is malformed. */
export function parsePacket(packet: string): readonly ReceivedMessage[] | null {
  // The Companion module also reads the type `I` as a number. In OSC, it has no value.
  const typed = packet.replace(/,[a-zA-Z]+\0/, (types) => types.replaceAll('I', 'i'))
  return decodePacket(Buffer.from(typed, 'latin1'))
}

export function formatPackets(packets: readonly Uint8Array[], framing: Framing): string {
  const texts = packets.map((packet) => Buffer.from(packet).toString('latin1'))
  if (framing === 'slip') return texts.map((text) => slipEnd + escapeSlip(text) + slipEnd).join('')
  return texts.map((text) => toLength(text.length) + text).join('')
}

function toLength(length: number): string {
  const bytes = Buffer.alloc(lengthBytes)
  bytes.writeInt32BE(length)
  return bytes.toString('latin1')
}

/** A query is an address without arguments. */
export function encodeQuery(address: string): Uint8Array {
  return encodeMessage({ address, args: [] })
}

/** The device answers a subscribed query at this interval. */
export function encodeSubscription(address: string, intervalMs: number): Uint8Array {
  return encodeMessage({ address: '/subscribe', args: [intervalMs, 0, encodeQuery(address)] })
}
