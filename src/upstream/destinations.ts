/**
 * Decides to which IP addresses requests may be sent. Private, loopback and link-local addresses are allowed. Cloud
 * metadata services, this process's own listeners, and multicast, broadcast and unspecified addresses are always
 * blocked.
 */

import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import ipaddr from 'ipaddr.js'
import type { buildConnector } from 'undici'
import { certificateError, type Trust, tlsOptions } from './certificate.ts'

export interface Destinations {
  /** Blocks an address on which this process listens, so that it sends no requests to itself. */
  blockListener(host: string, port: number): void
  /** Whether this IP address (not a host name) is a blocked destination. */
  isBlocked(address: string, port: number): boolean
  /**
   * Resolves a host name. Parallel lookups of one name are shared, so that a hanging resolver blocks only one thread
   * per name.
   */
  resolve(hostname: string, options?: LookupOptions): Promise<readonly LookupAddress[]>
}

/** Cloud metadata services. A user who can configure an upstream must not be able to read the machine's credentials. */
const metadata = ['169.254.169.254', '169.254.170.2', '100.100.100.200', 'fd00:ec2::254'].map(canonical)

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
    isBlocked(text, port) {
      const address = canonical(text)
      const range = ipaddr.parse(address).range()
      const isInvalid = range === 'multicast' || range === 'broadcast' || range === 'unspecified'
      return isInvalid || metadata.includes(address) || isOwnListener(address, port)
    },
    resolve(hostname, { family = 0, hints = 0 } = {}) {
      const key = `${hostname} ${family} ${hints}`
      const pendingLookup =
        pendingLookups.get(key) ?? lookUp(hostname, { family, hints }).finally(() => pendingLookups.delete(key))
      pendingLookups.set(key, pendingLookup)
      return pendingLookup
    },
  }
}

/** Returns destinations that also block link-local addresses, for services that are not audio hardware. */
export function withoutLinkLocal(destinations: Destinations): Destinations {
  return {
    ...destinations,
    isBlocked: (address, port) =>
      destinations.isBlocked(address, port) || ipaddr.parse(canonical(address)).range() === 'linkLocal',
  }
}

function lookUp(hostname: string, options: LookupOptions): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { ...options, all: true }, (error, found) => (error === null ? resolve(found) : reject(error)))
  })
}

/** Thrown instead of connecting to a blocked destination; `error-messages.ts` builds the sentence. */
class BlockedDestinationError extends Error {
  override readonly name = 'RefusedDestinationError'
  readonly code = 'BLOCKED_DESTINATION'
}

/** Creates a `lookup` function for Node that checks the resolved IP addresses at the time of connecting. */
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
 * Loads undici, at the first HTTP request: an installation without HTTP devices may never send one, and loading takes a
 * tenth of the time until Micwatch listens.
 */
export const loadHttpLibrary = async () => (await import('undici')).default

/** Creates a connector with which undici connects to one port. It accepts the certificates that `trust` allows. */
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

/** Throws if the host is a blocked IP address; host names are checked when they are resolved. */
export function checkDestination(destinations: Destinations, url: URL): void {
  if (isBlocked(destinations, url)) throw blockedError(url.hostname)
}

/** Whether the host is a blocked IP address; host names are checked when they are resolved. */
export function isBlocked(destinations: Destinations, url: URL): boolean {
  return isBlockedIp(destinations, url.hostname, portOf(url))
}

/**
 * Whether the host, or an IP address to which it resolves, is blocked. Returns false for a name that does not resolve
 * within two seconds.
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

/** Normalizes the notation of an IP address. IPv6 addresses that contain an IPv4 address become that address. */
function canonical(text: string): string {
  const address = ipaddr.process(text.replace(/%.*$/, ''))
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const bytes = address.toByteArray()
  const ipv4 = embeddedIpv4(address.range(), bytes)
  return (ipv4 === null ? address : ipaddr.fromByteArray(ipv4)).toString()
}

/** Returns the IPv4 address to which a gateway forwards packets for an IPv6 address; null for other addresses. */
function embeddedIpv4(range: string, bytes: readonly number[]): number[] | null {
  switch (range) {
    case 'rfc6052':
    case 'rfc6145':
      return bytes.slice(12)
    case '6to4':
      return bytes.slice(2, 6)
    case 'teredo':
      return bytes.slice(12).map((byte) => byte ^ 0xff)
    default: {
      // IPv4-compatible addresses (RFC 4291, section 2.5.5.1); `::` and `::1` are not among them.
      const isCompatible =
        bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 15).some((byte) => byte > 0)
      return isCompatible ? bytes.slice(12) : null
    }
  }
}

function isUnspecified(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isLocalAddress(address: string): boolean {
  if (ipaddr.parse(address).range() === 'loopback') return true
  const localAddresses = Object.values(networkInterfaces()).flatMap((ofInterface) => ofInterface ?? [])
  return localAddresses.some((local) => canonical(local.address) === address)
}
