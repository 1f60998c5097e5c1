/** How many connections the service takes, and how many of them may be WebSockets. */

export interface ConnectionLimits {
  readonly connections: number
  readonly sockets: number
  /** Of one address, without a request so far. */
  readonly silentPerAddress: number
}

const wanted = { connections: 12_000, sockets: 10_000, silentPerAddress: 1024 } as const

/** Kept for the database, upstreams and files. */
const ownDescriptors = 256

/** `descriptors`: what the system lets the process open; null where it does not say. */
export function connectionLimits(
  descriptors: number | null,
): ConnectionLimits & ({ readonly isLowered: false } | { readonly isLowered: true; readonly descriptors: number }) {
  if (descriptors === null || descriptors >= wanted.connections + ownDescriptors) return { ...wanted, isLowered: false }
  const connections = Math.max(64, descriptors - ownDescriptors)
  const sockets = Math.floor((connections * wanted.sockets) / wanted.connections)
  const silentPerAddress = Math.min(wanted.silentPerAddress, Math.ceil(connections / 2))
  return { connections, sockets, silentPerAddress, isLowered: true, descriptors }
}
