/** Receives the packets of one stream from the network. */

import { createSocket, type Socket } from 'node:dgram'
import { platform } from 'node:os'
import type { StreamLeg } from '../domain/audio/audio-stream.ts'
import { parseIpv4 } from '../domain/identity/network.ts'

const receiveBufferBytes = 4 * 1024 * 1024
const retryMs = 5000

export interface SocketEvents {
  onPacket(packet: Buffer): void
  /** Something that the operator can improve, although sound arrives. */
  onWarning(message: string): void
}

function isGroup(address: string): boolean {
  const number = parseIpv4(address) ?? 0
  return number >= 0xe0_00_00_00 && number < 0xf0_00_00_00
}

/** One socket for each leg: a socket can join only 20 groups. */
export class StreamSockets {
  readonly #legs: readonly StreamLeg[]
  readonly #interfaces: readonly string[]
  readonly #events: SocketEvents
  readonly #sockets: (Socket | null)[]
  readonly #problems: (string | null)[]
  readonly #retries = new Set<NodeJS.Timeout>()
  #isClosed = false

  constructor(legs: readonly StreamLeg[], interfaces: readonly string[], events: SocketEvents) {
    this.#legs = legs
    this.#interfaces = interfaces
    this.#events = events
    this.#sockets = legs.map(() => null)
    this.#problems = legs.map(() => null)
    for (const index of legs.keys()) this.#open(index)
  }

  /** Why none of the legs can be received; null if one can. */
  get problem(): string | null {
    return this.#problems.includes(null) ? null : (this.#problems[0] ?? null)
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#retries) clearTimeout(timer)
    for (const socket of this.#sockets) socket?.close()
  }

  #open(index: number): void {
    const leg = this.#legs[index]
    if (leg === undefined || this.#isClosed) return
    const { address, port, senders } = leg
    const socket = createSocket({ type: 'udp4', reuseAddr: isGroup(address), recvBufferSize: receiveBufferBytes })
    this.#sockets[index] = socket
    socket.on('error', (error) => this.#fail(index, socket, describeError(error, leg)))
    socket.on('message', (packet, { address: sender }) => {
      if (senders.length === 0 || senders.includes(sender)) this.#events.onPacket(packet)
    })
    socket.bind({ address: this.#bindAddress(address), port }, () => {
      this.#checkBuffer(socket)
      const problem = isGroup(address) ? this.#join(socket, leg) : null
      if (problem === null) this.#problems[index] = null
      else this.#fail(index, socket, problem)
    })
  }

  /** On Linux, a socket that is bound to any address also receives groups that others have joined. */
  #bindAddress(address: string): string {
    if (!isGroup(address) || platform() !== 'win32') return address
    return this.#interfaces[0] ?? '0.0.0.0'
  }

  /** Joins on each interface. Returns why that failed on all of them. */
  #join(socket: Socket, { address, senders }: StreamLeg): string | null {
    const interfaces = this.#interfaces.length > 0 ? this.#interfaces : [undefined]
    const problems = interfaces.flatMap((local) => {
      try {
        if (address.startsWith('232.') && senders.length > 0) {
          for (const sender of senders) socket.addSourceSpecificMembership(sender, address, local)
        } else socket.addMembership(address, local)
        return []
      } catch (error) {
        return [`${address} cannot be joined on ${local ?? 'any interface'}: ${(error as Error).message}.`]
      }
    })
    return problems.length < interfaces.length ? null : (problems[0] ?? null)
  }

  #checkBuffer(socket: Socket): void {
    const size = socket.getRecvBufferSize()
    if (size >= receiveBufferBytes) return
    this.#events.onWarning(
      `the receive buffer for audio has ${size} bytes instead of ${receiveBufferBytes}; raise net.core.rmem_max, or packets are lost when the machine is busy`,
    )
  }

  #fail(index: number, socket: Socket, problem: string): void {
    if (this.#isClosed || this.#sockets[index] !== socket) return
    this.#problems[index] = problem
    this.#sockets[index] = null
    socket.close()
    const timer = setTimeout(() => {
      this.#retries.delete(timer)
      this.#open(index)
    }, retryMs)
    this.#retries.add(timer)
  }
}

function describeError(error: NodeJS.ErrnoException, { address, port }: StreamLeg): string {
  if (error.code === 'EADDRNOTAVAIL') return `${address} is neither a multicast group nor an address of this machine.`
  if (error.code === 'EADDRINUSE') return `Port ${port} of ${address} is used by another program.`
  if (error.code === 'EACCES') return `Port ${port} of ${address} must not be used by Micwatch. Choose one above 1023.`
  return `${address}:${port} cannot be received: ${error.message}.`
}
