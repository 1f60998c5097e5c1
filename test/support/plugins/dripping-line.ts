/** A line to a device on which what the device sends arrives slowly, byte by byte. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestEnd } from '../cleanup.ts'

const everyMs = 100

/** Returns the address of the line. As long as it does not drip, everything arrives at once. */
export async function openDrippingLine(deviceUrl: string, isDripping = () => true): Promise<string> {
  const { protocol, hostname, port } = new URL(deviceUrl)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const device = connect(Number(port), hostname)
    let waiting = Buffer.alloc(0)
    device.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes])
      if (!isDripping()) flush()
    })
    const flush = (count = waiting.length) => {
      client.write(waiting.subarray(0, count))
      waiting = waiting.subarray(count)
    }
    const timer = setInterval(() => flush(1), everyMs)
    client.on('data', (bytes) => device.write(bytes))
    for (const [socket, other] of [
      [client, device],
      [device, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        clearInterval(timer)
        other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`
}
