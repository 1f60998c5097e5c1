/** Opens TCP connections for protocols other than HTTP, and checks the address when it connects. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { checkDestination, type Destinations, guardedLookup, portOf } from './destinations.ts'

/** Closes the connection when the signal aborts. */
export async function openSocket(url: URL, destinations: Destinations, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  checkDestination(destinations, url)
  const port = portOf(url)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = connect({ host, port, lookup: guardedLookup(destinations, port) })
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}
