/** Identifies clients among which resources are shared. */

import type { FastifyRequest } from 'fastify'
import { addressOf } from './rate-limit.ts'

/** A session, a token with its address, or otherwise an address. Screens that share a token are separate clients. */
export function clientKeyOf(request: FastifyRequest): string {
  const { credential } = request
  if (credential === null) return addressOf(request)
  return credential.kind === 'token' ? `${credential.hash} ${addressOf(request)}` : credential.hash
}
