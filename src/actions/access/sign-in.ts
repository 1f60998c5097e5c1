/** Sign-in, sign-out, password change and the set-up of the first administrator. */

import { timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor, AuditEntry } from '../../domain/access/access.ts'
import { normalizeCode } from '../../domain/access/codes.ts'
import { globalLoginLimit, loginLimits, loginWaitMs } from '../../domain/access/limits.ts'
import { isUsername, passwordProblem, usernameKey } from '../../domain/access/password.ts'
import { type ApiToken, sessionEnd, type User } from '../../domain/access/people.ts'
import { RequestError } from '../../domain/errors.ts'
import { clientKey } from '../../domain/identity/address.ts'
import { now } from '../../platform/clock.ts'
import type { ClientKey } from '../../platform/concurrency.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import {
  changePeople,
  countAdmins,
  deleteSession,
  deleteSessionsOf,
  findTokensByHash,
  findUser,
  findUserByName,
  insertSession,
  insertUser,
  type ListedSession,
  listSessions,
  saveLastLogin,
  saveUser,
  type UserWithPassword,
} from '../../storage/people.ts'
import {
  countFailedLogins,
  deleteFailedLogin,
  deleteFailedLoginsOf,
  insertFailedLogin,
  isKnownBrowser,
  listFailedLogins,
  lockFailedLogins,
  saveKnownBrowser,
} from '../../storage/sign-ins.ts'
import type { Access } from './access.ts'
import { createSecret, csrfTokenOf, hashOf } from './credentials.ts'
import { redeemCode, removeTotp } from './totp.ts'

/** The client that sent the request. */
export interface Requester {
  /** Identifies the client among those that wait for passwords to be verified. */
  readonly client: ClientKey
  readonly address: string
  /** The cookie that identifies a browser that has signed in before. */
  readonly browser: string | null
  /** The client's program, as it names itself; null if it does not. */
  readonly agent: string | null
  /** The request's id. */
  readonly request?: string | undefined
}

export interface SignedIn {
  readonly user: User
  /** The value of the session cookie. */
  readonly session: string
  readonly csrfToken: string
  /** The value of the cookie that identifies the browser at its next sign-in. */
  readonly browser: string
}

/**
 * Signs a user in. An unknown user and a wrong password lead to the same message, the same status and the same response
 * time.
 */
export async function signIn(
  access: Access,
  requester: Requester,
  { username, password, code }: { username: string; password: string; code?: string | undefined },
): Promise<SignedIn> {
  const { db, hasher, secrets } = access
  const user = await findUserByName(db.read, username)
  const isKnown =
    user !== null && requester.browser !== null && (await isKnownBrowser(db.read, hashOf(requester.browser), user.id))
  const client = isKnown ? `browser ${hashOf(requester.browser ?? '')}` : clientKey(requester.address)
  const account = `user ${usernameKey(username)}`
  // A password typed into the name field must not reach the log.
  const actor = guest(requester, user === null ? 'unknown' : user.username)

  const counted = await countAttempt(access, { client, account })
  if (!isKnown && (await countFailedLogins(db.read, now() - loginLimits.windowMs)) > globalLoginLimit.failures) {
    await sleep(globalLoginLimit.delayMs)
  }
  const matches = await hasher
    .verify(user?.password ?? null, password, requester.client)
    .catch((error) => discardAttempt(access, counted, error))
  if (user === null || !matches || !user.is_active) {
    await auditFailure(
      access,
      { actor, action: 'session.login', target: `user ${actor.name}`, result: 'failed' },
      counted,
    )
    throw new RequestError('wrong_credentials')
  }
  if (user.has_totp && code === undefined) {
    await discardAttempt(access, counted, new RequestError('code_needed', { details: 'code: required' }))
  }

  const opened = await db.transaction(async (tx) => {
    await changePeople(tx)
    // The password or the account may have changed while the hash was computed.
    const current = await findUserByName(tx.query, username)
    if (current?.id !== user.id || !current.is_active || current.password !== user.password) {
      throw new RequestError('wrong_credentials')
    }
    if (current.has_totp && !(await redeemCode(tx, secrets, current.id, code ?? ''))) return null
    await deleteFailedLoginsOf(tx, client, account)
    const opened = await openSession(tx, requester, current)
    await writeAudit(tx, {
      actor: signedIn(requester, current),
      action: 'session.login',
      target: `user ${user.username}`,
      result: 'ok',
    })
    return opened
  })
  if (opened !== null) return opened
  const entry = { actor, action: 'session.login', target: `user ${user.username}`, result: 'failed' } as const
  await auditFailure(access, entry, counted)
  throw new RequestError('code_refused', { details: 'code: not accepted' })
}

