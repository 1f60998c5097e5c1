/** Routes of single sign-on. Browsers open them as pages, so that errors are shown on the sign-in page. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../actions/access/access.ts'
import { finishOidcLogin, startOidcLogin } from '../../actions/access/sign-in-oidc.ts'
import { accessOperations } from '../../contract/access.ts'
import { type OidcProblem, oidcProblems } from '../../domain/access/oidc.ts'
import { RequestError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/json.ts'
import { isOwnAddress, pathOf } from '../../domain/pages.ts'
import type { ContractServer } from '../server/contract.ts'
import { readOidcCookie, setCookies, setOidcCookie } from '../server/cookies.ts'
import { toRequestError } from '../server/error-response.ts'
import { prefersHtml } from '../server/html.ts'
import { requesterOf } from '../server/requester.ts'

export function oidcRoutes(app: ContractServer, access: Access, mount: string): void {
  const open = { config: { needs: 'nothing' }, errorHandler: createErrorHandler(mount) } as const

  app.route({
    ...accessOperations.startOidcLogin,
    ...open,
    handler: async (request, reply) => {
      const { next = null } = request.query
      if (next !== null && !isOwnAddress(next, mount)) {
        throw new RequestError('bad_request', { details: 'next: expected a path of this service, such as /wall' })
      }
      const { url, secret } = await startOidcLogin(access, requesterOf(request), {
        redirectUri: callbackOf(request, mount).href,
        next,
      })
      setOidcCookie(reply, secret)
      return reply.redirect(url)
    },
  })

  app.route({
    ...accessOperations.finishOidcLogin,
    ...open,
    handler: async (request, reply) => {
      const secret = readOidcCookie(request)
      const callback = callbackOf(request, mount)
      callback.search = request.url.split('?').slice(1).join('?')
      setOidcCookie(reply, null)
      const { outcome, next } = await finishOidcLogin(access, requesterOf(request), { callback, secret })
      if (outcome instanceof RequestError) return showProblem(request, reply, { error: outcome, next, mount })
      setCookies(reply, outcome)
      return reply.redirect(next ?? `${mount}/`)
    },
  })
}

/** Returns the address to which the provider redirects: that of the public URL, or of the host that was checked. */
function callbackOf(request: FastifyRequest, mount: string): URL {
  const { publicUrl } = request.server
  const base = publicUrl === null ? `${request.protocol}://${request.host}${mount}` : publicUrl.href.replace(/\/+$/, '')
  return new URL(`${base}${accessOperations.finishOidcLogin.url}`)
}

function createErrorHandler(mount: string) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const next = isRecord(request.query) ? request.query.next : null
    const isUsable = typeof next === 'string' && isOwnAddress(next, mount)
    return showProblem(request, reply, { error, next: isUsable ? next : null, mount })
  }
}

interface Problem {
  readonly error: unknown
  readonly next: string | null
  readonly mount: string
}

/**
 * Redirects a browser to the sign-in page, which has a sentence for the problem and afterwards opens the page that the
 * user wanted. Other clients get the error.
 */
function showProblem(request: FastifyRequest, reply: FastifyReply, { error, next, mount }: Problem): FastifyReply {
  const problem = problemOf(toRequestError(error))
  if (problem === null || !prefersHtml(request.headers.accept)) throw error
  const query = new URLSearchParams({ problem, ...(next !== null && { next }) })
  return reply.redirect(`${mount}${pathOf('sign_in')}?${query}`)
}

function problemOf({ code, status }: RequestError): OidcProblem | 'busy' | null {
  const found = oidcProblems.find((problem) => code === `oidc_${problem}`)
  return found ?? (status === 429 || status === 503 ? 'busy' : null)
}
