import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Each worker of the tests has ports of its own. */
const portsPerWorker = 1000
const workers = 7
const firstPort = 18_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % workers) * portsPerWorker
const chosen = new Set<number>()

/**
 * Returns a port on which nothing listens. It is below the ports that the system assigns, and is returned once, so that
 * no other server gets it before it is used or while its server restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + randomInt(portsPerWorker)
    if (chosen.has(port)) continue
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    chosen.add(port)
    server.close()
    await once(server, 'close')
    return port
  }
}
