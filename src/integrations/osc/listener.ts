/** Receives OSC packets over UDP and TCP on one port. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { OscConfig } from '../../config/integrations.ts'
import { type Bucket, fullBucket, takeToken } from '../../domain/access/limits.ts'
import { clientKey, isInNetwork, parseAddress, parseNetwork } from '../../domain/identity/address.ts'
import { decodePacket, FrameReader, type ReceivedMessage } from '../../domain/osc/packet.ts'
import { LruMap } from '../../platform/cache.ts'
import { ClientShares } from '../../platform/concurrency.ts'
import type { Log } from '../../platform/log.ts'
import { Topic } from '../../platform/topic.ts'
import { pause, untilAborted } from '../../platform/wait.ts'
import { createTcpPeer, type OscPeer, UdpPeers } from './peers.ts'

/** Where a message came from, and how to answer. */
export interface OscOrigin {
  /** IP address. */
  readonly address: string
  /** Identifies the sender's port or connection. */
  readonly key: string
  readonly isLoopback: boolean
  createPeer(): OscPeer
}

export interface PacketCounters {
  /** A malformed packet was dropped. */
  countBad(): void
  /** A packet was dropped because its sender sends too many. */
  countExcess(): void
}

type ListenAddress = NonNullable<OscConfig['listen']>

const retryMs = 5_000
const maxConnections = 64
/**
 * For all subscribers over UDP together, with a reserve below the promised 64 kB for bursts. The limit protects the
 * network, because the sender of a packet may be forged.
 */
const maxUdpBytesPerSecond = 60_000
/** A connection on which nothing arrives is closed: subscriptions end after 60 seconds. */
const idleMs = 120_000
/** Packets of an address beyond this rate are dropped before they are decoded. */
const packetRate = { perSecond: 1000, burst: 2000 }
/** Addresses whose rate is measured. More would need more memory, and the sender of a datagram may be forged. */
const maxSenders = 1000

export class OscListener {
  readonly received = new Topic<{ readonly message: ReceivedMessage; readonly origin: OscOrigin }>()
  /** Published with the key of a TCP connection that was closed. */
  readonly closed = new Topic<string>()
  readonly #address: ListenAddress
  readonly #counters: PacketCounters
  readonly #log: Log
  readonly #networks: readonly NonNullable<ReturnType<typeof parseNetwork>>[]
  readonly #buckets = new LruMap<string, Bucket>(maxSenders)
  /** Per address, because OSC has no sign-in. */
  readonly #connections = new ClientShares(maxConnections)
  readonly #udpPeers = new UdpPeers(maxUdpBytesPerSecond)
  #problem: string | null = null

  /** `accept`: the networks whose packets are read. */
  constructor(address: ListenAddress, accept: readonly string[], counters: PacketCounters, log: Log) {
    this.#address = address
    this.#counters = counters
    this.#log = log
    this.#networks = accept.flatMap((text) => parseNetwork(text) ?? [])
  }

  /** Why nothing is received; null if it is. */
  get problem(): string | null {
    return this.#problem
  }

  /** Listens until the signal aborts. If the port is in use, retries every few seconds. */
  async run(signal: AbortSignal): Promise<void> {
    const { host, port } = this.#address
    while (!signal.aborted) {
      try {
        await this.#listen(signal)
      } catch (error) {
        if (this.#problem === null) this.#log.error({ error: String(error) }, 'OSC packets cannot be received')
        const { code } = error as NodeJS.ErrnoException
        const reason = code === 'EADDRINUSE' ? 'the port is in use' : String(error)
        this.#problem = `OSC: cannot listen on ${host}:${port}: ${reason}.`
        await pause(retryMs, signal)
      }
    }
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const { host, port } = this.#address
    const udp = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4' })
    const sockets = new Set<Socket>()
    const tcp = createServer((socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      this.#serve(socket)
    })
    try {
      udp.bind(port, host)
      await once(udp, 'listening')
      tcp.listen(port, host)
      await once(tcp, 'listening')
      // Errors of single datagrams, such as an unreachable subscriber, end nothing.
      udp.on('error', () => {})
      tcp.on('error', (error) => this.#log.warn({ error: String(error) }, 'OSC connection could not be accepted'))
      udp.on('message', (bytes, { address, port: from }) => {
        const send = (packet: Uint8Array) => udp.send(packet, from, address, () => {})
        this.#receive(bytes, address, `udp:${address}:${from}`, () => this.#udpPeers.create(send))
      })
      this.#problem = null
      await untilAborted(signal)
    } finally {
      for (const socket of sockets) socket.destroy()
      tcp.close()
      udp.close()
    }
  }

  #serve(socket: Socket): void {
    const { remoteAddress: address = '', remotePort } = socket
    socket.on('error', () => {})
    const release = this.#isAccepted(address) ? this.#connections.take(clientKey(address)) : null
    if (release === null) {
      socket.destroy()
      return
    }
    const key = `tcp:${address}:${remotePort}`
    const reader = new FrameReader()
    socket.setTimeout(idleMs, () => socket.destroy())
    socket.once('close', () => {
      release()
      this.closed.publish(key)
    })
    socket.on('data', (chunk) => {
      const packets = reader.read(chunk)
      if (packets === null) {
        this.#counters.countBad()
        socket.destroy()
      }
      for (const packet of packets ?? []) this.#receive(packet, address, key, () => createTcpPeer(socket))
    })
  }

  #isAccepted(address: string): boolean {
    const bytes = parseAddress(address)
    return bytes !== null && this.#networks.some((network) => isInNetwork(bytes, network))
  }

  #receive(bytes: Uint8Array, address: string, key: string, createPeer: () => OscPeer): void {
    if (!this.#isAccepted(address)) return
    if (!this.#takeToken(address)) {
      this.#counters.countExcess()
      return
    }
    const messages = decodePacket(bytes)
    if (messages === null) this.#counters.countBad()
    const origin = { address, key, isLoopback: isLoopbackAddress(address), createPeer }
    for (const message of messages ?? []) this.received.publish({ message, origin })
  }

  /** Returns whether the rate of this address allows another packet. */
  #takeToken(address: string): boolean {
    const now = performance.now()
    const { bucket, waitMs } = takeToken(this.#buckets.get(address) ?? fullBucket(packetRate, now), packetRate, now)
    this.#buckets.set(address, bucket)
    return waitMs === 0
  }
}

const loopbackNetworks = ['127.0.0.0/8', '::1/128'].flatMap((text) => parseNetwork(text) ?? [])

function isLoopbackAddress(address: string): boolean {
  const bytes = parseAddress(address)
  return bytes !== null && loopbackNetworks.some((network) => isInNetwork(bytes, network))
}
