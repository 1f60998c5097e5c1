/** Creates, changes and removes users and API tokens. */

import type { GrantedPermission, Role } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { type ApiToken, defaultTokenMs, type User } from '../../domain/access/people.ts'
import { RequestError } from '../../domain/errors.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { ClientKey } from '../../platform/concurrency.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Database, Tx } from '../../storage/database.ts'
import {
  changePeople,
  countAdmins,
  deleteSessionsOf,
  deleteToken,
  deleteUser,
  findToken,
  findUser,
  findUserByName,
  insertToken,
  insertUser,
  saveToken,
  saveUser,
} from '../../storage/people.ts'
import type { Access } from './access.ts'
import { createSecret, hashOf, tokenText } from './credentials.ts'
import type { Hasher } from './hasher.ts'
import { checkNewUser, checkPassword } from './sign-in.ts'

interface NewUser {
  readonly username: string
  readonly password: string
  readonly role: Role
  readonly permissions?: readonly GrantedPermission[] | undefined
}

export async function createUser(
  db: Database,
  hasher: Hasher,
  actor: Actor,
  { username, password, role, permissions = [] }: NewUser,
): Promise<User> {
  await checkNewUser(username, password)
  const hash = await hasher.hash(password, clientOf(actor))
  return db.transaction(async (tx) => {
    await changePeople(tx)
    const user = await insertUser(tx, { username, role, permissions, password: hash, now: now() })
    if (user === null) throw new RequestError('name_taken', { subject: username })
    const details = { role, ...(permissions.length > 0 && { permissions }) }
    await writeAudit(tx, { actor, action: 'user.create', target: `user ${username}`, result: 'ok', details })
    return user
  })
}

interface UserEdit {
  readonly role?: Role | undefined
  readonly permissions?: readonly GrantedPermission[] | undefined
  readonly is_active?: boolean | undefined
  readonly password?: string | undefined
}

/** Changes a user. When the role, the password or the active state changes, the user is signed out everywhere. */
export async function changeUser(
  { db, hasher, credentials }: Access,
  actor: Actor,
  id: number,
  change: UserEdit,
  requireVersion: RequireVersion<User>,
): Promise<User> {
  const { role, permissions, is_active, password } = change
  const known = await findUser(db.read, id)
  if (known === null) throw new RequestError('not_found', { subject: `user ${id}` })
  if (known.issuer !== null && (password !== undefined || (role ?? known.role) !== known.role)) {
    throw new RequestError('managed_by_provider', { subject: known.username })
  }
  if (password !== undefined) await checkPassword('password', password, known.username)
  const hash = password === undefined ? undefined : await hasher.hash(password, clientOf(actor))
  return db.transaction(async (tx) => {
    await changePeople(tx)
    const before = await getUser(tx, id)
    requireVersion(before, `user ${id}`)
    const after = {
      ...before,
      role: role ?? before.role,
      permissions: permissions ?? before.permissions,
      is_active: is_active ?? before.is_active,
    }
    await requireRemainingAdmin(tx, before, after)
    const changed = {
      role,
      permissions,
      is_active,
      password: hash === undefined ? undefined : { hash, changedAt: now() },
    }
    const version = await saveUser(tx, id, changed)
    if (after.role !== before.role || after.is_active !== before.is_active || hash !== undefined) {
      await deleteSessionsOf(tx, id)
      tx.afterCommit(() => credentials.end({ user: id }))
    } else tx.afterCommit(() => credentials.update({ ...after, version }))
    const details = {
      ...(after.role !== before.role && { role: { old: before.role, new: after.role } }),
      ...permissionDetails(before, after),
      ...(after.is_active !== before.is_active && { is_active: { old: before.is_active, new: after.is_active } }),
      ...(hash !== undefined && { password: 'new' }),
    }
    await writeAudit(tx, { actor, action: 'user.change', target: `user ${before.username}`, result: 'ok', details })
    return { ...after, version }
  })
}

export async function removeUser(
  { db, credentials }: Access,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<User>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await changePeople(tx)
    const user = await getUser(tx, id)
    requireVersion(user, `user ${id}`)
    await requireRemainingAdmin(tx, user, null)
    await deleteUser(tx, id)
    await writeAudit(tx, { actor, action: 'user.delete', target: `user ${user.username}`, result: 'ok' })
    tx.afterCommit(() => credentials.end({ user: id }))
  })
}

/** Creates an administrator from the command line or, with `isReset`, resets an account whose password was lost. */
export async function createAdmin(
  db: Database,
  hasher: Hasher,
  actor: Actor,
  { username, password, isReset }: { username: string; password: string; isReset: boolean },
): Promise<{ readonly user: User; readonly isNew: boolean }> {
  const known = await findUserByName(db.read, username)
  if (known === null || !isReset)
    return { user: await createUser(db, hasher, actor, { username, password, role: 'admin' }), isNew: true }
  await checkNewUser(username, password)
  const hash = await hasher.hash(password, clientOf(actor))
  return db.transaction(async (tx) => {
    await changePeople(tx)
    await saveUser(tx, known.id, { role: 'admin', is_active: true, password: { hash, changedAt: now() } })
    await deleteSessionsOf(tx, known.id)
    const details = { password: 'new', role: { old: known.role, new: 'admin' } }
    await writeAudit(tx, { actor, action: 'user.change', target: `user ${known.username}`, result: 'ok', details })
    return { user: await getUser(tx, known.id), isNew: false }
  })
}

