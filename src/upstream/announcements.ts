/** Asks the networks this machine is in who offers a service, over multicast DNS, and gathers the answers for a while. */

import { createSocket, type Socket } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { type DnsRecord, encodeQuestion, parseRecords, type Service, toServices } from './dns-sd.ts'

export interface BrowseOptions {
  /** Such as `_ssc._udp`. */
  readonly types: readonly string[]
  readonly forMs: number
  readonly signal: AbortSignal
  /** Where the question goes; the multicast group unless told. */
  readonly group?: { readonly address: string; readonly port: number }
  /** This machine's own addresses to ask from; one of every network unless told. */
  readonly from?: readonly string[]
}

const multicastDns = { address: '224.0.0.251', port: 5353 }
const maxRecords = 10_000
/** An answer may get lost, and so may a question. */
const askEveryMs = 1000

/** A network that cannot be asked is passed over: who is there is found by their addresses as well. */
export async function browse(options: BrowseOptions): Promise<Service[]> {
  const { types, forMs, signal, group = multicastDns, from = ownAddresses() } = options
  if (types.length === 0) return []
  const records: DnsRecord[] = []
  const sockets = from.map((address) => {
    const socket = createSocket({ type: 'udp4', reuseAddr: true })
    socket.on('error', () => {})
    socket.on('message', (message) => {
      if (records.length < maxRecords) records.push(...parseRecords(message))
    })
    // Not from the port of multicast DNS itself: answers then come to us alone, and nobody else's question is heard.
    socket.bind(0, address, () => becomeSender(socket, address))
    return socket
  })
  const question = encodeQuestion(types)
  try {
    for (let leftMs = forMs; leftMs > 0; leftMs -= askEveryMs) {
      for (const socket of sockets) ask(socket, question, group)
      await pause(Math.min(askEveryMs, leftMs), undefined, { signal })
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    for (const socket of sockets) socket.close()
  }
  return toServices(records, types)
}

function becomeSender(socket: Socket, address: string): void {
  try {
    socket.setMulticastInterface(address)
  } catch {
    // Asked all the same, by whatever way the system takes.
  }
}

function ask(socket: Socket, question: Buffer, { address, port }: { address: string; port: number }): void {
  try {
    socket.send(question, port, address, () => {})
  } catch {
    // Its network has gone.
  }
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  return all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address)
}
