/** A network that can break between the service and a system: everything goes through until it is told otherwise. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Certified } from '../certificates.ts'

export interface Network {
  readonly url: string
  /** Nobody listens any more; what is open is reset. */
  refuse(): Promise<void>
  /** Connections stay, and nothing passes either way. */
  blackhole(): void
  /** As it was, on the same port. */
  restore(): Promise<void>
  /** Ends what is open, and lets the next pass. */
  cut(): void
  /** Of a network with TLS: shows this certificate from now on, to everybody anew. */
  present(certified: Certified): void
  /** Connections the service has open. */
  readonly open: number
  /** Connections it has made so far. */
  readonly made: number
}

/** To the system at `target`, which speaks plainly; with a certificate the service speaks TLS to it. */
export async function startNetwork(
  atEnd: (close: () => unknown) => void,
  target: string,
  certified?: Certified,
): Promise<Network> {
  const { hostname, port } = new URL(target)
  const clients = new Set<Socket>()
  let isBlack = false
  let made = 0
  const lead = (client: Socket) => {
    const system = connect(Number(port), hostname)
    const end = () => {
      client.destroy()
      system.destroy()
    }
    for (const [from, to] of [
      [client, system],
      [system, client],
    ] as const) {
      from.on('data', (bytes) => isBlack || to.write(bytes))
      from.on('close', end).on('error', end)
    }
  }
  const tls = certified && createTlsServer(certified, lead)
  const server = tls ?? createServer(lead)
  // Before the handshake, if there is one: whoever is in the middle of it is reset as well.
  server.on('connection', (client: Socket) => {
    clients.add(client)
    made += 1
    client.on('error', () => {}).on('close', () => clients.delete(client))
  })
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }
  const reset = () => {
    for (const client of clients) {
      // Under TLS a socket has no reset of its own.
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
  await listen(0)
  const own = (server.address() as AddressInfo).port
  atEnd(refuse)
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${own}`,
    refuse,
    blackhole: () => {
      isBlack = true
    },
    async restore() {
      isBlack = false
      if (!server.listening) await listen(own)
    },
    cut: reset,
    present(next) {
      tls?.setSecureContext(next)
      reset()
    },
    get open() {
      return clients.size
    },
    get made() {
      return made
    },
  }
}