function permissionDetails(
  before: { readonly permissions: readonly GrantedPermission[] },
  after: { readonly permissions: readonly GrantedPermission[] },
) {
  const isSame = String(before.permissions) === String(after.permissions)
  return isSame ? {} : { permissions: { old: before.permissions, new: after.permissions } }
}

async function getUser(tx: Tx, id: number): Promise<User> {
  const user = await findUser(tx.query, id)
  if (user === null) throw new RequestError('not_found', { subject: `user ${id}` })
  return user
}

/** Users of a provider do not count, as `countAdmins` explains. */
async function requireRemainingAdmin(tx: Tx, before: User, after: User | null): Promise<void> {
  const isAdmin = (user: User | null) => user?.is_active === true && user.role === 'admin' && user.issuer === null
  if (isAdmin(before) && !isAdmin(after) && (await countAdmins(tx.query)) <= 1) throw new RequestError('last_admin')
}

// --- Tokens -----------------------------------------------------------------------------------------------------------

interface TokenFields {
  readonly name: string
  readonly role: Role
  readonly permissions?: readonly GrantedPermission[] | undefined
  /** ISO 8601; null for a token that never expires. */
  readonly expires_at?: string | null | undefined
}

/** Creates a token. The returned `text` is the token itself, which is not stored and cannot be shown again. */
export async function createToken(
  db: Database,
  actor: Actor,
  { name, role, permissions = [], expires_at }: TokenFields,
): Promise<{ readonly token: ApiToken; readonly text: string }> {
  const ends = expires_at === undefined ? now() + defaultTokenMs : parseExpiry(expires_at, now())
  const secret = createSecret()
  return db.transaction(async (tx) => {
    const created_by = actor.kind === 'user' ? actor.id : null
    const fields = { name, role, permissions, created_by, created_at: now(), expires_at: ends }
    const token = await insertToken(tx, fields, (id) => hashOf(tokenText(id, secret)))
    const details = { role, ...(permissions.length > 0 && { permissions }), expires_at: toIso(ends) }
    await writeAudit(tx, { actor, action: 'token.create', target: `token ${token.id} ${name}`, result: 'ok', details })
    return { token, text: tokenText(token.id, secret) }
  })
}

export async function changeToken(
  { db, credentials }: Access,
  actor: Actor,
  id: number,
  { name, role, permissions, expires_at }: Partial<TokenFields>,
  requireVersion: RequireVersion<ApiToken>,
): Promise<ApiToken> {
  const ends = expires_at === undefined ? undefined : parseExpiry(expires_at, now())
  return db.transaction(async (tx) => {
    await changePeople(tx)
    const before = await getToken(tx, id)
    requireVersion(before, `token ${id}`)
    const change = {
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      ...(permissions !== undefined && { permissions }),
      ...(ends !== undefined && { expires_at: ends }),
    }
    const version = await saveToken(tx, id, change)
    const details = {
      ...(name !== undefined && { name: { old: before.name, new: name } }),
      ...(role !== undefined && { role: { old: before.role, new: role } }),
      ...permissionDetails(before, { permissions: permissions ?? before.permissions }),
      ...(ends !== undefined && { expires_at: { old: toIso(before.expires_at), new: toIso(ends) } }),
    }
    await writeAudit(tx, { actor, action: 'token.change', target: `token ${id} ${before.name}`, result: 'ok', details })
    tx.afterCommit(() => credentials.end({ token: id }))
    return { ...before, ...change, version }
  })
}

export async function revokeToken(
  { db, credentials }: Access,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<ApiToken>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await changePeople(tx)
    const token = await getToken(tx, id)
    requireVersion(token, `token ${id}`)
    await deleteToken(tx, id)
    await writeAudit(tx, { actor, action: 'token.revoke', target: `token ${id} ${token.name}`, result: 'ok' })
    tx.afterCommit(() => credentials.end({ token: id }))
  })
}

/** Identifies the client among those that wait for passwords to be hashed. The command line is not limited. */
function clientOf({ kind, id, address }: Actor): ClientKey {
  return kind === 'cli' ? null : `${kind} ${id ?? address}`
}

async function getToken(tx: Tx, id: number): Promise<ApiToken> {
  const token = await findToken(tx.query, id)
  if (token === null) throw new RequestError('not_found', { subject: `token ${id}` })
  return token
}

function parseExpiry(text: string | null, now: number): number | null {
  if (text === null) return null
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  if (at > now) return at
  throw new RequestError('bad_request', {
    details: 'expires_at: expected a time in the future, such as 2030-12-31T00:00:00Z',
  })
}

function toIso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
