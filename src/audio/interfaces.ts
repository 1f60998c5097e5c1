import { networkInterfaces } from 'node:os'
import type { LocalAddress } from '../domain/identity/network.ts'

/** Returns the IPv4 addresses of this machine that have one of these names or addresses. */
export function findInterfaces(namesOrAddresses: readonly string[]): LocalAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([interfaceName, addresses = []]) =>
    addresses
      .filter(({ family }) => family === 'IPv4')
      .filter(({ address }) => namesOrAddresses.includes(interfaceName) || namesOrAddresses.includes(address))
      .map(({ address, cidr }) => ({ interfaceName, address, cidr })),
  )
}
