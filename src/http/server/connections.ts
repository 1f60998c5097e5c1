/** Limits the number of all connections, and the share of each address. */

import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from '../../domain/access/limits.ts'
import { clientKey } from '../../domain/identity/address.ts'

/** Returns the maximum number of file descriptors of this process; null if unknown. */
export function descriptorLimit(): number | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? null : Number(limit)
  } catch {
    return null
  }
}

export interface Connections {
  /** True while the address has more connections in use than its share. Requests on this one are refused. */
  isExcess(socket: Socket): boolean
  /** Returns the socket of the connection on which TLS has this socket. */
  acceptedSocket(tlsSocket: Socket): Socket | undefined
}

interface Connection {
  readonly socket: Socket
  readonly ofAddress: AddressConnections
  /** Requests without a complete response. */
  pending: number
  isExcess: boolean
}

class AddressConnections {
  /** Connections that have not sent a request yet, in order of arrival. */
  readonly unused = new Set<Connection>()
  /** Connections that have sent requests, in the order in which they were last used. */
  readonly used = new Set<Connection>()
  readonly upgraded = new Set<Connection>()

  get count(): number {
    return this.unused.size + this.used.size + this.upgraded.size
  }

  move(connection: Connection, to: Set<Connection> | null): void {
    for (const list of [this.unused, this.used, this.upgraded]) list.delete(connection)
    to?.add(connection)
  }

  /** Returns the connection that has been idle for the longest time; null if all are in use. */
  findIdle(): Connection | null {
    for (const connection of this.used) if (connection.pending === 0) return connection
    const [oldest = null] = this.unused
    return this.unused.size > maxExcess ? oldest : null
  }
}

/** How many connections beyond its share wait to be refused, so that the client reads why. */
const maxExcess = 8

/**
 * Limits the number of connections. When an address exceeds its share, or has too many connections that have not sent a
 * request yet, its connection that has been idle for the longest time is closed. All clients behind a trusted proxy have
 * the proxy's address, so it may exceed its share.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  isTrusted: (address: string) => boolean,
): Connections {
  server.maxConnections = limits.connections
  const byAddress = new Map<string, AddressConnections>()
  /** By address and port: with TLS, requests have another socket than the `connection` event. */
  const byPort = new Map<string, Connection>()

  const close = (connection: Connection) => {
    connection.ofAddress.move(connection, null)
    connection.socket.destroy()
  }
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket
    const [address, port] = [clientKey(remoteAddress), portOf(socket)]
    const ofAddress = byAddress.get(address) ?? new AddressConnections()
    const connection: Connection = { socket, ofAddress, pending: 0, isExcess: false }
    byAddress.set(address, ofAddress)
    byPort.set(port, connection)
    ofAddress.unused.add(connection)
    socket.once('close', () => {
      byPort.delete(port)
      ofAddress.move(connection, null)
      if (ofAddress.count === 0 && byAddress.get(address) === ofAddress) byAddress.delete(address)
    })
    const [oldest] = ofAddress.unused
    if (oldest !== undefined && ofAddress.unused.size > limits.unusedPerAddress) close(oldest)
    else if (ofAddress.count > limits.connectionsPerAddress && !isTrusted(remoteAddress)) {
      const idle = ofAddress.findIdle()
      if (idle === null) connection.isExcess = true
      else close(idle)
    }
  })
  const onRequest = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = byPort.get(portOf(socket))
    if (connection === undefined) return
    const { ofAddress } = connection
    connection.pending += 1
    ofAddress.move(connection, ofAddress.used)
    response.once('close', () => {
      connection.pending -= 1
      if (ofAddress.used.has(connection)) ofAddress.move(connection, ofAddress.used)
    })
  }
  server.on('request', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('upgrade', ({ socket }) => {
    const connection = byPort.get(portOf(socket))
    connection?.ofAddress.move(connection, connection.ofAddress.upgraded)
  })
  return {
    isExcess: (socket) => byPort.get(portOf(socket))?.isExcess === true,
    acceptedSocket: (tlsSocket) => byPort.get(portOf(tlsSocket))?.socket,
  }
}

function portOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
