/** An instrument behind a bridge from TCP to its serial port: one client at a time. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Serves one client, until the stream closes. */
export type Serve = (stream: Duplex) => void

export interface TcpInstrument {
  readonly url: string
  readonly clients: number
  /** Cuts the connection; `stays` refuses new ones until it is plugged in. */
  unplug(stays?: boolean): void
  plugIn(): void
  close(): Promise<void>
}

export async function startTcpInstrument(serve: Serve): Promise<TcpInstrument> {
  const sockets = new Set<Socket>()
  let isUnplugged = false
  const server = createServer((socket) => {
    if (isUnplugged) return void socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    serve(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `tcp://127.0.0.1:${port}`,
    get clients() {
      return sockets.size
    },
    unplug(stays = false) {
      isUnplugged = stays
      for (const socket of sockets) socket.destroy()
    },
    plugIn() {
      isUnplugged = false
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
