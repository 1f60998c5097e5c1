import type { FastifyRequest } from 'fastify'
import { RequestError } from '../../domain/errors.ts'

/** Returns the versions in `If-Match`, of which the record must have one; null without the header, or for `*`. */
export function readIfMatch({ headers }: FastifyRequest): ReadonlySet<number> | null {
  const header = headers['if-match']?.trim()
  if (header === undefined || header === '*') return null
  const versions = header.split(',').map((tag) => /^(?:W\/)?"(\d{1,15})"$/.exec(tag.trim())?.[1])
  if (versions.includes(undefined)) {
    throw new RequestError('bad_request', { details: 'If-Match: expected a version in quotation marks, such as "12"' })
  }
  return new Set(versions.map(Number))
}
