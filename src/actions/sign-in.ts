/** Sign in and out, change one's own password, make the first administrator. */

import { randomInt, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor, AuditEntry } from '../model/access.ts'
import { clientKey } from '../model/address.ts'
import { RequestError } from '../model/errors.ts'
import { globalLoginLimit, loginLimits, loginWaitMs } from '../model/login-limits.ts'
import { isUsername, passwordProblem, usernameKey } from '../model/password.ts'
import type { User } from '../model/people.ts'
import { writeAudit } from '../store/audit.ts'
import type { Database, Tx } from '../store/database.ts'
import {
  changePeople,
  countAdmins,
  countFailedTries,
  deleteFailedTry,
  deleteSession,
  deleteSessionsOf,
  findUser,
  findUserByName,
  forgetFailedTries,
  insertFailedTry,
  insertSession,
  insertUser,
  isKnownBrowser,
  listFailedTries,
  lockFailedTries,
  saveKnownBrowser,
  saveUser,
} from '../store/people.ts'
import { type Credentials, createSecret, csrfTokenOf, hashOf } from './credentials.ts'
import type { Hasher } from './hasher.ts'

export interface SignInDeps {
  readonly db: Database
  readonly hasher: Hasher
  readonly credentials: Credentials
  now(): number
}

/** Who knocks. */
export interface Requester {
  readonly address: string
  /** What the cookie of a browser that signed in before holds. */
  readonly browser: string | null
  /** The request's id. */
  readonly request?: string | undefined
}

export interface SignedIn {
  readonly user: User
  /** For the session's cookie. */
  readonly session: string
  readonly csrfToken: string
  /** For the cookie by which the browser is known again. */
  readonly browser: string
}

/** An unknown user and a wrong password are refused alike: in words, in status and in time. */
export async function signIn(
  deps: SignInDeps,
  visitor: Requester,
  { username, password }: { username: string; password: string },
): Promise<SignedIn> {
  const { db, hasher, now } = deps
  const user = await findUserByName(db.read, username)
  const isKnown =
    user !== null && visitor.browser !== null && (await isKnownBrowser(db.read, hashOf(visitor.browser), user.id))
  const stranger = isKnown ? `browser ${hashOf(visitor.browser ?? '')}` : clientKey(visitor.address)
  const account = `user ${usernameKey(username)}`
  // A password typed where the name belongs must not end up in the log.
  const actor = guest(visitor, user === null ? 'unknown' : user.username)

  const counted = await countTry(deps, { stranger, account })
  if (!isKnown && (await countFailedTries(db.read, now() - loginLimits.windowMs)) > globalLoginLimit.failures) {
    await sleep(globalLoginLimit.delayMs)
  }
  const fits = await hasher.verify(user?.password ?? null, password).catch((error) => takeBack(deps, counted, error))
  if (user === null || !fits || !user.is_active) {
    await tellFailure(deps, { actor, action: 'session.login', target: `user ${actor.name}`, result: 'failed' }, counted)
    throw new RequestError('wrong_credentials')
  }

  return db.transaction(async (tx) => {
    await changePeople(tx)
    // While the hash was made, somebody may have changed the password, or shut the account.
    const current = await findUserByName(tx.query, username)
    if (current?.id !== user.id || !current.is_active || current.password !== user.password) {
      throw new RequestError('wrong_credentials')
    }
    await forgetFailedTries(tx, stranger, account)
    const opened = await openSession(tx, deps, visitor, current)
    await writeAudit(tx, {
      actor: signedIn(visitor, current),
      action: 'session.login',
      target: `user ${user.username}`,
      result: 'ok',
    })
    return opened
  })
}

/** Ends this session, in this process at once and in every other within a second. */
export async function signOut({ db, credentials }: SignInDeps, actor: Actor, session: string): Promise<void> {
  const hash = hashOf(session)
  await db.transaction(async (tx) => {
    await changePeople(tx)
    await deleteSession(tx, hash)
    await writeAudit(tx, { actor, action: 'session.logout', target: `user ${actor.name}`, result: 'ok' })
    tx.afterCommit(() => credentials.end({ hash }))
  })
}

