/** How many connections the service takes, and how many of them may be WebSockets. */

export interface ConnectionLimits {
  readonly connections: number
  readonly sockets: number
  /** Of one address, without a request so far. */
  readonly idlePerAddress: number
}

const defaultLimits = { connections: 12_000, sockets: 10_000, idlePerAddress: 1024 } as const

/** Kept for the database, upstreams and files. */
const reservedDescriptors = 256

/** `descriptors`: what the system lets the process open; null where it does not say. */
export function connectionLimits(
  descriptors: number | null,
): ConnectionLimits & ({ readonly isLowered: false } | { readonly isLowered: true; readonly descriptors: number }) {
  if (descriptors === null || descriptors >= defaultLimits.connections + reservedDescriptors)
    return { ...defaultLimits, isLowered: false }
  const connections = Math.max(64, descriptors - reservedDescriptors)
  const sockets = Math.floor((connections * defaultLimits.sockets) / defaultLimits.connections)
  const idlePerAddress = Math.min(defaultLimits.idlePerAddress, Math.ceil(connections / 2))
  return { connections, sockets, idlePerAddress, isLowered: true, descriptors }
}
