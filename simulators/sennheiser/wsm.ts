/**
 * Simulates an ew G3 receiver with firmware before 1.7 on a real socket, as observed by public projects. It sends to
 * the port on which it listens, and forgets a client that has not registered for five seconds. It sends its meters
 * about twelve times a second, its identity every five seconds, and its configuration on request and after a change.
 */

import { openSimulatedUdpSocket, type Peer, type SimulatedUdpSocket, type UdpSocketOptions } from './simulated-udp.ts'

export interface WsmState {
  /** Up to eight characters. */
  name: string
  frequencyKhz: number
  isMuted: boolean
  /** 0 without a transmitter, up to 4 for a full battery. */
  battery: number
  antenna: 1 | 2
}

export interface WsmSimulatorOptions extends UdpSocketOptions {
  readonly mac?: string
  /** For example `EM300G3`. */
  readonly model?: string
  readonly state?: Partial<WsmState>
  /** A client is forgotten this long after it has registered. Default: 5 s. */
  readonly registrationMs?: number
}

export interface WsmSimulator {
  readonly url: string
  readonly udp: SimulatedUdpSocket
  /** The number of registered clients. */
  readonly subscriptions: number
  readonly state: Readonly<WsmState>
  set(changes: Partial<WsmState>): void
  close(): Promise<void>
}

const metersEveryMs = 80
const identityEveryMs = 5_000

export async function startWsmSimulator(options: WsmSimulatorOptions = {}): Promise<WsmSimulator> {
  const { mac = '00:1B:66:7A:8E:DB', model = 'EM300G3', registrationMs = 5_000 } = options
  const state: WsmState = {
    name: 'ew300 G3',
    frequencyKhz: 606_500,
    isMuted: false,
    battery: 4,
    antenna: 1,
    ...options.state,
  }
  const clients = new Map<string, { readonly peer: Peer; registeredAt: number }>()
  const udp = await openSimulatedUdpSocket({ ...options, encoding: 'latin1' }, (text, { address }) => {
    const peer = { address, port: udp.port }
    if (text.startsWith('\x4f\x1f\xf1\xca') && text.length === 18) {
      if (!clients.has(address)) udp.send(identity(), peer)
      clients.set(address, { peer, registeredAt: Date.now() })
      udp.send(acknowledgement(text.slice(4, 8)), peer)
    } else if (text.startsWith('\xa4\xfd\xf7\xca') && clients.has(address)) {
      udp.send(configuration(), peer)
      // The device also sends the results of its RF scan.
      udp.send(`${header('\xf9\xf8\xf7\xca')}${'\x00'.repeat(98)}`, peer)
    }
  })
  const macBytes = String.fromCharCode(...mac.split(':').map((byte) => Number.parseInt(byte, 16)))

  function header(type: string): string {
    return `${type}\x00${macBytes}\x01`
  }
  function identity(): string {
    const id = mac.replaceAll(':', '')
    return `\x00\x25\x12\x06Model=${model}   ID=${id}   IPA=${udp.host}`.padEnd(85, '\x00')
  }
  function configuration(): string {
    const body = Buffer.alloc(123)
    body.write(state.name.padEnd(8), 0, 8, 'latin1')
    body.writeUInt32LE(state.frequencyKhz, 8)
    body.set([20, 1, 8, 0, Number(state.isMuted), 6], 12)
    return header('\xc8\xfc\xf7\xca') + body.toString('latin1')
  }
  function meters(): string {
    const isOn = state.battery > 0
    const body = Buffer.alloc(28)
    body.writeUInt8(state.battery, 0)
    body.writeUInt8(isOn ? state.antenna : 0, 4)
    if (isOn) body.set([225, 2, 37, 0, 0, 218, 1, 251], 5)
    return header('\x29\xf8\xf7\xca') + body.toString('latin1')
  }
  function acknowledgement(client: string): string {
    return `${header('\x88\x23\xf1\xca')}${'\x00'.repeat(18)}${client}${'\x01'.repeat(7)}`
  }
  const sendToAll = (text: string) => {
    for (const [address, { peer, registeredAt }] of clients) {
      if (Date.now() - registeredAt > registrationMs) clients.delete(address)
      else udp.send(text, peer)
    }
  }
  const timers = [
    setInterval(() => sendToAll(meters()), metersEveryMs),
    setInterval(() => sendToAll(identity()), identityEveryMs),
  ]
  return {
    url: `wsm://${udp.host}:${udp.port}`,
    udp,
    get subscriptions() {
      return clients.size
    },
    state,
    set(changes) {
      const before = configuration()
      Object.assign(state, changes)
      if (configuration() !== before) sendToAll(configuration())
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      await udp.close()
    },
  }
}