/** Every session of the user ends; the browser that asked is given a new one. */
export async function changeOwnPassword(
  deps: SignInDeps,
  visitor: Requester,
  actor: Actor,
  { current_password, new_password }: { current_password: string; new_password: string },
): Promise<SignedIn> {
  const { db, hasher, credentials, now } = deps
  const stored = actor.kind === 'user' ? await findUserByName(db.read, actor.name) : null
  if (stored === null || stored.id !== actor.id) throw new RequestError('not_allowed', { about: 'of a signed-in user' })
  const problem = passwordProblem(new_password, stored.username)
  if (problem !== null) throw new RequestError('bad_request', { details: `new_password: ${problem}` })

  const isKnown = visitor.browser !== null && (await isKnownBrowser(db.read, hashOf(visitor.browser), stored.id))
  const stranger = isKnown ? `browser ${hashOf(visitor.browser ?? '')}` : clientKey(visitor.address)
  const account = `user ${usernameKey(stored.username)}`
  const entry = { actor, action: 'user.password', target: `user ${stored.username}` } as const
  const counted = await countTry(deps, { stranger, account })
  const fits = await hasher.verify(stored.password, current_password).catch((error) => takeBack(deps, counted, error))
  if (!fits) {
    await tellFailure(deps, { ...entry, result: 'failed' }, counted)
    throw new RequestError('bad_request', { details: 'current_password: this is not your password' })
  }
  const hash = await hasher.hash(new_password).catch((error) => takeBack(deps, counted, error))

  return db.transaction(async (tx) => {
    await changePeople(tx)
    const current = await findUserByName(tx.query, stored.username)
    if (current?.id !== stored.id || !current.is_active || current.password !== stored.password) {
      throw new RequestError('sign_in_needed')
    }
    await forgetFailedTries(tx, stranger, account)
    await saveUser(tx, stored.id, { password: { hash, changedAt: now() } })
    await deleteSessionsOf(tx, stored.id)
    await writeAudit(tx, { ...entry, result: 'ok' })
    tx.afterCommit(() => credentials.end({ user: stored.id }))
    return openSession(tx, deps, visitor, current)
  })
}

// --- The first administrator ------------------------------------------------------------------------------------------

export interface SetupCode {
  /** Null once it was used or has aged. */
  current(): string | null
  use(): void
}

const setupMs = 60 * 60_000
const codeLetters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export function createSetupCode(now: () => number): SetupCode {
  const madeAt = now()
  let code: string | null = Array.from({ length: 20 }, () => codeLetters[randomInt(codeLetters.length)]).join('')
  return {
    current: () => (now() - madeAt < setupMs ? code : null),
    use() {
      code = null
    },
  }
}

export interface SetupDeps extends SignInDeps {
  /** Null where none is asked for. */
  readonly setupCode: SetupCode | null
  /** After the first administrator was made. */
  onSetUp(): void
}

export async function isSetupNeeded({ db }: Pick<SignInDeps, 'db'>): Promise<boolean> {
  return (await countAdmins(db.read)) === 0
}

/** `needsCode`: false where whoever reaches the service sits at its machine. */
export async function setUp(
  deps: SetupDeps,
  visitor: Requester,
  { username, password, code = '' }: { username: string; password: string; code?: string | undefined },
  { needsCode }: { needsCode: boolean },
): Promise<SignedIn> {
  const { db, hasher, setupCode } = deps
  if (!(await isSetupNeeded(deps))) throw new RequestError('already_set_up')
  const stranger = clientKey(visitor.address)
  const account = 'set-up'
  if (needsCode) {
    const counted = await countTry(deps, { stranger, account })
    if (!isCode(code, setupCode?.current() ?? null)) {
      const actor = guest(visitor, 'unknown')
      await tellFailure(deps, { actor, action: 'setup', target: 'service', result: 'failed' }, counted)
      throw new RequestError('wrong_code')
    }
    await db.transaction((tx) => deleteFailedTry(tx, counted.id))
  }
  checkNewUser(username, password)
  const hash = await hasher.hash(password)
  return db.transaction(async (tx) => {
    await changePeople(tx)
    if ((await countAdmins(tx.query)) > 0) throw new RequestError('already_set_up')
    // Used up by somebody else in the meantime.
    if (needsCode && !isCode(code, setupCode?.current() ?? null)) throw new RequestError('wrong_code')
    const user = await insertUser(tx, { username, role: 'admin', password: hash, now: deps.now() })
    if (user === null) throw new RequestError('name_taken', { about: username })
    await writeAudit(tx, {
      actor: signedIn(visitor, user),
      action: 'setup',
      target: `user ${user.username}`,
      result: 'ok',
    })
    tx.afterCommit(() => {
      setupCode?.use()
      deps.onSetUp()
    })
    return openSession(tx, deps, visitor, user)
  })
}

