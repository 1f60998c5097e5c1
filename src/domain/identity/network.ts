/** IPv4 addresses and subnets as numbers, the networks that may be scanned, and network modes of devices. */

import { type NetworkMode, networkModes } from '../../contract/values.ts'

export type { NetworkMode } from '../../contract/values.ts'

/** Ignores case; returns null for unknown modes. */
export function parseNetworkMode(value: unknown): NetworkMode | null {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return networkModes.find((mode) => mode === word) ?? null
}

/** Includes the network and broadcast addresses. */
export interface Subnet {
  readonly first: number
  readonly last: number
  readonly prefix: number
}

const maxScanAddresses = 1024

/** Private, shared (RFC 6598) and link-local networks, which are not routed on the internet. */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16']

/** Parses a subnet in CIDR notation that may be scanned. `ranges` are additional allowed networks. */
export function parseScanSubnet(text: string, ranges: readonly string[]): Subnet | { readonly error: string } {
  const subnet = parseSubnet(text)
  if (subnet === null) return { error: 'expected an IPv4 network in CIDR form, such as 192.168.1.0/24' }
  if (countAddresses(subnet) > maxScanAddresses) {
    return { error: `expected a network of at most ${maxScanAddresses} addresses (/22 or longer)` }
  }
  return isAllowed(subnet, ranges) ? subnet : { error: notAllowed(formatSubnet(subnet)) }
}

/** Parses addresses that may be scanned, without duplicates. */
export function parseScanAddresses(
  texts: readonly string[],
  ranges: readonly string[],
): readonly string[] | { readonly error: string } {
  const addresses = new Set<string>()
  for (const text of texts) {
    const address = parseIpv4(text.trim())
    if (address === null) return { error: `${text} is not an IPv4 address` }
    if (!isAllowed({ first: address, last: address, prefix: 32 }, ranges)) return { error: notAllowed(text) }
    addresses.add(formatIpv4(address))
  }
  if (addresses.size > maxScanAddresses) return { error: `expected at most ${maxScanAddresses} addresses` }
  return [...addresses]
}

/** Omits the network and broadcast addresses, which a /31 or /32 does not have. */
export function hostAddresses({ first, last, prefix }: Subnet): string[] {
  const margin = prefix <= 30 ? 1 : 0
  const count = last - first + 1 - 2 * margin
  return Array.from({ length: count }, (_, index) => formatIpv4(first + margin + index))
}

export function isInSubnet(subnet: Subnet, ip: string | null): ip is string {
  const address = ip === null ? null : parseIpv4(ip)
  return address !== null && address >= subnet.first && address <= subnet.last
}

/** True if the network of this interface contains the address. */
export function isOnNetwork({ cidr }: Pick<LocalAddress, 'cidr'>, ip: string | null): boolean {
  const subnet = parseSubnet(cidr ?? '')
  return subnet !== null && isInSubnet(subnet, ip)
}

/**
 * Accepts four decimal parts without leading zeros. Other notations are ambiguous: some parsers read `010` as octal.
 */
export function parseIpv4(text: string): number | null {
  if (!/^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/.test(text)) return null
  const parts = text.split('.').map(Number)
  return parts.some((part) => part > 255) ? null : parts.reduce((sum, part) => sum * 256 + part, 0)
}

export function parseSubnet(text: string): Subnet | null {
  const [, ip = '', bits = ''] = /^([\d.]{7,15})\/(\d|[12]\d|3[0-2])$/.exec(text) ?? []
  const address = parseIpv4(ip)
  if (address === null) return null
  const prefix = Number(bits)
  const size = 2 ** (32 - prefix)
  const first = Math.floor(address / size) * size
  return { first, last: first + size - 1, prefix }
}

export function formatSubnet({ first, prefix }: Subnet): string {
  return `${formatIpv4(first)}/${prefix}`
}

function formatIpv4(address: number): string {
  return [2 ** 24, 2 ** 16, 2 ** 8, 1].map((unit) => Math.floor(address / unit) % 256).join('.')
}

function countAddresses({ first, last }: Subnet): number {
  return last - first + 1
}

function isAllowed({ first, last }: Subnet, ranges: readonly string[]): boolean {
  return [...privateRanges, ...ranges].some((text) => {
    const range = parseSubnet(text)
    return range !== null && first >= range.first && last <= range.last
  })
}

function notAllowed(what: string): string {
  return `${what} is outside the private networks and not listed in discovery_ranges`
}

interface InterfaceAddress {
  readonly family: string
  readonly internal: boolean
  readonly address: string
  readonly cidr: string | null
}

/** An IPv4 address of this machine, and the interface that has it. */
export interface LocalAddress {
  readonly interfaceName: string
  readonly address: string
  /** Null if the system reports no netmask. */
  readonly cidr: string | null
}

/** The interfaces on which devices are sought. A name may end in `*`. */
export interface InterfaceChoice {
  /** If not empty, these alone. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** Interfaces of containers and VPNs, to which no equipment is connected. */
const virtualInterfaces = ['docker*', 'br-*', 'veth*', 'tun*', 'tap*', 'wg*', 'tailscale*', 'zt*']

/**
 * Returns the IPv4 addresses of the chosen interfaces. Interfaces of containers and VPNs must be included by name,
 * unless there is no other.
 */
export function selectLocalAddresses(
  interfaces: Readonly<Record<string, readonly InterfaceAddress[] | undefined>>,
  { include, exclude }: InterfaceChoice,
): readonly LocalAddress[] {
  const isChosen = (name: string) => !matchesAny(name, exclude) && (include.length === 0 || matchesAny(name, include))
  const chosen = Object.entries(interfaces)
    .filter(([name]) => isChosen(name))
    .flatMap(([interfaceName, addresses = []]) =>
      addresses
        .filter(({ family, internal }) => family === 'IPv4' && !internal)
        .map(({ address, cidr }) => ({ interfaceName, address, cidr })),
    )
  if (include.length > 0) return chosen
  const physical = chosen.filter(({ interfaceName }) => !matchesAny(interfaceName, virtualInterfaces))
  return physical.length > 0 ? physical : chosen
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*')
      ? name.toLowerCase().startsWith(pattern.slice(0, -1).toLowerCase())
      : name.toLowerCase() === pattern.toLowerCase(),
  )
}

/** In a larger network, only the part around the address of this machine is scanned. */
const commonPrefix = 24
const largestPrefix = 22

/** Lists the networks of these addresses. `ranges` are networks that may be scanned in addition to the private ones. */
export function listScanNetworks(addresses: readonly LocalAddress[], ranges: readonly string[]): string[] {
  const networks = addresses
    .flatMap(({ address, cidr }) => toNetwork(address, cidr))
    .filter(({ prefix }) => prefix < 32)
    .map(formatSubnet)
    .filter((network) => !('error' in parseScanSubnet(network, ranges)))
  return [...new Set(networks)]
}

function toNetwork(address: string, cidr: string | null): Subnet[] {
  const whole = parseSubnet(cidr ?? '')
  if (whole === null) return []
  const network = whole.prefix >= largestPrefix ? whole : parseSubnet(`${address}/${commonPrefix}`)
  return network === null ? [] : [network]
}
