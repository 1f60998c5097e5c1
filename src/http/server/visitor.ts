import type { preHandlerAsyncHookHandler } from 'fastify'
import type { Access } from '../../actions/access/access.ts'
import { signVisitorIn } from '../../actions/access/visitor.ts'
import { setCookies } from './cookies.ts'
import { requesterOf } from './requester.ts'

/** Returns a handler that signs clients on this machine in as the visitor of a demo, unless they are signed in. */
export function createVisitorHook(access: Access): preHandlerAsyncHookHandler {
  return async (request, reply) => {
    if (!request.isLocal || request.credential !== null) return
    const session = await signVisitorIn(access, requesterOf(request))
    if (session !== null) setCookies(reply, session)
  }
}