/** Written in groups or in lower case it is the same code. */
function isCode(given: string, expected: string | null): boolean {
  const code = given.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  if (expected === null || code.length !== expected.length) return false
  const [a, b] = [Buffer.from(hashOf(code)), Buffer.from(hashOf(expected))]
  return timingSafeEqual(a, b)
}

/** Throws a Refusal that names the field. */
export function checkNewUser(username: string, password: string): void {
  if (!isUsername(username)) {
    throw new RequestError('bad_request', {
      details: 'username: expected 1 to 64 letters, digits, ., _, @ and -, beginning with a letter or digit',
    })
  }
  const problem = passwordProblem(password, username)
  if (problem !== null) throw new RequestError('bad_request', { details: `password: ${problem}` })
}

// --- Tries ------------------------------------------------------------------------------------------------------------

interface CountedTry {
  readonly id: number
  /** No further one is let through. */
  readonly isLast: boolean
}

/** Counted as wrong before it is looked at: of many tries at once, no more are looked at than one after another. */
async function countTry(
  { db, now }: SignInDeps,
  { stranger, account }: { stranger: string; account: string },
): Promise<CountedTry> {
  const at = now()
  const told = await db.transaction(async (tx) => {
    await lockFailedTries(tx)
    const failures = await listFailedTries(tx.query, stranger, at - loginLimits.windowMs)
    const waitMs = loginWaitMs(failures, account, at)
    if (waitMs > 0) return { waitMs }
    const id = await insertFailedTry(tx, stranger, { account, at })
    return { waitMs, id, isLast: loginWaitMs([...failures, { account, at }], account, at) > 0 }
  })
  if (told.id === undefined) throw new RequestError('rate_limited', { retryAfter: Math.ceil(told.waitMs / 1000) })
  return told
}

/** It was not looked at after all. */
async function takeBack({ db }: SignInDeps, { id }: CountedTry, error: unknown): Promise<never> {
  await db.transaction((tx) => deleteFailedTry(tx, id))
  throw error
}

/** Refusals after the last one are not written down one by one: a flood of them would push everything else out. */
async function tellFailure({ db }: SignInDeps, entry: AuditEntry, { isLast }: CountedTry): Promise<void> {
  await db.transaction((tx) => writeAudit(tx, { ...entry, details: isLast ? { limited: true } : {} }))
}

async function openSession(
  tx: Tx,
  { now }: SignInDeps,
  visitor: Requester,
  { id }: Pick<User, 'id'>,
): Promise<SignedIn> {
  const session = createSecret()
  const browser = visitor.browser ?? createSecret()
  await insertSession(tx, { hash: hashOf(session), user_id: id, now: now() })
  await saveKnownBrowser(tx, { hash: hashOf(browser), user_id: id, now: now() })
  await saveUser(tx, id, { last_login_at: now() })
  const user = await findUser(tx.query, id)
  if (user === null) throw new RequestError('wrong_credentials')
  return { user, session, csrfToken: csrfTokenOf(session), browser }
}

function guest({ address, request }: Requester, name: string): Actor {
  return { kind: 'guest', id: null, name, role: 'viewer', address, request }
}

function signedIn({ address, request }: Requester, { id, username: name, role }: User): Actor {
  return { kind: 'user', id, name, role, address, request }
}
