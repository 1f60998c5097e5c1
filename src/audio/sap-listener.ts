/** Receives announcements of streams. */

import { createSocket, type Socket } from 'node:dgram'
import { platform } from 'node:os'
import { inflateSync } from 'node:zlib'
import { parseSap, type SapDecoders, sapGroups, sapPort } from '../domain/audio/sap.ts'
import { parseSdp } from '../domain/audio/sdp.ts'
import { isOnNetwork, type LocalAddress } from '../domain/identity/network.ts'
import { SearchProblems } from './search-problems.ts'
import type { Announcement, SearchStatus } from './worker-messages.ts'

/** More are discarded: the list is limited to a few hundred streams, and each is announced every few seconds. */
const maxPacketsPerSecond = 200

export class SapListener {
  readonly #interfaces: readonly LocalAddress[]
  readonly #onAnnouncement: (announcement: Announcement) => void
  readonly #onWarning: (message: string) => void
  readonly #sockets: Socket[]
  readonly #problems = new SearchProblems()
  #received = 0
  #discarded = 0
  #second = 0
  #packetsInSecond = 0

  constructor(
    interfaces: readonly LocalAddress[],
    onAnnouncement: (announcement: Announcement) => void,
    onWarning: (message: string) => void,
  ) {
    this.#interfaces = interfaces
    this.#onAnnouncement = onAnnouncement
    this.#onWarning = onWarning
    this.#sockets = sapGroups.map((group) => this.#open(group))
  }

  get status(): SearchStatus {
    return { received: this.#received, discarded: this.#discarded, problems: this.#problems.list() }
  }

  close(): void {
    for (const socket of this.#sockets.splice(0)) socket.close()
  }

  #open(group: string): Socket {
    const socket = createSocket({ type: 'udp4', reuseAddr: true })
    const fail = ({ message }: Error) => {
      this.#problems.add(group, `Announcements cannot be received: ${message}.`)
      this.#onWarning(`announcements to ${group} cannot be received: ${message}`)
    }
    socket.on('error', fail)
    socket.on('message', (packet, { address }) => this.#receive(packet, address))
    socket.bind({ address: platform() === 'win32' ? '0.0.0.0' : group, port: sapPort }, () => {
      for (const { address } of this.#interfaces) {
        try {
          socket.addMembership(group, address)
        } catch (error) {
          fail(error as Error)
        }
      }
    })
    return socket
  }

  #receive(packet: Buffer, sender: string): void {
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#packetsInSecond = 0
    }
    this.#received++
    if (++this.#packetsInSecond > maxPacketsPerSecond) {
      this.#discarded++
      return
    }
    const message = parseSap(packet, decoders)
    if (message === null) {
      this.#problems.add(sender, 'The announcement is encrypted, damaged or no description of a stream (SAP).')
      return
    }
    const origin = { source: 'sap', sender, interface: this.#interfaceOf(sender) } as const
    if (message.type === 'deletion') {
      this.#onAnnouncement({ ...message, ...origin })
      return
    }
    const parsed = parseSdp(message.sdp)
    if ('streams' in parsed) this.#onAnnouncement({ type: 'announcement', streams: parsed.streams, ...origin })
    else this.#problems.add(sender, `The description (SDP) cannot be used: ${parsed.error}.`)
  }

  /** The system does not say where a packet arrived, but a sender is usually in the network of the interface. */
  #interfaceOf(sender: string): string | null {
    return this.#interfaces.find((local) => isOnNetwork(local, sender))?.address ?? null
  }
}

function inflate(bytes: Uint8Array, maxOutputLength: number): Uint8Array | null {
  try {
    return inflateSync(bytes, { maxOutputLength })
  } catch {
    return null
  }
}

const decoders: SapDecoders = { inflate, decode: (bytes) => Buffer.from(bytes).toString() }
