/** A site that sends the messages that a test gives to it. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { onTestEnd } from './cleanup.ts'

/** `snapshot` is what every connection begins with, as JSON. */
export async function startHostileSite(snapshot: string) {
  const clients: WebSocket[] = []
  const http = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"results":[],"next":null}')
  })
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', (client, request) => {
    client.send(snapshot)
    // The other connections only read the identity of the site.
    if (!request.url?.includes('site=-')) clients.push(client)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestEnd(() => {
    for (const client of sockets.clients) client.terminate()
    http.close()
  })
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    send: (messages: readonly string[]) => {
      for (const message of messages) clients.at(-1)?.send(message)
    },
    /** Number of subscriptions to the site. */
    connections: () => clients.length,
  }
}
