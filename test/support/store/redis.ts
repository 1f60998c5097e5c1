/** Starts a real Redis for a test; the server is stopped when the test ends, even if it fails. */

import { Redis } from 'ioredis'
import { onTestEnd } from '../cleanup.ts'
import { prepareRedis, type RedisServer } from './redis-server.ts'

export interface TestRedis extends Omit<RedisServer, 'stop'> {
  /** A client for direct access to the server. */
  client(): Redis
}

/** Prepares a server, and starts it unless `isRunning` is false. Its `url` is known in either case. */
export async function startRedis({ isRunning = true } = {}): Promise<TestRedis> {
  const server = await prepareRedis()
  const clients: Redis[] = []
  onTestEnd(async () => {
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
