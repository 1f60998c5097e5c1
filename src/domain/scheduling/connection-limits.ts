/** The maximum numbers of connections and WebSockets that the service accepts. */

export interface ConnectionLimits {
  readonly connections: number
  readonly sockets: number
  /** The maximum number of connections per client address that have not sent a request yet. */
  readonly idlePerAddress: number
}

const defaultLimits = { connections: 12_000, sockets: 10_000, idlePerAddress: 1024 } as const

/** File descriptors reserved for the database, upstreams and files. */
const reservedDescriptors = 256

/**
 * Returns the limits for this process. `descriptors` is the maximum number of its file descriptors; null if unknown.
 */
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
