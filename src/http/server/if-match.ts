/** The versions of records in `ETag` and `If-Match`. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { OperationSchema } from '../../contract/endpoint.ts'
import { RequestError } from '../../domain/errors.ts'
import type { RequireVersion, Versioned } from '../../domain/versions.ts'

/** Returns a check of the version that the request expects. `toBody` returns the record as clients receive it. */
export function ifMatch<Stored extends Versioned>(
  request: FastifyRequest,
  toBody: (record: Stored) => unknown = (record) => record,
): RequireVersion<Stored> {
  const versions = readIfMatch(request)
  return (record, subject) => {
    if (versions === null || (record !== null && versions.has(record.version))) return
    const details = record === null ? 'If-Match: there is no record' : `If-Match: expected "${record.version}"`
    throw new RequestError('stale', { subject, details, current: record && toBody(record) })
  }
}

/** Returns the versions in `If-Match`, of which the record must have one; null without the header, or for `*`. */
function readIfMatch({ headers }: FastifyRequest): ReadonlySet<number> | null {
  const header = headers['if-match']?.trim()
  if (header === undefined || header === '*') return null
  const versions = header.split(',').map((tag) => /^(?:W\/)?"(\d{1,15})"$/.exec(tag.trim())?.[1])
  if (versions.includes(undefined)) {
    throw new RequestError('bad_request', { details: 'If-Match: expected a version in quotation marks, such as "12"' })
  }
  return new Set(versions.map(Number))
}

/** Adds the `ETag` to responses with a single record. Must be called before the routes are registered. */
export function tagVersions(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { response = {} } = (route.schema ?? {}) as Partial<OperationSchema>
    if (![200, 201].some((status) => response[status] !== undefined && hasVersion(response[status]))) return
    route.preSerialization = (_request, reply, payload, done) => {
      const { version } = payload as Partial<Versioned>
      if (reply.statusCode < 300 && version !== undefined) reply.header('etag', `"${version}"`)
      done(null, payload)
    }
  })
}

function hasVersion(schema: { readonly properties?: { readonly version?: { readonly type?: unknown } } }): boolean {
  return schema.properties?.version?.type === 'integer'
}
