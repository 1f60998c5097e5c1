/** UDP socket of a simulated device, with configurable packet loss, delay and garbage. */

import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

/** Destination or origin of a datagram. */
export type Peer = Pick<RemoteInfo, 'address' | 'port'>

export interface UdpSocketOptions {
  /** Local address; default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any free port. */
  readonly port?: number
  /** Default: utf8. With latin1, each character is one byte. */
  readonly encoding?: 'utf8' | 'latin1'
}

/** Simulated network conditions; may be changed at any time. */
export interface NetworkConditions {
  /**
   * The sent data. `none`: nothing, as if network control is off or the device is unplugged. `garbage`: only garbage,
   * as if another kind of device uses the address. `both`: garbage before every valid datagram.
   */
  content: 'valid' | 'none' | 'garbage' | 'both'
  /** Drops every n-th sent datagram; 0 drops none. */
  dropEvery: number
  /** Delay of every sent datagram. */
  delayMs: number
}

export interface SimulatedUdpSocket {
  readonly host: string
  readonly port: number
  readonly network: NetworkConditions
  /** Received datagrams, in order. */
  readonly received: readonly { readonly text: string; readonly from: Peer }[]
  send(text: string, to: Peer): void
  close(): Promise<void>
}

const garbage = '\u0000\ufffd{"osc": [RF1 a b c\r'

export async function openSimulatedUdpSocket(
  { host = '127.0.0.1', port = 0, encoding = 'utf8' }: UdpSocketOptions,
  onText: (text: string, from: Peer) => void,
): Promise<SimulatedUdpSocket> {
  // `reuseAddr`, because another process may have bound the port on all addresses.
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  const network: NetworkConditions = { content: 'valid', dropEvery: 0, delayMs: 0 }
  const received: { text: string; from: Peer }[] = []
  const timers = new Set<NodeJS.Timeout>()
  let sentCount = 0
  let isClosed = false

  socket.on('message', (bytes, from) => {
    const text = bytes.toString(encoding)
    received.push({ text, from: { address: from.address, port: from.port } })
    onText(text, from)
  })
  // The peer may have closed its socket before the reply arrives.
  socket.on('error', () => {})
  socket.bind(port, host)
  await once(socket, 'listening').catch((error) => {
    socket.close()
    throw error
  })

  const transmit = (text: string, to: Peer) => {
    if (isClosed) return
    const datagrams = { valid: [text], none: [], garbage: [garbage], both: [garbage, text] }[network.content]
    for (const datagram of datagrams) socket.send(Buffer.from(datagram, encoding), to.port, to.address, () => {})
  }
  return {
    host,
    port: socket.address().port,
    network,
    received,
    send(text, to) {
      sentCount += 1
      if (network.dropEvery > 0 && sentCount % network.dropEvery === 0) return
      if (network.delayMs === 0) return transmit(text, to)
      const timer = setTimeout(() => {
        timers.delete(timer)
        transmit(text, to)
      }, network.delayMs)
      timers.add(timer)
    },
    async close() {
      if (isClosed) return
      isClosed = true
      for (const timer of timers) clearTimeout(timer)
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
