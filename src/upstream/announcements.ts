/** Device discovery on the local networks: multicast DNS queries, and announcements that devices send on their own. */

import { createSocket, type Socket } from 'node:dgram'
import { setTimeout as pause } from 'node:timers/promises'
import multicastDns, { type MulticastDNS, type ResponsePacket } from 'multicast-dns'
import type { LocalAddress } from '../domain/identity/network.ts'
import { type DnsRecord, type Service, toServices } from './dns-sd.ts'

export interface MulticastGroup {
  readonly address: string
  readonly port: number
}

export interface BrowseOptions {
  /** For example `_ssc._udp`. */
  readonly types: readonly string[]
  readonly forMs: number
  readonly signal: AbortSignal
  /** Default: the mDNS multicast group. */
  readonly group?: MulticastGroup
  /** The local addresses to send from. */
  readonly from: readonly LocalAddress[]
}

/** A service, and the interfaces on which it was announced. */
export interface AnnouncedService extends Service {
  readonly interfaces: readonly string[]
}

const mdnsGroup = { address: '224.0.0.251', port: 5353 }
const maxRecords = 10_000
/** More devices than any installation has. Limits the memory that forged sender addresses can use. */
const maxSenders = 4_096
/** The query is repeated because UDP datagrams may be lost. */
const queryEveryMs = 1000

/**
 * Queries the local networks for services. On abort, returns early with the services found so far. Networks that cannot
 * be queried are skipped; a scan also contacts each address directly, so their devices can still be found.
 */
export async function browse(options: BrowseOptions): Promise<AnnouncedService[]> {
  const { types, forMs, signal, group = mdnsGroup, from } = options
  if (types.length === 0) return []
  const networks = from.map(({ address, interfaceName }) => ({ address, interfaceName, records: [] as DnsRecord[] }))
  const browsers = networks.map(({ address, records }) =>
    openBrowser(address, ({ answers, additionals }) => {
      const room = maxRecords - records.length
      records.push(...[...answers, ...additionals].slice(0, Math.max(0, room)))
    }),
  )
  const questions = types.map((type) => ({ name: `${type}.local`, type: 'PTR' as const }))
  try {
    for (let remainingMs = forMs; remainingMs > 0 && !signal.aborted; remainingMs -= queryEveryMs) {
      for (const browser of browsers) browser.query({ questions }, group)
      await waitFor(Math.min(queryEveryMs, remainingMs), signal)
    }
  } finally {
    for (const browser of browsers) browser.destroy()
  }
  return networks.flatMap(({ interfaceName, records }) =>
    toServices(records, types).map((service) => ({ ...service, interfaces: [interfaceName] })),
  )
}

/**
 * Opens a socket on the network of this local address. Its port is not 5353, so that responses are sent only to this
 * socket (RFC 6762 §6.7) and it receives no other queries.
 */
function openBrowser(address: string, onResponse: (response: ResponsePacket) => void): MulticastDNS {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  socket.bind(0, address, () => setMulticastInterface(socket, address))
  const browser = multicastDns({ socket, bind: false, multicast: false })
  // A network that cannot be queried, or a message that cannot be decoded, is ignored.
  browser.on('error', () => {})
  browser.on('warning', () => {})
  browser.on('response', onResponse)
  return browser
}

export interface BeaconOptions {
  readonly group: MulticastGroup
  readonly forMs: number
  readonly signal: AbortSignal
  /** The local addresses to listen on. */
  readonly from: readonly LocalAddress[]
  /** Sent to the group from every address. */
  readonly request?: Buffer | undefined
}

/**
 * Returns the last announcement of each sender, by IP address. On abort, returns early with the announcements so far.
 */
export async function listenForBeacons<T>(
  { group, forMs, signal, from, request }: BeaconOptions,
  read: (datagram: Buffer, ip: string) => T | null,
): Promise<ReadonlyMap<string, T>> {
  const announcements = new Map<string, T>()
  // Other processes on this machine may listen on the same port.
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  socket.on('error', () => {})
  socket.on('message', (datagram, { address }) => {
    if (announcements.size >= maxSenders && !announcements.has(address)) return
    const announcement = read(datagram, address)
    if (announcement !== null) announcements.set(address, announcement)
  })
  socket.bind(group.port, () => {
    for (const { address } of from) join(socket, group.address, address)
    if (request !== undefined) sendFromAll(socket, group, from, request).catch(() => {})
  })
  try {
    await waitFor(forMs, signal)
    return announcements
  } finally {
    socket.close()
  }
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {})
}

async function sendFromAll(
  socket: Socket,
  group: MulticastGroup,
  from: readonly LocalAddress[],
  request: Buffer,
): Promise<void> {
  for (const { address } of from) {
    setMulticastInterface(socket, address)
    // An unreachable network does not prevent sending from the other addresses.
    await new Promise<void>((resolve) => socket.send(request, group.port, group.address, () => resolve()))
  }
}

function join(socket: Socket, group: string, address: string): void {
  try {
    socket.addMembership(group, address)
  } catch {
    // The network does not support multicast, or the interface is down.
  }
}

function setMulticastInterface(socket: Socket, address: string): void {
  try {
    socket.setMulticastInterface(address)
  } catch {
    // The query is still sent, on the interface that the system chooses.
  }
}
