/** What devices tell the networks this machine is in: asked over multicast DNS who offers a service, or unasked. */

import { createSocket, type Socket } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { type DnsRecord, encodeQuestion, parseRecords, type Service, toServices } from './dns-sd.ts'

export interface MulticastGroup {
  readonly address: string
  readonly port: number
}

export interface BrowseOptions {
  /** Such as `_ssc._udp`. */
  readonly types: readonly string[]
  readonly forMs: number
  readonly signal: AbortSignal
  /** Where the question goes; the multicast group unless told. */
  readonly group?: MulticastGroup
  /** This machine's own addresses to ask from; one of every network unless told. */
  readonly from?: readonly string[]
}

const multicastDns = { address: '224.0.0.251', port: 5353 }
const maxRecords = 10_000
/** Nobody has more devices; whoever makes up addresses gets no further. */
const maxSenders = 4_096
/** An answer may get lost, and so may a question. */
const askEveryMs = 1000

/**
 * Ends early on abort, with what was answered until then. A network that cannot be asked is passed over: who is there is
 * found by their addresses as well.
 */
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
    for (let leftMs = forMs; leftMs > 0 && !signal.aborted; leftMs -= askEveryMs) {
      for (const socket of sockets) ask(socket, question, group)
      await listenFor(Math.min(askEveryMs, leftMs), signal)
    }
  } finally {
    for (const socket of sockets) socket.close()
  }
  return toServices(records, types)
}

export interface BeaconOptions {
  readonly group: MulticastGroup
  readonly forMs: number
  readonly signal: AbortSignal
  /** This machine's own addresses to listen at; one of every network unless told. */
  readonly from?: readonly string[]
}

/** What was last sent to the group meanwhile, by the address of whoever sent it. Ends early on abort, with that. */
export async function listenForBeacons<T>(
  { group, forMs, signal, from = ownAddresses() }: BeaconOptions,
  read: (datagram: Buffer, ip: string) => T | null,
): Promise<ReadonlyMap<string, T>> {
  const heard = new Map<string, T>()
  // Others on this machine may listen too.
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  socket.on('error', () => {})
  socket.on('message', (datagram, { address }) => {
    if (heard.size >= maxSenders && !heard.has(address)) return
    const told = read(datagram, address)
    if (told !== null) heard.set(address, told)
  })
  socket.bind(group.port, () => {
    for (const address of from) join(socket, group.address, address)
  })
  try {
    await listenFor(forMs, signal)
    return heard
  } finally {
    socket.close()
  }
}

/** Until the time is up, or the signal aborts. */
async function listenFor(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {})
}

function join(socket: Socket, group: string, address: string): void {
  try {
    socket.addMembership(group, address)
  } catch {
    // A network without multicast, or one that has gone.
  }
}

function becomeSender(socket: Socket, address: string): void {
  try {
    socket.setMulticastInterface(address)
  } catch {
    // Asked all the same, by whatever way the system takes.
  }
}

function ask(socket: Socket, question: Buffer, { address, port }: MulticastGroup): void {
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
