/** Where requests may go. Private, loopback and link-local addresses are the product's job; some others never are. */

import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'
import { certificateError, type Trust, tlsOptions } from './certificate.ts'

export interface Destinations {
  /** This process itself listens there. */
  addOwn(host: string, port: number): void
  /** Whether nothing is ever sent to this address: no name, an IP literal. */
  isRefused(address: string, port: number): boolean
  /** What a name resolves to. Asked once at a time: a resolver that does not answer holds one thread a name, not all. */
  resolve(hostname: string, options?: LookupOptions): Promise<readonly LookupAddress[]>
}

/** Cloud metadata services: whoever can name an upstream must not be able to read the machine's own credentials. */
const metadata = ['169.254.169.254', '169.254.170.2', '100.100.100.200', 'fd00:ec2::254'].map(canonical)

export function createDestinations(): Destinations {
  const own: { readonly host: string; readonly port: number }[] = []
  const asking = new Map<string, Promise<LookupAddress[]>>()
  const isOwn = (address: string, port: number) =>
    own.some(
      (one) => one.port === port && (one.host === address || (isUnspecified(one.host) && isOfThisMachine(address))),
    )
  return {
    addOwn: (host, port) => void own.push({ host: isIP(host) === 0 ? host : canonical(host), port }),
    isRefused(text, port) {
      const address = canonical(text)
      const range = ipaddr.parse(address).range()
      const isNowhere = range === 'multicast' || range === 'broadcast' || range === 'unspecified'
      return isNowhere || metadata.includes(address) || isOwn(address, port)
    },
    resolve(hostname, { family = 0, hints = 0 } = {}) {
      const key = `${hostname} ${family} ${hints}`
      const asked = asking.get(key) ?? lookUp(hostname, { family, hints }).finally(() => asking.delete(key))
      asking.set(key, asked)
      return asked
    },
  }
}

function lookUp(hostname: string, options: LookupOptions): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { ...options, all: true }, (error, found) => (error === null ? resolve(found) : reject(error)))
  })
}

/** Says why a connection was not even tried; `trouble.ts` has the sentence. */
class RefusedDestinationError extends Error {
  override readonly name = 'RefusedDestinationError'
  readonly code = 'REFUSED_DESTINATION'
}

/** For anything that takes Node's `lookup`: what a name resolves to is looked at in the moment of connecting. */
export function guardedLookup(destinations: Destinations, port: number): LookupFunction {
  return (hostname, options, callback) => {
    destinations.resolve(hostname, options).then(
      (found) => {
        const [first] = found
        const isRefused = found.some(({ address }) => destinations.isRefused(address, port))
        if (isRefused || first === undefined) callback(refusal(hostname), '')
        else if (options.all) callback(null, [...found])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, ''),
    )
  }
}

/** For undici, to one port, believing the certificates that `trust` allows. */
export function guardedConnector(
  destinations: Destinations,
  { port, timeout, trust }: { port: number; timeout: number; trust: Trust },
): buildConnector.connector {
  // undici hands unknown options on to net.connect, which asks `lookup`; its types do not say so.
  const connect = buildConnector({
    ...tlsOptions(trust),
    timeout,
    lookup: guardedLookup(destinations, port),
  } as buildConnector.BuildOptions)
  return (about, callback) => {
    if (isRefusedHost(destinations, about.hostname, port)) callback(refusal(about.hostname), null)
    else
      connect(about, (error, socket) => {
        const fault = socket === null ? null : certificateError(socket, trust)
        if (fault === null) return error === null ? callback(null, socket) : callback(error, null)
        socket?.destroy()
        callback(fault, null)
      })
  }
}

/** The address a host is at now. Throws when it is one nothing is sent to, or its name does not resolve. */
export async function resolveDestination(destinations: Destinations, url: URL): Promise<LookupAddress> {
  const host = bare(url.hostname)
  const found = isIP(host) === 0 ? await destinations.resolve(host) : [{ address: host, family: isIP(host) }]
  // IPv4 where there is a choice: most gear knows nothing else.
  const chosen = found.find(({ family }) => family === 4) ?? found[0]
  if (chosen === undefined || destinations.isRefused(chosen.address, portOf(url))) throw refusal(url.hostname)
  return chosen
}

/** Throws when the address is one nothing is sent to; a name is judged when it is resolved. */
export function checkDestination(destinations: Destinations, url: URL): void {
  if (isRefusedHost(destinations, url.hostname, portOf(url))) throw refusal(url.hostname)
}

/** Whether this host, by itself or by what its name resolves to now, is refused. A name that does not resolve is not. */
export async function isRefusedNow(destinations: Destinations, url: URL): Promise<boolean> {
  if (isIP(bare(url.hostname)) !== 0) return isRefusedHost(destinations, url.hostname, portOf(url))
  const resolved = destinations.resolve(url.hostname).catch((): readonly LookupAddress[] => [])
  const found = await Promise.race([resolved, sleep(2000, [], { ref: false })])
  return found.some(({ address }) => destinations.isRefused(address, portOf(url)))
}

export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' || protocol === 'wss:' ? 443 : 80
}

function isRefusedHost(destinations: Destinations, hostname: string, port: number): boolean {
  const host = bare(hostname)
  return isIP(host) !== 0 && destinations.isRefused(host, port)
}

function refusal(hostname: string): RefusedDestinationError {
  return new RefusedDestinationError(`nothing is sent to ${hostname}`)
}

function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** One spelling for one address; IPv4 in IPv6's clothes is IPv4. */
function canonical(text: string): string {
  const address = ipaddr.process(text.replace(/%.*$/, ''))
  if (address instanceof ipaddr.IPv6 && address.range() === 'rfc6052') {
    return ipaddr.fromByteArray(address.toByteArray().slice(12)).toString()
  }
  return address.toString()
}

function isUnspecified(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isOfThisMachine(address: string): boolean {
  if (ipaddr.parse(address).range() === 'loopback') return true
  const own = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  return own.some((one) => canonical(one.address) === address)
}
