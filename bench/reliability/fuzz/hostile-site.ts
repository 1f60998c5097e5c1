/** A followed installation that sends mutations of every message. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { WebSocketServer } from 'ws'
import { followedExamples, mutationsOf } from '../../../test/support/hostile-messages.ts'

export interface HostileSite {
  readonly url: string
  /** Messages that have not been sent yet. */
  readonly left: number
  close(): void
}

/** Each connection receives a valid snapshot, and then the mutations that earlier connections have left. */
export async function startHostileSite(seed: number, perType: number): Promise<HostileSite> {
  const types = Object.keys(followedExamples)
  const messages = types.flatMap((type) => fc.sample(mutationsOf(type), { seed, numRuns: perType }))
  const snapshot = JSON.stringify({ ...followedExamples.snapshot, type: 'snapshot' })
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[],"next":null}')
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (client) => {
    client.on('error', () => {})
    client.send(snapshot)
    const timer = setInterval(() => {
      const message = messages.pop()
      if (message !== undefined) client.send(message)
    }, 2)
    client.on('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get left() {
      return messages.length
    },
    close() {
      for (const client of sockets.clients) client.terminate()
      server.close()
      server.closeAllConnections()
    },
  }
}