/** Signs an unattended screen in with the read-only API token `text`. The cookie of the kiosk screen expires with that token. */
export async function openKiosk({ db }: Access, { address }: Requester, text: string): Promise<ApiToken> {
  const [token] = await findTokensByHash(db.read, [hashOf(text)])
  if (token === undefined || (token.expires_at !== null && token.expires_at <= now()))
    throw new RequestError('wrong_token')
  const { id, name, role } = token
  if (role !== 'viewer') throw new RequestError('not_a_viewer')
  const actor = { kind: 'token', id, name, role, address } as const
  await db.transaction((tx) =>
    writeAudit(tx, { actor, action: 'session.kiosk', target: `token ${id} ${name}`, result: 'ok' }),
  )
  return token
}

/** Signs a session out: immediately in this process, and within one second in the others. */
export async function signOut({ db, credentials }: Access, actor: Actor, session: string): Promise<void> {
  const hash = hashOf(session)
  await db.transaction(async (tx) => {
    await changePeople(tx)
    await deleteSession(tx, hash)
    await writeAudit(tx, { actor, action: 'session.logout', target: `user ${actor.name}`, result: 'ok' })
    tx.afterCommit(() => credentials.end({ hash }))
  })
}

/** Signs the user out of one of their sessions. */
export async function endOwnSession({ db, credentials }: Access, actor: Actor, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await changePeople(tx)
    const sessions = await listSessions(tx.query, requireUserId(actor))
    const hash = sessions.find((session) => sessionId(session) === id)?.hash
    if (hash === undefined) throw new RequestError('not_found', { subject: `session ${id}` })
    await deleteSession(tx, hash)
    await writeAudit(tx, { actor, action: 'session.end', target: `session ${id} of user ${actor.name}`, result: 'ok' })
    tx.afterCommit(() => credentials.end({ hash }))
  })
}

/** Returns the sessions of the user that have not expired. */
export async function listOwnSessions({ db }: Access, actor: Actor): Promise<readonly ListedSession[]> {
  const sessions = await listSessions(db.read, requireUserId(actor))
  return sessions.filter((session) => sessionEnd(session) > now())
}

/** A part of the stored hash, which reveals nothing about the cookie. */
export function sessionId({ hash }: { readonly hash: string }): string {
  return hash.slice(0, 16)
}

function requireUserId({ kind, id }: Actor): number {
  if (kind !== 'user' || id === null) throw new RequestError('not_a_user')
  return id
}

/** Changes the user's password. Signs the user out everywhere and opens a new session for the requesting browser. */
export async function changeOwnPassword(
  access: Access,
  requester: Requester,
  actor: Actor,
  { current_password, new_password }: { current_password: string; new_password: string },
): Promise<SignedIn> {
  const { db, hasher, credentials } = access
  const stored = await findOwnAccount(access, actor)
  await checkPassword('new_password', new_password, stored.username)
  const entry = { actor, action: 'user.password', target: `user ${stored.username}` } as const
  const attempt = await verifyOwnPassword(access, requester, stored, current_password, entry)
  const hash = await hasher
    .hash(new_password, requester.client)
    .catch((error) => discardAttempt(access, attempt, error))

  return db.transaction(async (tx) => {
    await changePeople(tx)
    const current = await findUserByName(tx.query, stored.username)
    if (current?.id !== stored.id || !current.is_active || current.password !== stored.password) {
      throw new RequestError('sign_in_needed')
    }
    await deleteFailedLoginsOf(tx, attempt.client, attempt.account)
    await saveUser(tx, stored.id, { password: { hash, changedAt: now() } })
    await deleteSessionsOf(tx, stored.id)
    await writeAudit(tx, { ...entry, result: 'ok' })
    tx.afterCommit(() => credentials.end({ user: stored.id }))
    return openSession(tx, requester, current)
  })
}

