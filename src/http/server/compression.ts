/** Compresses responses for clients that accept gzip. */

import { promisify } from 'node:util'
import { gzip as gzipInThreadPool } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Smaller responses are not compressed. This includes those with secrets, so their sizes reveal nothing (BREACH). */
export const minGzipBytes = 1024

export const fastest = { level: 1 }

export const gzip = promisify<Uint8Array | string, { level: number }, Buffer>(gzipInThreadPool)

export function acceptsGzip(request: FastifyRequest): boolean {
  const offered = request.headers['accept-encoding']
  return typeof offered === 'string' && /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(offered)
}

const textType = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml)\b)/

/** Compresses every text that a handler sends as a whole. Streams and cached responses are compressed elsewhere. */
export function compressTexts(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!isLongText(reply, payload)) return payload
    const vary = reply.getHeader('vary')
    reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`)
    if (!acceptsGzip(request)) return payload
    const compressed = await gzip(payload, fastest)
    reply.header('content-encoding', 'gzip').removeHeader('content-length')
    return compressed
  })
}

function isLongText(reply: FastifyReply, payload: unknown): payload is string | Uint8Array {
  if (typeof payload !== 'string' && !(payload instanceof Uint8Array)) return false
  if (payload.length < minGzipBytes || reply.hasHeader('content-encoding')) return false
  return textType.test(String(reply.getHeader('content-type')))
}
