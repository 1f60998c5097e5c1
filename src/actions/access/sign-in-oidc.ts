/** Sign-in through an OpenID Connect provider: its start, and its end when the provider redirects back. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Role } from '../../domain/access/access.ts'
import { clientWaitMs, loginLimits } from '../../domain/access/limits.ts'
import {
  displayNameOf,
  maxOidcLogins,
  OidcError,
  oidcLoginMs,
  type ProviderIdentity,
  roleOf,
} from '../../domain/access/oidc.ts'
import type { User } from '../../domain/access/people.ts'
import { RequestError } from '../../domain/errors.ts'
import { clientKey } from '../../domain/identity/address.ts'
import { now } from '../../platform/clock.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import {
  changePeople,
  deleteSessionsOf,
  findUserByIdentity,
  insertProviderUser,
  saveUser,
} from '../../storage/people.ts'
import {
  deleteFailedLoginsOf,
  deleteOldOidcLogins,
  insertFailedLogin,
  insertOidcLogin,
  listFailedLogins,
  lockFailedLogins,
  type OidcLogin,
  takeOidcLogin,
} from '../../storage/sign-ins.ts'
import type { Access, OidcChecks, SingleSignOn } from './access.ts'
import { createSecret, hashOf } from './credentials.ts'
import { guest, openSession, type Requester, type SignedIn, signedIn } from './sign-in.ts'

export interface StartedLogin {
  /** The address of the provider at which the user signs in. */
  readonly url: string
  /** The value of the cookie that ties the sign-in to the browser. */
  readonly secret: string
}

export async function startOidcLogin(
  access: Access,
  requester: Requester,
  { redirectUri, next }: { redirectUri: string; next: string | null },
): Promise<StartedLogin> {
  const { db } = access
  const { provider } = requireSingleSignOn(access)
  await requireAttempts(access.db.read, requester)
  const secret = createSecret()
  // The provider is asked first, so that nothing is stored while it is unreachable.
  const url = await provider
    .authorizationUrl(redirectUri, checksOf(secret))
    .catch((error) => rejectLogin(access, error))
  const login: OidcLogin = { hash: hashOf(secret), next, expires_at: now() + oidcLoginMs }
  const isStored = await db.transaction(async (tx) => {
    await deleteOldOidcLogins(tx, now())
    return insertOidcLogin(tx, login, maxOidcLogins)
  })
  if (!isStored) throw new RequestError('sign_in_busy')
  return { url: url.href, secret }
}

interface FinishedLogin {
  /** The session, or why the user is not signed in. */
  readonly outcome: SignedIn | RequestError
  /** The page to open after the sign-in; null for the start page. */
  readonly next: string | null
}

/** Signs the user in with the address to which the provider redirected the browser. Each sign-in ends once. */
export async function finishOidcLogin(
  access: Access,
  requester: Requester,
  { callback, secret }: { callback: URL; secret: string | null },
): Promise<FinishedLogin> {
  const { db } = access
  const { provider } = requireSingleSignOn(access)
  if (secret === null) throw new RequestError('oidc_expired')
  const checks = checksOf(secret)
  if (!isSame(callback.searchParams.get('state') ?? '', checks.state)) throw new RequestError('oidc_expired')
  const login = await db.transaction((tx) => takeOidcLogin(tx, hashOf(secret)))
  if (login === null) throw new RequestError('oidc_expired')
  const { next } = login
  try {
    if (login.expires_at <= now()) throw new RequestError('oidc_expired')
    const identity = await provider.identify(callback, checks).catch(async (error) => {
      const isCounted = !(error instanceof OidcError) || error.problem !== 'unreachable'
      await auditFailure(access, requester, { name: 'unknown', details: { issuer: provider.issuer }, isCounted })
      return rejectLogin(access, error)
    })
    return { outcome: await signInAs(access, requester, identity), next }
  } catch (error) {
    if (error instanceof RequestError) return { outcome: error, next }
    throw error
  }
}

/** Returns the label of single sign-on; null if it is not configured. */
export function singleSignOnLabel({ singleSignOn }: Access): string | null {
  return singleSignOn?.label ?? null
}

function requireSingleSignOn({ singleSignOn }: Access): NonNullable<SingleSignOn> {
  if (singleSignOn === null) throw new RequestError('not_found', { subject: 'provider for single sign-on' })
  return singleSignOn
}

/** Derives the secrets from the one in the cookie, so that none is stored. */
function checksOf(secret: string): OidcChecks {
  const derive = (name: string) => createHash('sha256').update(`oidc ${name} ${secret}`).digest('base64url')
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
}