/** Removes the user's authenticator app. */
export async function removeOwnTotp(
  access: Access,
  requester: Requester,
  actor: Actor,
  { current_password }: { current_password: string },
): Promise<void> {
  const stored = await findOwnAccount(access, actor)
  const entry = { actor, action: 'user.totp', target: `user ${stored.username}` } as const
  const { client, account } = await verifyOwnPassword(access, requester, stored, current_password, entry)
  await access.db.transaction((tx) => deleteFailedLoginsOf(tx, client, account))
  await removeTotp(access, actor, stored.id)
}

async function findOwnAccount({ db }: Access, actor: Actor): Promise<UserWithPassword> {
  const stored = actor.kind === 'user' ? await findUserByName(db.read, actor.name) : null
  if (stored === null || stored.id !== actor.id) throw new RequestError('not_a_user')
  return stored
}

/** Throws a RequestError if the password is wrong. Attempts are limited as those to sign in are. */
async function verifyOwnPassword(
  access: Access,
  requester: Requester,
  stored: UserWithPassword,
  current_password: string,
  entry: Omit<AuditEntry, 'result'>,
): Promise<CountedAttempt & { readonly client: string; readonly account: string }> {
  const { db, hasher } = access
  const isKnown = requester.browser !== null && (await isKnownBrowser(db.read, hashOf(requester.browser), stored.id))
  const client = isKnown ? `browser ${hashOf(requester.browser ?? '')}` : clientKey(requester.address)
  const account = `user ${usernameKey(stored.username)}`
  const counted = await countAttempt(access, { client, account })
  const matches = await hasher
    .verify(stored.password, current_password, requester.client)
    .catch((error) => discardAttempt(access, counted, error))
  if (!matches) {
    await auditFailure(access, { ...entry, result: 'failed' }, counted)
    throw new RequestError('bad_request', { details: 'current_password: this is not your password' })
  }
  return { ...counted, client, account }
}

// --- The first administrator ------------------------------------------------------------------------------------------

/**
 * Creates the first administrator. `needsCode` is false when only clients on the same machine can reach the service.
 */
export async function setUp(
  access: Access,
  requester: Requester,
  { username, password, code = '' }: { username: string; password: string; code?: string | undefined },
  { needsCode }: { needsCode: boolean },
): Promise<SignedIn> {
  const { db, hasher, setupCode } = access
  if (!(await access.isSetupNeeded())) throw new RequestError('already_set_up')
  const client = clientKey(requester.address)
  const account = 'set-up'
  if (needsCode) {
    const counted = await countAttempt(access, { client, account })
    if (!isCode(code, setupCode.current())) {
      const actor = guest(requester, 'unknown')
      await auditFailure(access, { actor, action: 'setup', target: 'service', result: 'failed' }, counted)
      throw new RequestError('wrong_code')
    }
    await db.transaction((tx) => deleteFailedLogin(tx, counted.id))
  }
  await checkNewUser(username, password)
  const hash = await hasher.hash(password, requester.client)
  return db.transaction(async (tx) => {
    await changePeople(tx)
    if ((await countAdmins(tx.query)) > 0) throw new RequestError('already_set_up')
    // Another request may have used the code by now.
    if (needsCode && !isCode(code, setupCode.current())) throw new RequestError('wrong_code')
    const user = await insertUser(tx, { username, role: 'admin', permissions: [], password: hash, now: now() })
    if (user === null) throw new RequestError('name_taken', { subject: username })
    await writeAudit(tx, {
      actor: signedIn(requester, user),
      action: 'setup',
      target: `user ${user.username}`,
      result: 'ok',
    })
    tx.afterCommit(() => access.endSetup())
    return openSession(tx, requester, user)
  })
}

