/** A TCP proxy between the service and a system, which can simulate network faults. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { freePort } from '../../../scripts/free-port.ts'
import type { Certificate } from '../certificates.ts'

export interface Network {
  readonly url: string
  /** Refuses new connections and resets open ones. */
  refuse(): Promise<void>
  /** Keeps connections open and drops all data in both directions. */
  blackhole(): void
  /** Resumes normal operation, on the same port. */
  restore(): Promise<void>
  /** Closes open connections and accepts new ones. */
  closeConnections(): void
  /** Uses this certificate for new connections from now on; has no effect without TLS. */
  setCertificate(certificate: Certificate): void
  /** Number of open connections of the service. */
  readonly open: number
  /** Number of connections that the service has opened so far. */
  readonly created: number
}

/** Forwards to the system at `target` over plain TCP. With a certificate, the service has to connect over TLS. */
export async function startNetwork(
  onTestEnd: (close: () => unknown) => void,
  target: string,
  certificate?: Certificate,
): Promise<Network> {
  const { hostname, port } = new URL(target)
  const clients = new Set<Socket>()
  let dropsData = false
  let created = 0
  const forward = (client: Socket) => {
    const system = connect(Number(port), hostname)
    const end = () => {
      client.destroy()
      system.destroy()
    }
    for (const [from, to] of [
      [client, system],
      [system, client],
    ] as const) {
      from.on('data', (bytes) => dropsData || to.write(bytes))
      from.on('close', end).on('error', end)
    }
  }
  const tls = certificate && createTlsServer(certificate, forward)
  const server = tls ?? createServer(forward)
  // Connections are added to `clients` before their TLS handshake, so that those in a handshake are reset as well.
  server.on('connection', (client: Socket) => {
    clients.add(client)
    created += 1
    client.on('error', () => {}).on('close', () => clients.delete(client))
  })
  const listenPort = await freePort()
  const listen = async () => {
    server.listen(listenPort, '127.0.0.1')
    await once(server, 'listening')
  }
  const reset = () => {
    for (const client of clients) {
      if (tls === undefined) client.resetAndDestroy()
      else client.destroy()
    }
  }
  const refuse = async () => {
    reset()
    if (!server.listening) return
    server.close()
    reset()
    await once(server, 'close')
  }
  await listen()
  onTestEnd(refuse)
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${listenPort}`,
    refuse,
    blackhole: () => {
      dropsData = true
    },
    async restore() {
      dropsData = false
      if (!server.listening) await listen()
    },
    closeConnections: reset,
    setCertificate(next) {
      tls?.setSecureContext(next)
      reset()
    },
    get open() {
      return clients.size
    },
    get created() {
      return created
    },
  }
}
