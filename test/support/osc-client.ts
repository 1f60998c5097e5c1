/** A client of OSC with real sockets, over UDP or TCP. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import {
  decodePacket,
  encodeMessage,
  FrameReader,
  type OscMessage,
  type ReceivedMessage,
  toFrame,
} from '../../src/domain/osc/packet.ts'
import { onTestEnd } from './cleanup.ts'

export interface OscClient {
  readonly port: number
  readonly messages: ReceivedMessage[]
  /** Returns the newest first argument for this address. */
  value(address: string): unknown
  send(port: number, message: OscMessage | Uint8Array, host?: string): void
}

/** `address` is the address that the client uses, by default any. */
export async function openOscClient(address = '0.0.0.0'): Promise<OscClient> {
  const socket = createSocket('udp4')
  onTestEnd(async () => {
    socket.close()
  })
  const messages: ReceivedMessage[] = []
  socket.on('message', (bytes) => messages.push(...(decodePacket(bytes) ?? [])))
  socket.bind(0, address)
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    messages,
    value: (address) => messages.findLast((message) => message.address === address)?.args[0],
    send: (port, message, host = '127.0.0.1') => socket.send(toBytes(message), port, host),
  }
}

export async function connectOsc(
  port: number,
): Promise<Omit<OscClient, 'port' | 'send'> & { send(message: OscMessage): void; readonly socket: Socket }> {
  const socket = connect(port, '127.0.0.1')
  onTestEnd(async () => void socket.destroy())
  await once(socket, 'connect')
  socket.on('error', () => {})
  const messages = collectFrames(socket)
  return {
    socket,
    messages,
    value: (address) => messages.findLast((message) => message.address === address)?.args[0],
    send: (message) => void socket.write(toFrame(toBytes(message))),
  }
}

/** Collects the messages that arrive over a TCP connection. */
export function collectFrames(socket: Socket): ReceivedMessage[] {
  const messages: ReceivedMessage[] = []
  const reader = new FrameReader()
  socket.on('data', (chunk) => {
    for (const packet of reader.read(chunk) ?? []) messages.push(...(decodePacket(packet) ?? []))
  })
  return messages
}

function toBytes(message: OscMessage | Uint8Array): Uint8Array {
  return message instanceof Uint8Array ? message : encodeMessage(message)
}
