/** Routes for sign-in and sign-out, set-up, users, tokens and the audit log. */

import type { FastifyReply } from 'fastify'
import type { Access } from '../../actions/access/access.ts'
import {
  changeToken,
  changeUser,
  createToken,
  createUser,
  removeUser,
  revokeToken,
} from '../../actions/access/people.ts'
import {
  changeOwnPassword,
  endOwnSession,
  listOwnSessions,
  openKiosk,
  removeOwnTotp,
  type SignedIn,
  sessionId,
  setUp,
  signIn,
  signOut,
} from '../../actions/access/sign-in.ts'
import { singleSignOnLabel } from '../../actions/access/sign-in-oidc.ts'
import { confirmTotp, removeTotp, setUpTotp } from '../../actions/access/totp.ts'
import { type AuditBody, accessOperations, credentialBytes, type SignedInBody } from '../../contract/access.ts'
import { type AuditRecord, listPermissions } from '../../domain/access/access.ts'
import { toTokenBody, toUserBody } from '../../domain/access/people.ts'
import { RequestError } from '../../domain/errors.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { now } from '../../platform/clock.ts'
import { listAudit } from '../../storage/audit.ts'
import { listTokens, listUsers } from '../../storage/people.ts'
import type { ContractServer } from '../server/contract.ts'
import { clearSessionCookie, readSessionCookie, setCookies, setKioskCookie } from '../server/cookies.ts'
import { hostName } from '../server/guard.ts'
import { ifMatch } from '../server/if-match.ts'
import { requesterOf } from '../server/requester.ts'
import { paginate, readPage, rowsOf, toPageOf, toTime } from '../server/response.ts'

const smallBytes = 4096

export function accountRoutes(app: ContractServer, access: Access): void {
  sessionRoutes(app, access)
  ownAccountRoutes(app, access)
  setupRoutes(app, access)
  userRoutes(app, access)
  tokenRoutes(app, access)
  auditRoutes(app, access)
}

const open = { config: { needs: 'nothing' } } as const
/** Also for users who must set up an authenticator app first. */
const ownAccount = { config: { needs: 'read', isOwnAccount: true } } as const

