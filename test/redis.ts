/** A real Redis for a test; its server ends with the test, however that ends. */

import { Redis } from 'ioredis'
import { prepareRedis, type RedisServer } from './redis-server.ts'
import { atEnd } from './scope.ts'

export interface TestRedis extends Omit<RedisServer, 'stop'> {
  /** Speaks to it as anybody may. */
  client(): Redis
}

/** Its address is known before it runs: `isRunning: false` for a test that begins without it. */
export async function startRedis({ isRunning = true } = {}): Promise<TestRedis> {
  const server = await prepareRedis()
  const clients: Redis[] = []
  atEnd(async () => {
    for (const client of clients) client.disconnect()
    await server.stop()
  })
  if (isRunning) await server.start()
  return {
    ...server,
    client() {
      const client = new Redis(server.url)
      client.on('error', () => {})
      clients.push(client)
      return client
    },
  }
}
