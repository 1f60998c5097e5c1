/**
 * Decides which IP addresses requests may be sent to. Private, loopback and link-local addresses are allowed. Cloud
 * metadata services, this process's own listeners, and multicast, broadcast and unspecified addresses are always
 * blocked.
 */

import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import ipaddr from 'ipaddr.js'
import type { buildConnector } from 'undici'
import { certificateError, readPeerFingerprint, type Trust, tlsOptions } from './certificate.ts'

export interface Destinations {
  /** Blocks an address on which this process listens, so that it sends no requests to itself. */
  blockListener(host: string, port: number): void
  /** `address` is an IP address, not a host name. */
  isBlocked(address: string, port: number): boolean
  /**
   * Resolves a host name. Parallel lookups of one name are shared, so that a hanging resolver blocks only one thread
   * per name.
   */
  resolve(hostname: string, options?: LookupOptions): Promise<readonly LookupAddress[]>
}

type Address = ReturnType<typeof ipaddr.parse>

/**
 * Metadata services of clouds. A user who can configure an address must not be able to read the machine's credentials.
 * Other link-local addresses are allowed here, because audio networks without DHCP use them.
 */
const metadataNetworks = [
  '169.254.169.254/32', // most clouds
  '169.254.170.2/32', // Amazon ECS
  '169.254.170.23/32', // Amazon EKS
  'fd00:ec2::/32', // Amazon
  '169.254.169.252/32', // Google Kubernetes Engine
  'fd20:ce::/64', // Google
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle
  '100.100.100.200/32', // Alibaba
  '169.254.0.23/32', // Tencent
  '169.254.42.42/32', // Scaleway
  'fd00:42::42/128', // Scaleway
  'fd00:a9fe:a9fe::1/128', // Linode
].map((network) => ipaddr.parseCIDR(network))

export function createDestinations(): Destinations {
  const listeners: { readonly host: string; readonly port: number }[] = []
  const pendingLookups = new Map<string, Promise<LookupAddress[]>>()
  const isOwnListener = (address: string, port: number) =>
    listeners.some(
      (listener) =>
        listener.port === port &&
        (listener.host === address || (isUnspecified(listener.host) && isLocalAddress(address))),
    )
  return {
    blockListener: (host, port) => void listeners.push({ host: isIP(host) === 0 ? host : canonical(host), port }),
    isBlocked: (text, port) =>
      listTargets(text).some((target) => {
        const range = target.range()
        const isInvalid = range === 'multicast' || range === 'broadcast' || range === 'unspecified'
        return isInvalid || isMetadata(target) || isOwnListener(target.toString(), port)
      }),
    resolve(hostname, { family = 0, hints = 0 } = {}) {
      const key = `${hostname} ${family} ${hints}`
      const pendingLookup =
        pendingLookups.get(key) ?? lookUp(hostname, { family, hints }).finally(() => pendingLookups.delete(key))
      pendingLookups.set(key, pendingLookup)
      return pendingLookup
    },
  }
}

/** Also blocks link-local addresses, for services that are not audio hardware. */
export function withoutLinkLocal(destinations: Destinations): Destinations {
  return {
    ...destinations,
    isBlocked: (address, port) =>
      destinations.isBlocked(address, port) || listTargets(address).some((target) => target.range() === 'linkLocal'),
  }
}

/** Also blocks public addresses, for what unknown devices of the local networks name. */
export function withoutInternet(destinations: Destinations): Destinations {
  return {
    ...destinations,
    isBlocked: (address, port) =>
      destinations.isBlocked(address, port) || listTargets(address).some((target) => target.range() === 'unicast'),
  }
}

function lookUp(hostname: string, options: LookupOptions): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { ...options, all: true }, (error, found) => (error === null ? resolve(found) : reject(error)))
  })
}

/** `describeConnectionError` builds the sentence. */
class BlockedDestinationError extends Error {
  override readonly name = 'RefusedDestinationError'
  readonly code = 'BLOCKED_DESTINATION'
}

/** Creates a `lookup` function for Node that checks the resolved IP addresses when connecting. */
export function guardedLookup(destinations: Destinations, port: number): LookupFunction {
  return (hostname, options, callback) => {
    destinations.resolve(hostname, options).then(
      (found) => {
        const [first] = found
        const isBlocked = found.some(({ address }) => destinations.isBlocked(address, port))
        if (isBlocked || first === undefined) callback(blockedError(hostname), '')
        else if (options.all) callback(null, [...found])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, ''),
    )
  }
}

/**
 * undici is loaded at the first HTTP request. An installation without HTTP devices may never send one, and loading
 * takes a tenth of the time until Micwatch listens.
 */
export const loadHttpLibrary = async () => (await import('undici')).default

/** Creates a connector for undici that connects to one port and accepts the certificates that `trust` allows. */
export async function guardedConnector(
  destinations: Destinations,
  { port, timeout, trust }: { port: number; timeout: number; trust: Trust },
): Promise<buildConnector.connector> {
  const { buildConnector } = await loadHttpLibrary()
  // undici passes unknown options to net.connect, which calls `lookup`; the types do not declare it.
  const connect = buildConnector({
    ...tlsOptions(trust),
    timeout,
    lookup: guardedLookup(destinations, port),
  } as buildConnector.BuildOptions)
  return (target, callback) => {
    if (isBlockedIp(destinations, target.hostname, port)) callback(blockedError(target.hostname), null)
    else
      connect(target, (error, socket) => {
        const tlsError = socket === null ? null : certificateError(socket, trust)
        if (tlsError === null) return error === null ? callback(null, socket) : callback(error, null)
        socket?.destroy()
        callback(tlsError, null)
      })
  }
}