function sessionRoutes(app: ContractServer, access: Access): void {
  app.route({
    ...accessOperations.signIn,
    ...open,
    bodyLimit: credentialBytes,
    handler: async (request, reply) => sendSignedIn(reply, await signIn(access, requesterOf(request), request.body)),
  })

  app.route({
    ...accessOperations.signInKiosk,
    ...open,
    bodyLimit: credentialBytes,
    handler: async (request, reply) => {
      const { token } = request.body
      const { name, role, expires_at } = await openKiosk(access, requesterOf(request), token)
      setKioskCookie(reply, { token, endsInMs: expires_at === null ? null : expires_at - now() })
      return { name, role, expires_at: expires_at === null ? null : toTimestamp(expires_at) }
    },
  })

  app.route({
    ...accessOperations.signOut,
    ...ownAccount,
    handler: async (request, reply) => {
      const session = readSessionCookie(request)
      if (request.credential?.kind === 'user' && session !== null) await signOut(access, request.actor, session)
      clearSessionCookie(reply)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...accessOperations.getSession,
    ...ownAccount,
    handler: (request) => {
      const { credential, actor, isLocal } = request
      const user = credential?.user ?? null
      return {
        user: user === null ? null : toUserBody(user),
        csrf_token: credential?.csrfToken ?? null,
        kind: actor.kind,
        name: actor.name,
        role: actor.role,
        permissions: listPermissions({
          role: credential?.role ?? null,
          isLocal,
          granted: credential?.permissions ?? [],
        }),
        totp_required: access.needsTotp(user),
      }
    },
  })

  app.route({
    ...accessOperations.changePassword,
    ...ownAccount,
    bodyLimit: smallBytes,
    handler: async (request, reply) => {
      if (request.credential === null) throw new RequestError('sign_in_needed')
      return sendSignedIn(reply, await changeOwnPassword(access, requesterOf(request), request.actor, request.body))
    },
  })
}

function ownAccountRoutes(app: ContractServer, access: Access): void {
  app.route({
    ...accessOperations.listOwnSessions,
    ...ownAccount,
    handler: async ({ actor, credential }) => {
      const sessions = await listOwnSessions(access, actor)
      return sessions.map(({ hash, created_at, last_used_at, address, agent }) => ({
        id: sessionId({ hash }),
        current: hash === credential?.hash,
        created_at: toTimestamp(created_at),
        last_used_at: toTimestamp(last_used_at),
        address,
        agent,
      }))
    },
  })

  app.route({
    ...accessOperations.endOwnSession,
    ...ownAccount,
    handler: async ({ actor, params }, reply) => {
      await endOwnSession(access, actor, params.session)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...accessOperations.setUpTotp,
    ...ownAccount,
    handler: ({ actor, host }) => setUpTotp(access, actor, hostName(host)),
  })

  app.route({
    ...accessOperations.confirmTotp,
    ...ownAccount,
    bodyLimit: smallBytes,
    handler: async ({ actor, body }) => ({ recovery_codes: [...(await confirmTotp(access, actor, body.code))] }),
  })

  app.route({
    ...accessOperations.removeTotp,
    ...ownAccount,
    bodyLimit: smallBytes,
    handler: async (request, reply) => {
      await removeOwnTotp(access, requesterOf(request), request.actor, request.body)
      return reply.code(204).send(null)
    },
  })
}

function setupRoutes(app: ContractServer, access: Access): void {
  app.route({
    ...accessOperations.getSetup,
    ...open,
    handler: async (request) => {
      const needed = await access.isSetupNeeded()
      return { needed, code_needed: needed && !request.isLocal, single_sign_on: singleSignOnLabel(access) }
    },
  })

  app.route({
    ...accessOperations.setUp,
    ...open,
    bodyLimit: smallBytes,
    handler: async (request, reply) => {
      const signedIn = await setUp(access, requesterOf(request), request.body, { needsCode: !request.isLocal })
      return sendSignedIn(reply.code(201), signedIn)
    },
  })
}

function sendSignedIn(reply: FastifyReply, signedIn: SignedIn): SignedInBody {
  setCookies(reply, signedIn)
  return { user: toUserBody(signedIn.user), csrf_token: signedIn.csrfToken }
}

// --- Administration ---------------------------------------------------------------------------------------------------

const administer = { config: { needs: 'administer' } } as const

function userRoutes(app: ContractServer, access: Access): void {
  app.route({
    ...accessOperations.listUsers,
    ...administer,
    handler: async (request) => paginate(request, (await listUsers(access.db.read)).map(toUserBody)),
  })

  app.route({
    ...accessOperations.createUser,
    ...administer,
    handler: async (request, reply) => {
      reply.code(201)
      return toUserBody(await createUser(access.db, access.hasher, request.actor, request.body))
    },
  })

  app.route({
    ...accessOperations.changeUser,
    ...administer,
    handler: async (request) => {
      const { actor, params, body } = request
      return toUserBody(await changeUser(access, actor, params.id, body, ifMatch(request, toUserBody)))
    },
  })

  app.route({
    ...accessOperations.removeUserTotp,
    ...administer,
    handler: async ({ actor, params }, reply) => {
      await removeTotp(access, actor, params.id)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...accessOperations.removeUser,
    ...administer,
    handler: async (request, reply) => {
      await removeUser(access, request.actor, request.params.id, ifMatch(request, toUserBody))
      return reply.code(204).send(null)
    },
  })
}

function tokenRoutes(app: ContractServer, access: Access): void {
  app.route({
    ...accessOperations.listTokens,
    ...administer,
    handler: async (request) => paginate(request, (await listTokens(access.db.read)).map(toTokenBody)),
  })

  app.route({
    ...accessOperations.createToken,
    ...administer,
    handler: async (request, reply) => {
      const { token, text } = await createToken(access.db, request.actor, request.body)
      reply.code(201)
      return { ...toTokenBody(token), token: text }
    },
  })

  app.route({
    ...accessOperations.changeToken,
    ...administer,
    handler: async (request) => {
      const { actor, params, body } = request
      return toTokenBody(await changeToken(access, actor, params.id, body, ifMatch(request, toTokenBody)))
    },
  })

  app.route({
    ...accessOperations.revokeToken,
    ...administer,
    handler: async (request, reply) => {
      await revokeToken(access, request.actor, request.params.id, ifMatch(request, toTokenBody))
      return reply.code(204).send(null)
    },
  })
}

function auditRoutes(app: ContractServer, access: Access): void {
  app.route({
    ...accessOperations.listAuditRecords,
    ...administer,
    handler: async ({ query, url }) => {
      const { action, actor, result, after, before } = query
      const filter = { action, actor, result, after: toTime(after), before: toTime(before) }
      const page = readPage(query)
      const { total, records } = await listAudit(access.db.read, { ...filter, ...rowsOf(page) })
      const bodies = records.map(toAuditBody)
      return page === null ? bodies : toPageOf(bodies, total, page, url)
    },
  })
}

function toAuditBody({ at, last_at, ...record }: AuditRecord): AuditBody {
  return { ...record, at: toTimestamp(at), last_at: last_at === null ? null : toTimestamp(last_at) }
}
