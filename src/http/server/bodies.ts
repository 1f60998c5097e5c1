/** Parses request bodies: JSON only, limited in size, number of values and depth, and without values that no database can store. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../../domain/errors.ts'
import { findUnstorable } from '../../domain/json.ts'
import { findJsonExcess, JsonDepthError } from '../../domain/json-limits.ts'

export const maxBodyBytes = 1024 * 1024
/** The longest lists of small values, such as the slots of a group, have 10,000 items. */
const maxBodyValues = 40_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The most values and the most keys of the JSON body; by default 40,000. */
    maxValues?: number
    /** True if the route reads bodies of any length as they come, unless they are JSON. */
    readsStreams?: boolean
  }
}

/** Accepts JSON bodies only. An empty body is treated as no body, whatever its content type. */
export function acceptJsonOnly(app: FastifyInstance): void {
  acceptJson(app)
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') done(null, undefined)
    else done(new RequestError('not_json_type'))
  })
}

/** Accepts JSON bodies, and no others until further parsers are added. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (!isUtf8(request.headers['content-type'])) return done(new RequestError('not_json_type'))
    const bytes = body as Buffer
    if (bytes.length === 0) return done(null, undefined)
    const excess = findJsonExcess(bytes, request.routeOptions.config.maxValues ?? maxBodyValues)
    if (excess !== null) {
      const code = excess instanceof JsonDepthError ? 'bad_request' : 'too_large'
      return done(new RequestError(code, { details: `body: ${excess.message}` }))
    }
    void parse(request, bytes.toString(), (error, parsed) => {
      if (error !== null) return done(new RequestError('not_json', { details: 'body: expected JSON', cause: error }))
      // Its depth is checked above, and JSON can contain U+0000 only as an escape.
      const fault = bytes.includes('\\u0000') ? findUnstorable(parsed) : null
      if (fault !== null) return done(badRequest(`${fault.path.join('.') || 'body'}: ${fault.problem}`))
      done(null, parsed)
    })
  })
}

function badRequest(details: string): RequestError {
  return new RequestError('bad_request', { details })
}

/** UTF-8 is the default of a content type without a charset. */
function isUtf8(type = ''): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? []
  return /^utf-?8$/i.test(charset)
}

/** Methods whose body Fastify does not read. */
const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'TRACE'])

/** Ignores the body of a request whose method has none, but rejects it if it exceeds the size limit. */
export function ignoreBody(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  const { method, headers, raw, routeOptions } = request
  const isJson = headers['content-type']?.startsWith('application/json') === true
  const isStream = routeOptions.config.readsStreams === true && !isJson
  const maxBytes = isStream ? Number.POSITIVE_INFINITY : (routeOptions.bodyLimit ?? maxBodyBytes)
  const tooLarge = () => {
    raw.off('data', count).off('end', done)
    reply.header('connection', 'close')
    done(new RequestError('too_large'))
  }
  let size = 0
  const count = (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) tooLarge()
  }
  const isChunked = headers['transfer-encoding'] !== undefined
  if (Number(headers['content-length'] ?? 0) > maxBytes) tooLarge()
  else if (isChunked && bodiless.has(method) && !request.ws) raw.on('data', count).once('end', done)
  else done()
}
