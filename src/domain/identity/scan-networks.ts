import { formatSubnet, parseScanSubnet, parseSubnet, type Subnet } from './network.ts'

interface InterfaceAddress {
  readonly family: string
  readonly internal: boolean
  readonly address: string
  readonly cidr: string | null
}

/** In a larger network, only the part around the address of this machine is scanned. */
const commonPrefix = 24
const largestPrefix = 22

/** Lists the networks of the interfaces. `ranges` are networks that may be scanned in addition to the private ones. */
export function listScanNetworks(
  interfaces: Readonly<Record<string, readonly InterfaceAddress[] | undefined>>,
  ranges: readonly string[],
): string[] {
  const networks = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
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