function isCode(entered: string, expected: string | null): boolean {
  const code = normalizeCode(entered)
  if (expected === null || code.length !== expected.length) return false
  const [a, b] = [Buffer.from(hashOf(code)), Buffer.from(hashOf(expected))]
  return timingSafeEqual(a, b)
}

/** Validates a new user. Throws a RequestError that names the invalid field. */
export async function checkNewUser(username: string, password: string): Promise<void> {
  if (!isUsername(username)) {
    throw new RequestError('bad_request', {
      details: 'username: expected 1 to 64 letters, digits and . _ @ -, beginning with a letter or digit',
    })
  }
  await checkPassword('password', password, username)
}

/** Validates a new password. Throws a RequestError that names the field. */
export async function checkPassword(field: string, password: string, username: string): Promise<void> {
  const { commonPasswords } = await import('./common-passwords.ts')
  const problem = passwordProblem(password, username, commonPasswords)
  if (problem !== null) throw new RequestError('bad_request', { details: `${field}: ${problem}` })
}

// --- Attempts ---------------------------------------------------------------------------------------------------------

interface CountedAttempt {
  readonly id: number
  /** True if no further attempt is allowed. */
  readonly isLast: boolean
}

/** Counts an attempt as failed before the password is checked, so that parallel attempts cannot exceed the limit. */
async function countAttempt(
  { db }: Access,
  { client, account }: { client: string; account: string },
): Promise<CountedAttempt> {
  const at = now()
  const attempt = await db.transaction(async (tx) => {
    await lockFailedLogins(tx)
    const failures = await listFailedLogins(tx.query, client, at - loginLimits.windowMs)
    const waitMs = loginWaitMs(failures, account, at)
    if (waitMs > 0) return { waitMs }
    const id = await insertFailedLogin(tx, client, { account, at })
    return { waitMs, id, isLast: loginWaitMs([...failures, { account, at }], account, at) > 0 }
  })
  if (attempt.id === undefined) throw new RequestError('rate_limited', { retryAfter: Math.ceil(attempt.waitMs / 1000) })
  return attempt
}

/** Removes a counted attempt whose password was not checked. */
async function discardAttempt({ db }: Access, { id }: CountedAttempt, error: unknown): Promise<never> {
  await db.transaction((tx) => deleteFailedLogin(tx, id))
  throw error
}

/**
 * Writes a failed attempt to the audit log. Only called for attempts within the limit, because a flood of further
 * attempts would displace all other entries.
 */
async function auditFailure({ db }: Access, entry: AuditEntry, { isLast }: CountedAttempt): Promise<void> {
  await db.transaction((tx) => writeAudit(tx, { ...entry, details: isLast ? { limited: true } : {} }))
}

/** Opens a session for a user whose identity is proven. Call `changePeople` first. */
export async function openSession(tx: Tx, requester: Requester, { id }: User): Promise<SignedIn> {
  const session = createSecret()
  const browser = requester.browser ?? createSecret()
  const { address, agent } = requester
  await insertSession(tx, { hash: hashOf(session), user_id: id, now: now(), address, agent })
  await saveKnownBrowser(tx, { hash: hashOf(browser), user_id: id, now: now() })
  await saveLastLogin(tx, id, now())
  const user = await findUser(tx.query, id)
  if (user === null) throw new RequestError('wrong_credentials')
  return { user, session, csrfToken: csrfTokenOf(session), browser }
}

export function guest({ address, request }: Requester, name: string): Actor {
  return { kind: 'guest', id: null, name, role: 'viewer', address, request }
}

export function signedIn({ address, request }: Requester, { id, username: name, role }: User): Actor {
  return { kind: 'user', id, name, role, address, request }
}
