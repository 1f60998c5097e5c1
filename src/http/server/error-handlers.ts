/** Responds to errors of handlers and hooks, and to requests without a route. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError, type RequestErrorCode } from '../../domain/errors.ts'
import { pathOf } from '../../domain/pages.ts'
import type { Service } from '../../service.ts'
import { sendPage } from '../routes/pages.ts'
import { isNavigation, redirectToSignIn, sendError, toRequestError } from './error-response.ts'
import type { ConstantHeaders } from './headers.ts'
import type { RequestLimiter } from './rate-limit.ts'

interface ErrorPages {
  /** The page, which is the response to a navigation to an unknown address. */
  readonly html: string
  readonly headers: ConstantHeaders
  readonly rateLimit: RequestLimiter
}

/** Must be called before the routes are registered. */
export function handleErrors(
  app: FastifyInstance,
  { mount, log }: Service,
  { html, headers, rateLimit }: ErrorPages,
): void {
  app.setErrorHandler(async (error, request, reply) => {
    let requestError = toRequestError(error)
    try {
      if (guardErrors.has(requestError.code)) await rateLimit.countByAddress(request, reply)
    } catch (rateLimitError) {
      requestError = toRequestError(rateLimitError)
    }
    const isNavigating = isNavigation(request)
    if (requestError.code === 'sign_in_needed' && (isNavigating || request.routeOptions.config.isPage)) {
      return redirectToSignIn(reply, mount)
    }
    if (requestError.code === 'totp_needed' && isNavigating) return reply.redirect(`${mount}${pathOf('account')}`)
    if (requestError.code === 'not_found' && isNavigating) return sendPage(reply.code(requestError.status), html)
    if (requestError.status === 500) log.error({ err: error, request: request.id }, 'request failed')
    return sendError(reply, requestError, headers)
  })
  const methodsOf = collectMethods(app)
  const respondToUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    const [path = ''] = request.url.split('?')
    const allowed = methodsOf(decodeURI(path))
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new RequestError('not_found', { subject: `such address: ${path}` })
    reply.header('allow', allowed.join(', '))
    throw new RequestError('wrong_method', { subject: request.method })
  }
  app.setNotFoundHandler(respondToUnknown)
  void app.register(
    (api, _options, done) => {
      api.setNotFoundHandler(respondToUnknown)
      done()
    },
    { prefix: `${mount}/api` },
  )
}

/** Errors from the guard, which are thrown before the rate limiter has counted the request. */
const guardErrors: ReadonlySet<RequestErrorCode> = new Set([
  'sign_in_needed',
  'not_allowed',
  'csrf_token_needed',
  'foreign_origin',
  'misdirected',
])

/** Records the methods of every route, to distinguish a wrong method from an unknown path. */
function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const path = url.replace(/(.)\/$/, '$1')
    const pattern = new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.*')}/?$`)
    const route = known.get(path) ?? { pattern, methods: new Set<string>() }
    for (const name of [method].flat()) route.methods.add(name)
    known.set(path, route)
  })
  return (path) => {
    const routes = [...known.values()].filter(({ pattern }) => pattern.test(path))
    return [...new Set(routes.flatMap(({ methods }) => [...methods]))]
  }
}
