/** The address on which the service listens: whether its port is free, why listening fails, and its URL. */

import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'

type PortKey = 'port' | 'redirect_port'

/**
 * Checks that the port is free before anything is opened, so that a second instance started by mistake changes nothing.
 * Throws a listen error if the service cannot listen on the port.
 */
export async function requireFreePort(server: Config['server'], key: PortKey): Promise<void> {
  const { host, [key]: port } = server
  if (port === null || port === 0) return
  const probe = createNetServer().listen({ host, port })
  await once(probe, 'listening').catch((error) => Promise.reject(toListenError(error, server, key)))
  probe.close()
  await once(probe, 'close')
}

/** Adds the configuration key and a remedy to a listen error; returns other errors unchanged. */
export function toListenError(error: unknown, { host, ...ports }: Config['server'], key: PortKey): unknown {
  const { code } = error as NodeJS.ErrnoException
  const port = ports[key]
  const withMessage = (message: string) => new Error(message, { cause: error })
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return withMessage(
        `server.host: the name ${host} cannot be resolved; use an address of this machine, such as 127.0.0.1`,
      )
    case 'EADDRNOTAVAIL':
      return withMessage(
        `server.host: ${host} is not an address of this machine; use one of its addresses, or 0.0.0.0 for all of them`,
      )
    case 'EACCES':
      return withMessage(`server.${key}: no permission to listen on port ${port}; use a port from 1024 to 65535`)
    case 'EADDRINUSE':
      // The command suggests a flag for the port of the service.
      if (key === 'port') return error
      return withMessage(`server.${key}: ${host}:${port} is in use by another program; choose another port`)
    default:
      return error
  }
}

/** Returns the URL on which the service listens, with the mount prefix. */
export function addressOf(server: FastifyInstance, { server: { host, mount }, tls }: Config): string {
  const bound = server.server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : ''
  const name = host.includes(':') ? `[${host}]` : host
  return `${tls === null ? 'http' : 'https'}://${name}:${port}${mount}/`
}
