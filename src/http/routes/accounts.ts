/** Routes for sign-in and sign-out, set-up, users, tokens and the audit log. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { openKiosk } from '../../actions/open-kiosk.ts'
import { changeToken, changeUser, createToken, createUser, removeUser, revokeToken } from '../../actions/people.ts'
import {
  changeOwnPassword,
  isSetupNeeded,
  type Requester,
  type SetupDeps,
  type SignedIn,
  setUp,
  signIn,
  signOut,
} from '../../actions/sign-in.ts'
import type { AuditBody, KioskOpenBody, SessionBody, SetupBody, SignedInBody } from '../../contract/admin.ts'
import { auditResults, roles } from '../../contract/values.ts'
import { type AuditRecord, listPermissions } from '../../domain/access/access.ts'
import { toTokenBody, toUserBody } from '../../domain/access/people.ts'
import { toTimestamp } from '../../domain/api.ts'
import { RequestError } from '../../domain/errors.ts'
import { listAudit } from '../../storage/audit.ts'
import { listTokens, listUsers } from '../../storage/people.ts'
import {
  clearSessionCookie,
  readBrowserCookie,
  readSessionCookie,
  setCookies,
  setKioskCookie,
} from '../server/cookies.ts'
import {
  type Query,
  readChoice,
  readId,
  readPage,
  readParameter,
  readTime,
  toPage,
  toPageOf,
} from '../server/response.ts'
import { body, flag, nullable, text } from '../server/schemas.ts'

export type AccountDeps = SetupDeps

/** Maximum body size of unauthenticated requests, which only contain credentials. */
const loginBytes = 1024
const smallBytes = 4096

const role = Type.Enum([...roles], { description: roles.join(', ') })
const username = text(1, 64)
const name = text(1, 255)
/** The minimum length is checked in `domain/access/password.ts`, with a message for users. */
const password = text(1, 1024)
const expiresAt = Type.Optional(nullable(text(1, 64), 'a time such as 2030-12-31T00:00:00Z'))

const LoginBody = body({ username: text(1, loginBytes), password: text(1, loginBytes) })
const KioskBody = body({ token: text(1, 128) })
const PasswordBody = body({ current_password: password, new_password: password })
const SetupRequest = body({ username, password, code: Type.Optional(text(1, 64)) })
const NewUser = body({ username, password, role })
const UserChange = body({
  role: Type.Optional(role),
  is_active: Type.Optional(flag),
  password: Type.Optional(password),
})
const NewToken = body({ name, role, expires_at: expiresAt })
const TokenChange = body({ name: Type.Optional(name), role: Type.Optional(role), expires_at: expiresAt })

export function accountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  sessionRoutes(app, deps)
  setupRoutes(app, deps)
  userRoutes(app, deps)
  tokenRoutes(app, deps)
  auditRoutes(app, deps)
}

function sessionRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const open = { config: { needs: 'nothing' } } as const

  app.post<{ Body: Type.Static<typeof LoginBody> }>(
    '/api/auth/login',
    { ...open, bodyLimit: loginBytes, schema: { body: LoginBody } },
    async (request, reply) => sendSignedIn(reply, await signIn(deps, requesterOf(request), request.body)),
  )

  app.post<{ Body: Type.Static<typeof KioskBody> }>(
    '/api/auth/kiosk',
    { ...open, bodyLimit: loginBytes, schema: { body: KioskBody } },
    async (request, reply) => {
      const { token } = request.body
      const { name, role, expires_at } = await openKiosk(deps, requesterOf(request), token)
      setKioskCookie(reply, { token, endsInMs: expires_at === null ? null : expires_at - deps.now() })
      const response: KioskOpenBody = { name, role, expires_at: expires_at === null ? null : toTimestamp(expires_at) }
      return reply.send(response)
    },
  )

  app.post('/api/auth/logout', { config: { needs: 'read' } }, async (request, reply) => {
    const session = readSessionCookie(request)
    if (request.credential?.kind === 'user' && session !== null) await signOut(deps, request.actor, session)
    clearSessionCookie(reply)
    return reply.code(204).send()
  })

  app.get('/api/auth/session', (request): SessionBody => {
    const { credential, actor, isLocal } = request
    const user = credential?.user ?? null
    return {
      user: user === null ? null : toUserBody(user),
      csrf_token: credential?.csrfToken ?? null,
      kind: actor.kind,
      name: actor.name,
      role: actor.role,
      permissions: listPermissions({ role: credential?.role ?? null, isLocal }),
    }
  })

  app.post<{ Body: Type.Static<typeof PasswordBody> }>(
    '/api/auth/password',
    { config: { needs: 'read' }, bodyLimit: smallBytes, schema: { body: PasswordBody } },
    async (request, reply) => {
      if (request.credential === null) throw new RequestError('sign_in_needed')
      return sendSignedIn(reply, await changeOwnPassword(deps, requesterOf(request), request.actor, request.body))
    },
  )
}

function setupRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const open = { config: { needs: 'nothing' } } as const

  app.get('/api/auth/setup', open, async (request): Promise<SetupBody> => {
    const needed = await isSetupNeeded(deps)
    return { needed, code_needed: needed && !request.isLocal }
  })

  app.post<{ Body: Type.Static<typeof SetupRequest> }>(
    '/api/auth/setup',
    { ...open, bodyLimit: smallBytes, schema: { body: SetupRequest } },
    async (request, reply) => {
      const signedIn = await setUp(deps, requesterOf(request), request.body, { needsCode: !request.isLocal })
      return sendSignedIn(reply.code(201), signedIn)
    },
  )
}

function requesterOf(request: FastifyRequest): Requester {
  return { address: request.ip, browser: readBrowserCookie(request), request: request.id }
}

function sendSignedIn(reply: FastifyReply, signedIn: SignedIn): FastifyReply {
  setCookies(reply, signedIn)
  const response: SignedInBody = { user: toUserBody(signedIn.user), csrf_token: signedIn.csrfToken }
  return reply.send(response)
}

// --- Administration ---------------------------------------------------------------------------------------------------

const administer = { config: { needs: 'administer' } } as const

interface WithId {
  readonly Params: { readonly id: string }
}

function userRoutes(app: FastifyInstance, deps: AccountDeps): void {
  app.get('/api/admin/users', administer, async (request) =>
    sendList((await listUsers(deps.db.read)).map(toUserBody), request),
  )

  app.post<{ Body: Type.Static<typeof NewUser> }>(
    '/api/admin/users',
    { ...administer, schema: { body: NewUser } },
    async (request, reply) => reply.code(201).send(toUserBody(await createUser(deps, request.actor, request.body))),
  )

  app.patch<WithId & { Body: Type.Static<typeof UserChange> }>(
    '/api/admin/users/:id',
    { ...administer, schema: { body: UserChange } },
    async (request) => toUserBody(await changeUser(deps, request.actor, readId(request.params.id), request.body)),
  )

  app.delete<WithId>('/api/admin/users/:id', administer, async (request, reply) => {
    await removeUser(deps, request.actor, readId(request.params.id))
    return reply.code(204).send()
  })
}

function tokenRoutes(app: FastifyInstance, deps: AccountDeps): void {
  app.get('/api/admin/tokens', administer, async (request) =>
    sendList((await listTokens(deps.db.read)).map(toTokenBody), request),
  )

  app.post<{ Body: Type.Static<typeof NewToken> }>(
    '/api/admin/tokens',
    { ...administer, schema: { body: NewToken } },
    async (request, reply) => {
      const { token, text } = await createToken(deps, request.actor, request.body)
      return reply.code(201).send({ ...toTokenBody(token), token: text })
    },
  )

  app.patch<WithId & { Body: Type.Static<typeof TokenChange> }>(
    '/api/admin/tokens/:id',
    { ...administer, schema: { body: TokenChange } },
    async (request) => toTokenBody(await changeToken(deps, request.actor, readId(request.params.id), request.body)),
  )

  app.delete<WithId>('/api/admin/tokens/:id', administer, async (request, reply) => {
    await revokeToken(deps, request.actor, readId(request.params.id))
    return reply.code(204).send()
  })
}

/** The maximum number of records in an unpaged response; use paging to get more. */
const maxUnpaged = 1000

function auditRoutes(app: FastifyInstance, deps: AccountDeps): void {
  app.get('/api/admin/audit', administer, async (request) => {
    const query = request.query as Query
    const filter = {
      action: readParameter(query, 'action'),
      actor: readParameter(query, 'actor'),
      result: readChoice(query, 'result', auditResults),
      after: readTime(query, 'after'),
      before: readTime(query, 'before'),
    }
    const page = readPage(query)
    const { size, page: number } = page ?? { size: maxUnpaged, page: 1 }
    const { total, records } = await listAudit(deps.db.read, { ...filter, limit: size, offset: (number - 1) * size })
    const bodies = records.map(toAuditBody)
    return page === null ? bodies : toPageOf(bodies, total, page, request.url)
  })
}

function toAuditBody({ at, ...record }: AuditRecord): AuditBody {
  return { ...record, at: toTimestamp(at) }
}

function sendList<Item>(items: readonly Item[], request: FastifyRequest) {
  const page = readPage(request.query as Query)
  return page === null ? items : toPage(items, page, request.url)
}
