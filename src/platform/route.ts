/** The network interface from which this machine reaches an address. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'

/** Connecting a UDP socket sends nothing, so any port will do. */
const discardPort = 9

/** Returns the name of the interface that leads to an IPv4 address; null if there is none. */
export async function findRouteInterface(ip: string): Promise<string | null> {
  const socket = createSocket('udp4')
  try {
    socket.connect(discardPort, ip)
    await once(socket, 'connect')
    const { address } = socket.address()
    const [name = null] =
      Object.entries(networkInterfaces()).find(([, list]) => list?.some((entry) => entry.address === address)) ?? []
    return name
  } catch {
    return null
  } finally {
    socket.close()
  }
}
