/** The default headers of all responses; a response may override them. */

import type { FastifyReply } from 'fastify'
import type { Config } from '../../config.ts'
import { Incoming } from './incoming.ts'

declare module 'fastify' {
  interface FastifyInstance {
    constantHeaders: readonly (readonly [name: string, value: string])[]
    /** True once the service is stopping. Each connection is then closed after its current response. */
    isStopping(): boolean
  }
}

export type ConstantHeaders = Readonly<Record<string, string>>

export function constantHeaders({ frame_ancestors, strict_transport }: Config['server']): ConstantHeaders {
  return {
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; " +
      `frame-ancestors ${frame_ancestors.length === 0 ? "'none'" : frame_ancestors.join(' ')}; object-src 'none'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    ...(strict_transport && { 'strict-transport-security': 'max-age=31536000' }),
  }
}

export function addConstantHeaders(reply: FastifyReply): void {
  for (const [name, value] of reply.server.constantHeaders) if (!reply.hasHeader(name)) reply.header(name, value)
}

/** Announces that the connection will be closed after this response and, for status 426, which upgrade is required. */
export function addConnectionHeaders(reply: FastifyReply): void {
  const { raw } = reply.request
  const isLast = reply.server.isStopping() || (raw instanceof Incoming && raw.isUpgradeRequest)
  const isUpgradeRequired = reply.statusCode === 426
  if (isUpgradeRequired)
    reply.header('upgrade', 'websocket').header('connection', isLast ? 'upgrade, close' : 'upgrade')
  else if (isLast) reply.header('connection', 'close')
}
