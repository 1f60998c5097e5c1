/**
 * How the door closes: nobody new comes in, who is being served is served, who asks once more on an open connection is
 * told that we are leaving, and who stays all the same is shown out.
 */

import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Closing {
  /** Before anything else is closed. */
  stopListening(): void
  /** Resolves when the rest may be closed. */
  linger(): Promise<void>
}

/** How long open connections are still answered, and how long a request that runs may take to end. */
const lingerMs = 1000
const lastRequestMs = 3000
const lookEveryMs = 25

export function createClosing(server: Server): Closing {
  let startedAt = 0
  let hasClosed = false
  server.once('close', () => {
    hasClosed = true
  })
  return {
    stopListening() {
      startedAt = performance.now()
      // An HTTP server's own way would also end connections that are open, and leave their next request unanswered.
      NetServer.prototype.close.call(server)
    },
    async linger() {
      while (!hasClosed && performance.now() - startedAt < lingerMs) await pause(lookEveryMs)
      showOut(server)
    },
  }
}

function showOut(server: Server): void {
  const idle = setInterval(() => server.closeIdleConnections(), lookEveryMs)
  const all = setTimeout(() => server.closeAllConnections(), lastRequestMs)
  const stop = () => {
    clearInterval(idle)
    clearTimeout(all)
  }
  server.once('close', stop)
  // Nobody else holds the process up if nobody is there any more.
  idle.unref()
  all.unref()
}
