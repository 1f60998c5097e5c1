/** Limits the number of all connections, and for each address the number of those that have not sent a request yet. */

import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientKey } from '../../domain/identity/address.ts'
import type { ConnectionLimits } from '../../domain/scheduling/connection-limits.ts'

/** Returns the maximum number of file descriptors of this process; null if unknown. */
export function descriptorLimit(): number | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? null : Number(limit)
  } catch {
    return null
  }
}

/**
 * Limits the number of connections. When an address has too many connections that have not sent a complete request head
 * yet, the oldest of these is closed.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  server.maxConnections = limits.connections
  /**
   * Sockets by client address, then by client port, in order of arrival. They are found by port, because with TLS the
   * `connection` event has the TCP socket, but a request has the TLS socket.
   */
  const idleByAddress = new Map<string, Map<number, Socket>>()

  const forget = (address: string, port: number) => {
    const sockets = idleByAddress.get(address)
    if (sockets?.delete(port) && sockets.size === 0) idleByAddress.delete(address)
  }
  server.on('connection', (socket: Socket) => {
    const address = clientKey(socket.remoteAddress ?? '')
    const port = socket.remotePort ?? 0
    const sockets = idleByAddress.get(address) ?? new Map<number, Socket>()
    idleByAddress.set(address, sockets.set(port, socket))
    socket.once('close', () => forget(address, port))
    if (sockets.size <= limits.idlePerAddress) return
    const [oldest] = sockets.values()
    oldest?.destroy()
  })
  const onRequest = ({ socket }: IncomingMessage) => {
    if (idleByAddress.size > 0) forget(clientKey(socket.remoteAddress ?? ''), socket.remotePort ?? 0)
  }
  server.on('request', onRequest)
  server.on('upgrade', onRequest)
}
