/** Describes the client of a sign-in. */

import type { FastifyRequest } from 'fastify'
import type { Requester } from '../../actions/access/sign-in.ts'
import { clientKeyOf } from './client-key.ts'
import { readBrowserCookie } from './cookies.ts'

export function requesterOf(request: FastifyRequest): Requester {
  return { client: clientKeyOf(request), address: request.ip, browser: readBrowserCookie(request), request: request.id }
}
