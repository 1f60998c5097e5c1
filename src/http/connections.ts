/** How many may be connected: in all, and of one address without having asked for anything. */

import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientKey } from '../model/address.ts'
import type { ConnectionLimits } from '../model/connection-limits.ts'

/** What the system lets this process open; null where it does not say. */
export function descriptorLimit(): number | null {
  try {
    const told = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return told === undefined ? null : Number(told)
  } catch {
    return null
  }
}

/** Of those of one address that have not sent a whole request head, the oldest goes when there are too many. */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  server.maxConnections = limits.connections
  /** By address; in order of arrival, under the port, which is the same above and below TLS. */
  const silent = new Map<string, Map<number, Socket>>()

  const forget = (address: string, port: number) => {
    const own = silent.get(address)
    if (own?.delete(port) && own.size === 0) silent.delete(address)
  }
  server.on('connection', (socket: Socket) => {
    const address = clientKey(socket.remoteAddress ?? '')
    const port = socket.remotePort ?? 0
    const own = silent.get(address) ?? new Map<number, Socket>()
    silent.set(address, own.set(port, socket))
    socket.once('close', () => forget(address, port))
    if (own.size <= limits.idlePerAddress) return
    const [oldest] = own.values()
    oldest?.destroy()
  })
  const heard = ({ socket }: IncomingMessage) => {
    if (silent.size > 0) forget(clientKey(socket.remoteAddress ?? ''), socket.remotePort ?? 0)
  }
  server.on('request', heard)
  server.on('upgrade', heard)
}
