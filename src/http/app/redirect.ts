/** Redirects http to https on a second port. `/healthz` is answered there, for supervisors that do not follow redirects. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../config.ts'

const headSeconds = 10
const maxConnections = 200

/** Returns null if it is not configured. Throws the system's error if it cannot listen. `port` is that of the service. */
export async function listenForRedirects(
  { server }: Config,
  port: number,
  log: FastifyBaseLogger,
): Promise<Server | null> {
  if (server.redirect_port === null) return null
  const target = (request: IncomingMessage) => toTarget(request, server.public_url, server.mount, port)
  const listener = createServer(
    { headersTimeout: headSeconds * 1000, requestTimeout: headSeconds * 1000, keepAlive: false },
    (request, response) => respond(request, response, target(request)),
  )
  listener.maxConnections = maxConnections
  listener.on('clientError', (_, socket) => socket.destroy())
  listener.listen({ host: server.host, port: server.redirect_port })
  await once(listener, 'listening')
  listener.on('error', (error) => log.error({ error: String(error) }, 'a request to redirect was not accepted'))
  log.info({ port: server.redirect_port }, 'redirecting http to https')
  return listener
}

function respond(request: IncomingMessage, response: ServerResponse, target: string | null): void {
  response.setHeader('connection', 'close')
  if (request.url?.split('?')[0] === '/healthz') {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end('{"status":"ok"}')
  } else if (target === null) response.writeHead(400).end()
  else response.writeHead(308, { location: target, 'cache-control': 'no-store' }).end()
}

/** Returns null if the request names no host. The https listener then checks that the host is one of the service. */
function toTarget(
  { headers, url = '/' }: IncomingMessage,
  publicUrl: string | null,
  mount: string,
  port: number,
): string | null {
  // An http address would redirect forever.
  const origin = publicUrl?.startsWith('https:') ? new URL(publicUrl).origin : originOf(headers.host, port)
  if (origin === null || !url.startsWith('/')) return null
  return `${origin}${url === '/' && mount !== '' ? `${mount}/` : url}`
}

function originOf(host: string | undefined, port: number): string | null {
  const name = /^([\w.-]+|\[[\da-f:]+\])(:\d+)?$/i.exec(host ?? '')?.[1]
  return name === undefined ? null : `https://${name}${port === 443 ? '' : `:${port}`}`
}
