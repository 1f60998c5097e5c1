import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Returns a port on which nothing listens. It is below the ports that the system assigns, so that no other program gets
 * it before it is used or while its server restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(18_000, 25_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
