import { networkInterfaces } from 'node:os'

/** A plain address of the network, which browsers do not trust. */
export function lanAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const found = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (found === undefined) throw new Error('This machine has no address in a network.')
  return found.address
}
