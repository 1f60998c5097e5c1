/** Describes the client of a sign-in. */

import type { FastifyRequest } from 'fastify'
import type { Requester } from '../../actions/access/sign-in.ts'
import { clientKeyOf } from './client-key.ts'
import { readBrowserCookie } from './cookies.ts'

const maxAgentLength = 300

export function requesterOf(request: FastifyRequest): Requester {
  const agent = request.headers['user-agent']?.slice(0, maxAgentLength) ?? null
  const client = clientKeyOf(request)
  return { client, address: request.ip, browser: readBrowserCookie(request), agent, request: request.id }
}
