/** Limits the time in which the body of a request arrives. Node's own limit cannot be lifted for single requests. */

import type { IncomingMessage, Server } from 'node:http'
import type { Incoming } from './incoming.ts'

const bodySeconds = 30

/** A request that is too slow is handled like one that Node finds. */
export function limitBodyTime(server: Server): void {
  const watch = (request: IncomingMessage) => {
    const { headers, socket } = request
    if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return
    const timer = setTimeout(() => {
      if (request.complete || (request as Incoming).isStream) return
      const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.emit('clientError', error, socket)
    }, bodySeconds * 1000)
    timer.unref()
    request.once('close', () => clearTimeout(timer))
  }
  server.on('request', watch)
  server.on('checkExpectation', watch)
}