/** Resolves the host of a URL. Throws if the destination is blocked or the name does not resolve. */
export async function resolveDestination(destinations: Destinations, url: URL): Promise<LookupAddress> {
  const host = withoutBrackets(url.hostname)
  const found = isIP(host) === 0 ? await destinations.resolve(host) : [{ address: host, family: isIP(host) }]
  // IPv4 is preferred, because most audio hardware does not support IPv6.
  const chosen = found.find(({ family }) => family === 4) ?? found[0]
  if (chosen === undefined || destinations.isBlocked(chosen.address, portOf(url))) throw blockedError(url.hostname)
  return chosen
}

/** Throws if the host is a blocked IP address. Host names are checked when they are resolved. */
export function checkDestination(destinations: Destinations, url: URL): void {
  if (isBlocked(destinations, url)) throw blockedError(url.hostname)
}

/** Host names are checked when they are resolved. */
export function isBlocked(destinations: Destinations, url: URL): boolean {
  return isBlockedIp(destinations, url.hostname, portOf(url))
}

/**
 * Also checks the IP addresses that the host resolves to. Returns false for a name that does not resolve within two
 * seconds.
 */
export async function isHostBlocked(destinations: Destinations, url: URL): Promise<boolean> {
  if (isIP(withoutBrackets(url.hostname)) !== 0) return isBlockedIp(destinations, url.hostname, portOf(url))
  const resolved = destinations.resolve(url.hostname).catch((): readonly LookupAddress[] => [])
  const found = await Promise.race([resolved, sleep(2000, [], { ref: false })])
  return found.some(({ address }) => destinations.isBlocked(address, portOf(url)))
}

export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' || protocol === 'wss:' ? 443 : 80
}

function isBlockedIp(destinations: Destinations, hostname: string, port: number): boolean {
  const host = withoutBrackets(hostname)
  return isIP(host) !== 0 && destinations.isBlocked(host, port)
}

function blockedError(hostname: string): BlockedDestinationError {
  return new BlockedDestinationError(`nothing is sent to ${hostname}`)
}

function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

function canonical(text: string): string {
  return parseAddress(text).toString()
}

/** Accepts a zone. An IPv4-mapped IPv6 address becomes IPv4. */
function parseAddress(text: string): Address {
  return ipaddr.process(text.replace(/%.*$/, ''))
}

/** Returns the address, and the IPv4 addresses that tunnels and gateways forward its packets to. */
function listTargets(text: string): Address[] {
  const address = parseAddress(text)
  if (!(address instanceof ipaddr.IPv6)) return [address]
  return [address, ...embeddedIpv4(address.range(), address.toByteArray()).map((bytes) => ipaddr.fromByteArray(bytes))]
}

function embeddedIpv4(range: string, bytes: readonly number[]): number[][] {
  const last = bytes.slice(12)
  if (range === 'rfc6145') return [last]
  if (range === 'rfc6052') return [last, ...listTranslated(bytes)]
  if (range === 'teredo') return [last.map((byte) => byte ^ 0xff)]
  const relay = range === '6to4' ? [bytes.slice(2, 6)] : []
  return isIpv4Compatible(bytes) || isIsatap(bytes) ? [...relay, last] : relay
}

/**
 * The positions of an IPv4 address after a prefix of 48, 56 or 64 bits (RFC 6052, section 2.2), where byte 8 is zero.
 */
function listTranslated(bytes: readonly number[]): number[][] {
  const withoutByte8 = bytes.toSpliced(8, 1)
  return [6, 7, 8].map((start) => withoutByte8.slice(start, start + 4)).filter(([first]) => first !== 0)
}

/** RFC 4291, section 2.5.5.1. `::` and `::1` are not among these addresses. */
function isIpv4Compatible(bytes: readonly number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 15).some((byte) => byte > 0)
}

/** RFC 5214, section 6.1. */
function isIsatap(bytes: readonly number[]): boolean {
  const [flags = 0, ...rest] = bytes.slice(8, 12)
  return (flags & ~0x02) === 0 && rest.join() === [0, 0x5e, 0xfe].join()
}

/**
 * Some clouds append the IPv4 address of their metadata service to an IPv6 prefix of their own, and so do gateways. The
 * last 32 bits are therefore checked too.
 */
function isMetadata(address: Address): boolean {
  const addresses =
    address instanceof ipaddr.IPv6 ? [address, ipaddr.fromByteArray(address.toByteArray().slice(12))] : [address]
  return addresses.some((each) =>
    metadataNetworks.some(([network, bits]) => network.kind() === each.kind() && each.match(network, bits)),
  )
}

function isUnspecified(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isLocalAddress(address: string): boolean {
  if (ipaddr.parse(address).range() === 'loopback') return true
  const localAddresses = Object.values(networkInterfaces()).flatMap((ofInterface) => ofInterface ?? [])
  return localAddresses.some((local) => canonical(local.address) === address)
}

/** Opens a TCP connection for a protocol other than HTTP, and checks its address. Closes it when the signal aborts. */
export async function openSocket(url: URL, destinations: Destinations, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  checkDestination(destinations, url)
  const port = portOf(url)
  const socket = connect({ host: hostOf(url), port, lookup: guardedLookup(destinations, port) })
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Returns the SHA-256 fingerprint of a server's certificate, which is not verified; null if it has none. */
export async function readFingerprint(
  url: URL,
  destinations: Destinations,
  signal: AbortSignal,
): Promise<string | null> {
  return readPeerFingerprint(await openSocket(url, destinations, signal), hostOf(url), signal)
}

/** An IPv6 address without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
