/** The maximum numbers of connections and WebSockets that the service accepts, in total and per client. */

export interface ConnectionLimits {
  readonly connections: number
  readonly sockets: number
  readonly connectionsPerAddress: number
  /** Connections per client address that have not sent a request yet. */
  readonly unusedPerAddress: number
}

const defaultLimits = { connections: 12_000, sockets: 10_000, unusedPerAddress: 1024 } as const

/** Enough for twenty screens behind one address, even where few connections are allowed. */
export const minSocketsPerClient = 24
const minConnectionsPerAddress = 32

/** File descriptors reserved for the database, upstreams and files. */
const reservedDescriptors = 256

/** `descriptors` is the maximum number of this process's file descriptors; null if unknown. */
export function connectionLimits(
  descriptors: number | null,
): ConnectionLimits & ({ readonly isLowered: false } | { readonly isLowered: true; readonly descriptors: number }) {
  const isLowered = descriptors !== null && descriptors < defaultLimits.connections + reservedDescriptors
  const connections = isLowered ? Math.max(64, descriptors - reservedDescriptors) : defaultLimits.connections
  const sockets = Math.floor((connections * defaultLimits.sockets) / defaultLimits.connections)
  const connectionsPerAddress = Math.max(minConnectionsPerAddress, Math.floor(connections / 4))
  const unusedPerAddress = Math.min(defaultLimits.unusedPerAddress, connectionsPerAddress)
  const limits = { connections, sockets, connectionsPerAddress, unusedPerAddress }
  return isLowered ? { ...limits, isLowered, descriptors } : { ...limits, isLowered }
}
