/** The socket of a simulated device that speaks datagrams, and everything a network may do to them. */

import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

/** Where a datagram goes to or came from. */
export type Peer = Pick<RemoteInfo, 'address' | 'port'>

export interface DatagramOptions {
  /** An address of this machine, 127.0.0.1 unless told. */
  readonly host?: string
  /** 0, unless told: a free one. */
  readonly port?: number
}

/** May be changed at any time. */
export interface NetworkTrouble {
  /** Nothing: as a device whose network control is off, or that is unplugged. Nonsense: as another one at its address. */
  says: 'sense' | 'nothing' | 'nonsense' | 'both'
  /** Every so many-th datagram it sends is lost; 0: none. */
  losesEvery: number
  /** Each datagram it sends arrives that much later. */
  lateMs: number
}

export interface SimulatedDatagrams {
  readonly host: string
  readonly port: number
  readonly trouble: NetworkTrouble
  /** What arrived, in order. */
  readonly heard: readonly { readonly text: string; readonly from: Peer }[]
  say(text: string, to: Peer): void
  close(): Promise<void>
}

const nonsense = '\u0000\ufffd{"osc": [RF1 a b c\r'

export async function openSimulatedDatagrams(
  { host = '127.0.0.1', port = 0 }: DatagramOptions,
  onText: (text: string, from: Peer) => void,
): Promise<SimulatedDatagrams> {
  // Others of this machine may have bound the port for all its addresses.
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  const trouble: NetworkTrouble = { says: 'sense', losesEvery: 0, lateMs: 0 }
  const heard: { text: string; from: Peer }[] = []
  const timers = new Set<NodeJS.Timeout>()
  let said = 0
  let isClosed = false

  socket.on('message', (bytes, from) => {
    const text = bytes.toString('utf8')
    heard.push({ text, from: { address: from.address, port: from.port } })
    onText(text, from)
  })
  // Who asked may be gone by the time it is answered.
  socket.on('error', () => {})
  socket.bind(port, host)
  await once(socket, 'listening').catch((error) => {
    socket.close()
    throw error
  })

  const send = (text: string, to: Peer) => {
    if (isClosed) return
    const isSaid = { sense: [text], nothing: [], nonsense: [nonsense], both: [nonsense, text] }[trouble.says]
    for (const one of isSaid) socket.send(one, to.port, to.address, () => {})
  }
  return {
    host,
    port: socket.address().port,
    trouble,
    heard,
    say(text, to) {
      said += 1
      if (trouble.losesEvery > 0 && said % trouble.losesEvery === 0) return
      if (trouble.lateMs === 0) return send(text, to)
      const timer = setTimeout(() => {
        timers.delete(timer)
        send(text, to)
      }, trouble.lateMs)
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