function isSame(value: string, expected: string): boolean {
  const [a, b] = [Buffer.from(value), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Logs why the provider did not sign the user in, which the user is not shown. */
function rejectLogin({ log, singleSignOn }: Access, error: unknown): never {
  if (!(error instanceof OidcError)) throw error
  const { problem, message } = error
  log.warn({ issuer: singleSignOn?.provider.issuer, problem, reason: message }, 'single sign-on failed')
  throw new RequestError(`oidc_${problem}`, { cause: error })
}

async function signInAs(access: Access, requester: Requester, identity: ProviderIdentity): Promise<SignedIn> {
  const { role_claim, roles } = requireSingleSignOn(access)
  const role = roleOf(identity.claims[role_claim], roles)
  const name = displayNameOf(identity)
  const outcome = await access.db.transaction(async (tx) => {
    await changePeople(tx)
    const known = await findUserByIdentity(tx.query, identity)
    if (role === null || known?.is_active === false) {
      if (known !== null) await endSessions(tx, access, known)
      return role === null ? 'no_role' : 'inactive'
    }
    const user = await saveProviderUser(tx, access, requester, { known, identity, role, name })
    await deleteFailedLoginsOf(tx, clientOf(requester), failedAccount)
    const opened = await openSession(tx, requester, user)
    await writeAudit(tx, {
      actor: signedIn(requester, opened.user),
      action: 'session.login',
      target: `user ${name}`,
      result: 'ok',
      details: { issuer: identity.issuer },
    })
    return opened
  })
  if (typeof outcome !== 'string') return outcome
  const { issuer, subject } = identity
  const details = { issuer, subject, reason: outcome }
  await auditFailure(access, requester, { name, details, isCounted: true })
  throw new RequestError(`oidc_${outcome}`)
}

interface ProviderUser {
  readonly known: User | null
  readonly identity: ProviderIdentity
  readonly role: Role
  readonly name: string
}

/** Adds the user, or updates the name and the role. A changed role ends the sessions with the former one. */
async function saveProviderUser(
  tx: Tx,
  access: Access,
  requester: Requester,
  { known, identity, role, name }: ProviderUser,
): Promise<User> {
  const { issuer, subject } = identity
  const target = `user ${name}`
  if (known === null) {
    const user = await insertProviderUser(tx, { issuer, subject, username: name, role, now: now() })
    const actor = signedIn(requester, user)
    await writeAudit(tx, { actor, action: 'user.create', target, result: 'ok', details: { role, issuer, subject } })
    return user
  }
  const user = { ...known, role, username: name }
  if (name !== known.username || role !== known.role) await saveUser(tx, known.id, { username: name, role })
  if (role !== known.role) {
    await endSessions(tx, access, known)
    const details = { role: { old: known.role, new: role }, issuer }
    await writeAudit(tx, { actor: signedIn(requester, user), action: 'user.change', target, result: 'ok', details })
  }
  return user
}

async function endSessions(tx: Tx, { credentials }: Access, { id }: User): Promise<void> {
  await deleteSessionsOf(tx, id)
  tx.afterCommit(() => credentials.end({ user: id }))
}

/** The failures of an address are counted apart from those with passwords. */
const failedAccount = 'single sign-on'

function clientOf({ address }: Requester): string {
  return `single sign-on ${clientKey(address)}`
}

/** Throws if the address has failed too often. */
async function requireAttempts(reader: Reader, requester: Requester): Promise<void> {
  const failures = await listFailedLogins(reader, clientOf(requester), now() - loginLimits.windowMs)
  const waitMs = clientWaitMs(failures, now())
  if (waitMs > 0) throw new RequestError('rate_limited', { retryAfter: Math.ceil(waitMs / 1000) })
}

interface Failure {
  readonly name: string
  readonly details: Readonly<Record<string, unknown>>
  /** True if it counts towards the limit of the address. */
  readonly isCounted: boolean
}

async function auditFailure(access: Access, requester: Requester, failure: Failure): Promise<void> {
  const { name, details, isCounted } = failure
  const actor = guest(requester, name)
  const entry = { actor, action: 'session.login', target: `user ${name}`, result: 'failed', details } as const
  await access.db.transaction(async (tx) => {
    await lockFailedLogins(tx)
    await requireAttempts(tx.query, requester)
    if (isCounted) await insertFailedLogin(tx, clientOf(requester), { account: failedAccount, at: now() })
    await writeAudit(tx, entry)
  })
}
