/** Detects the protocols of one address, of which only the host may be known. */

import { isIP } from 'node:net'
import { groupBy } from '../domain/group-by.ts'
import { withTimeout } from '../platform/wait.ts'
import { type Destinations, isHostBlocked } from '../upstream/destinations.ts'
import type { Plugin } from './plugin.ts'
import { addressOf, type FoundDevice, type Probe, type ProbeResult, probeAll } from './probe.ts'

/** An address as a user enters it: `10.0.0.12`, `foh-1.local:2202` or `tcp://10.0.0.12`. */
export interface EnteredAddress {
  /** An IPv6 address is in brackets. */
  readonly host: string
  /** Such as `tcp:`; null if not entered. */
  readonly scheme: string | null
  /** Null for the usual port of each protocol. */
  readonly port: number | null
  /** The address as entered, without a final slash. */
  readonly text: string
}

/** Returns null for other text. */
export function parseEnteredAddress(entered: string): EnteredAddress | null {
  const text = entered.trim().replace(/\/+$/, '')
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
  const bare = isIP(text) === 6 ? `[${text}]` : text
  const address = hasScheme ? text : `tcp://${bare}`
  if (!URL.canParse(address)) return null
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(address)
  const isWeb = protocol === 'http:' || protocol === 'https:'
  const hasMore = [username, password, search, hash, isWeb ? '' : pathname].some((part) => part !== '')
  if (hasMore || !isHost(hostname)) return null
  const usual = isWeb ? (protocol === 'http:' ? 80 : 443) : null
  return {
    host: hostname.toLowerCase(),
    scheme: hasScheme ? protocol : null,
    port: port === '' ? usual : Number(port),
    text,
  }
}

/** Some parsers read an incomplete or octal IPv4 address as another one. */
function isHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isIP(hostname.slice(1, -1)) === 6
  return /^[\d.]+$/.test(hostname) ? isIP(hostname) === 4 : /^[a-z\d][a-z\d._-]*$/i.test(hostname)
}

const resolveLimitMs = 2_000

/**
 * Returns the IP addresses of a host; null if its name does not resolve. The returned destinations pin the name to these
 * addresses, so that the checked addresses are the ones contacted.
 */
export async function resolveOnce(
  destinations: Destinations,
  host: string,
): Promise<{ readonly ips: readonly string[]; readonly destinations: Destinations } | null> {
  const literal = host.replace(/^\[|\]$/g, '')
  if (isIP(literal) !== 0) return { ips: [literal], destinations }
  const resolving = destinations.resolve(host).catch(() => [])
  const resolved = await withTimeout(resolving, resolveLimitMs)
  if (resolved === 'late' || resolved.length === 0) return null
  const ips = resolved.map(({ address }) => address)
  return { ips, destinations: { ...destinations, resolve: async () => resolved } }
}

/** Omits probes of addresses that are never contacted. */
export async function selectAllowed(probes: readonly Probe[], destinations: Destinations): Promise<readonly Probe[]> {
  const areBlocked = await Promise.all(probes.map(({ address }) => isHostBlocked(destinations, new URL(address))))
  return probes.filter((_, index) => !areBlocked[index])
}

export interface DetectedDevice extends FoundDevice {
  readonly plugin: Plugin
}

interface Detected {
  readonly found: readonly DetectedDevice[]
  /** Probes that got a response from an unidentified host. */
  readonly failed: readonly (Probe & { readonly error: string })[]
}

/** Lists the probes of an address. An explicit HTTP address may also be that of a system with the common device API. */
export function listProbes(plugin: Plugin, { host, scheme, port, text }: EnteredAddress): Probe[] {
  const { search } = plugin
  if (search === undefined) return []
  const isPossible = (other: string) => scheme === null || scheme === other
  const devices = Object.entries({ ...search.ports, ...search.beacon?.ports })
    .filter(([other]) => isPossible(other))
    .map(([other, usual]): Probe => {
      return {
        plugin,
        kind: 'device',
        address: addressOf(other, host, port ?? usual),
        identify: search.identify?.[other],
      }
    })
  // At another port, the response is not specific enough.
  const systems = Object.entries(search.systems ?? {})
    .filter(([other, { port: usual }]) => isPossible(other) && (port ?? usual) === usual)
    .map(([other, { port: usual, identify }]): Probe => {
      return { plugin, kind: 'system', address: addressOf(other, host, usual), identify }
    })
  const isWeb = scheme === 'http:' || scheme === 'https:'
  const isWebPlugin = isWeb && plugin.adapters.some(({ transport }) => transport === 'websocket' || transport === 'sse')
  return [...devices, ...systems, ...(isWebPlugin ? [{ plugin, kind: 'system' as const, address: text }] : [])]
}

/**
 * Runs the probes. Probes of one port run one at a time, because many devices accept only one connection. They stop once
 * the device or system is identified.
 */
export async function runProbes(
  probes: readonly Probe[],
  destinations: Destinations,
  signal: AbortSignal,
): Promise<Detected> {
  const groups = groupBy(probes, portKey)
  const results = await Promise.all([...groups.values()].map((group) => runGroup(group, destinations, signal)))
  const all = results.flat()
  const found = all.flatMap(({ probe, result }) =>
    result.devices.map((device) => ({ ...device, plugin: probe.plugin })),
  )
  // A device may support several protocols of its manufacturer; the first one found is kept.
  const firsts = found.filter(
    ({ plugin, kind }, index) => found.findIndex((other) => other.plugin === plugin && other.kind === kind) === index,
  )
  const isFound = ({ address }: Probe) => found.some((device) => device.address === address)
  const failed = all.flatMap(({ probe, result: { failure } }) => {
    return failure === null || isFound(probe) ? [] : [{ ...probe, error: failure.error }]
  })
  return { found: firsts, failed }
}

interface Ran {
  readonly probe: Probe
  readonly result: ProbeResult
}

async function runGroup(group: readonly Probe[], destinations: Destinations, signal: AbortSignal): Promise<Ran[]> {
  const ran: Ran[] = []
  const devicesFirst = group.toSorted((a, b) => a.kind.localeCompare(b.kind))
  for (const probe of devicesFirst) {
    if (ran.some(isIdentified)) break
    const [result] = await probeAll([probe], destinations, signal)
    if (result === undefined) break
    ran.push({ probe, result: withProtectedSystem(probe, result) })
  }
  return ran
}

/** Systems with the common device API respond in the same way to the probes of several manufacturers. */
function isIdentified({ probe: { kind, identify }, result: { devices } }: Ran): boolean {
  return devices.length > 0 && (kind === 'device' || identify !== undefined)
}

/** A host that asks for credentials may be a system with the common device API. */
function withProtectedSystem({ kind, identify, address }: Probe, result: ProbeResult): ProbeResult {
  if (kind !== 'system' || identify !== undefined || result.failure?.status !== 401) return result
  const unknown = {
    id: address,
    device_type: 'system',
    model: null,
    serial_number: null,
    mac_address: null,
    channels: 0,
  }
  return { devices: [{ ...unknown, kind, address, ip: new URL(address).hostname }], failure: null }
}

function portKey({ address }: Probe): string {
  const { protocol, port } = new URL(address)
  if (protocol === 'http:' || protocol === 'https:') return `tcp ${port || (protocol === 'http:' ? 80 : 443)}`
  return protocol === 'tcp:' ? `tcp ${port}` : `${protocol} ${port}`
}
