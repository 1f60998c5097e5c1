/**
 * Shuts the HTTP server down: it accepts no new connections, completes running requests, responds to further requests on
 * open connections with "stopping", and finally closes the remaining connections.
 */

import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Closing {
  /** Accepts no more connections. Must be called before anything else is closed. */
  stopListening(): void
  /**
   * Waits while further requests on open connections are answered, then begins to close the connections. Other
   * components must not be closed before the promise resolves.
   */
  linger(): Promise<void>
}

/** Requests on open connections are still answered for this time. */
const lingerMs = 1000
/** Time limit of running requests. */
const lastRequestMs = 3000
const checkEveryMs = 25

export function createClosing(server: Server): Closing {
  let startedAt = 0
  let hasClosed = false
  server.once('close', () => {
    hasClosed = true
  })
  return {
    stopListening() {
      startedAt = performance.now()
      // The HTTP server's own close method would also close idle connections, so that the next request on them would
      // remain unanswered.
      NetServer.prototype.close.call(server)
    },
    async linger() {
      while (!hasClosed && performance.now() - startedAt < lingerMs) await pause(checkEveryMs)
      closeConnections(server)
    },
  }
}

function closeConnections(server: Server): void {
  const idle = setInterval(() => server.closeIdleConnections(), checkEveryMs)
  const all = setTimeout(() => server.closeAllConnections(), lastRequestMs)
  const stop = () => {
    clearInterval(idle)
    clearTimeout(all)
  }
  server.once('close', stop)
  // The timers must not keep the process alive when no connection is left.
  idle.unref()
  all.unref()
}
