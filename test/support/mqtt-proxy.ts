/** Passes MQTT packets between clients and a real broker, and changes or drops some: for brokers that behave otherwise. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestEnd } from './cleanup.ts'

export interface MqttProxyOptions {
  /** Closes the connections of clients that use a newer protocol; 4 is MQTT 3.1.1. */
  readonly maxVersion?: number
  /** Returns what the client is sent in place of a packet of the broker; null for nothing. */
  fromBroker?(packet: Buffer): Buffer | null
}

const [connectType, typeMask] = [0x10, 0xf0]
export const packetTypes = { connack: 0x20, puback: 0x40, suback: 0x90 } as const

export function typeOf(packet: Buffer): number {
  return (packet[0] ?? 0) & typeMask
}

/** Returns the port. `versions` are the protocol versions that clients have used. */
export async function startMqttProxy(brokerPort: number, { maxVersion = 5, fromBroker }: MqttProxyOptions) {
  const sockets = new Set<Socket>()
  const versions: number[] = []
  const server = createServer((client) => {
    const broker = connect(brokerPort, '127.0.0.1')
    for (const [one, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {}).on('close', () => other.destroy())
    }
    onPackets(client, (packet) => {
      if (typeOf(packet) === connectType) versions.push(versionOf(packet))
      if (typeOf(packet) === connectType && versionOf(packet) > maxVersion) client.destroy()
      else broker.write(packet)
    })
    onPackets(broker, (packet) => {
      const changed = fromBroker === undefined ? packet : fromBroker(packet)
      if (changed !== null) client.write(changed)
    })
  }).listen(0, '127.0.0.1')
  onTestEnd(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, 'listening')
  return { port: (server.address() as { port: number }).port, versions }
}

/** The protocol version follows the fixed header and the name of the protocol, MQTT with its length. */
function versionOf(packet: Buffer): number {
  return packet[headerLengthOf(packet) + 6] ?? 0
}

function headerLengthOf(packet: Buffer): number {
  let length = 2
  while (((packet[length - 1] ?? 0) & 0x80) !== 0) length += 1
  return length
}

function onPackets(socket: Socket, received: (packet: Buffer) => void): void {
  let pending: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk])
    for (let length = packetLengthOf(pending); length !== null; length = packetLengthOf(pending)) {
      received(pending.subarray(0, length))
      pending = pending.subarray(length)
    }
  })
}

/** Returns the length of the first packet; null if it is not complete. */
function packetLengthOf(bytes: Buffer): number | null {
  let remaining = 0
  for (let index = 1; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    remaining += (byte & 0x7f) * 128 ** (index - 1)
    if ((byte & 0x80) === 0) return bytes.length < index + 1 + remaining ? null : index + 1 + remaining
  }
  return null
}
