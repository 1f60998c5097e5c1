/** Users, sessions and tokens. Secrets are stored as hashes only. */

import { type Selectable, sql } from 'kysely'
import type { GrantedPermission, Role } from '../contract/values.ts'
import { usernameKey } from '../domain/access/password.ts'
import { type ApiToken, sessionLimits, type User } from '../domain/access/people.ts'
import type { Reader, Tx } from './database.ts'
import { incrementCounter } from './meta.ts'
import type { TokenRow, UserRow } from './schema/access.ts'
import { nextVersion, saveEdit } from './versions.ts'

// --- Users ------------------------------------------------------------------------------------------------------------

const userColumns = [
  'id',
  'username',
  'role',
  'permissions',
  'is_active',
  'created_at',
  'last_login_at',
  'issuer',
  'subject',
  'version',
  'has_totp',
] as const

type UserFields = Selectable<Pick<UserRow, (typeof userColumns)[number]>>

function toUser(row: UserFields): User {
  return { ...withPermissions(row), is_active: row.is_active === 1, has_totp: row.has_totp === 1 }
}

function withPermissions<Row extends { readonly permissions: string }>(row: Row) {
  return { ...row, permissions: JSON.parse(row.permissions) as readonly GrantedPermission[] }
}

export async function listUsers(reader: Reader): Promise<User[]> {
  return (await reader.selectFrom('users').select(userColumns).orderBy('id').execute()).map(toUser)
}

export async function findUser(reader: Reader, id: number): Promise<User | null> {
  const row = await reader.selectFrom('users').select(userColumns).where('id', '=', id).executeTakeFirst()
  return row === undefined ? null : toUser(row)
}

export interface UserWithPassword extends User {
  readonly password: string
}

export async function findUserByName(reader: Reader, username: string): Promise<UserWithPassword | null> {
  const row = await reader
    .selectFrom('users')
    .select([...userColumns, 'password'])
    .where('username_key', '=', usernameKey(username))
    .where('issuer', 'is', null)
    .executeTakeFirst()
  return row === undefined ? null : { ...toUser(row), password: row.password }
}

interface NewUser extends Pick<User, 'username' | 'role' | 'permissions'> {
  /** The hash. */
  readonly password: string
  readonly now: number
}

export async function insertUser(tx: Tx, { now, permissions, ...user }: NewUser): Promise<User | null> {
  const row = await tx.query
    .insertInto('users')
    .values({
      ...user,
      username_key: usernameKey(user.username),
      permissions: JSON.stringify(permissions),
      is_active: 1,
      created_at: now,
      password_changed_at: now,
      last_login_at: null,
      version: await nextVersion(tx),
    })
    .onConflict((conflict) => conflict.column('username_key').doNothing())
    .returning(userColumns)
    .executeTakeFirst()
  return row === undefined ? null : toUser(row)
}

export async function findUserByIdentity(reader: Reader, identity: UserIdentity): Promise<User | null> {
  const row = await reader
    .selectFrom('users')
    .select(userColumns)
    .where('issuer', '=', identity.issuer)
    .where('subject', '=', identity.subject)
    .executeTakeFirst()
  return row === undefined ? null : toUser(row)
}

export async function insertProviderUser(
  tx: Tx,
  { issuer, subject, ...user }: UserIdentity & { username: string; role: Role; now: number },
): Promise<User> {
  const row = await tx.query
    .insertInto('users')
    .values({
      username: user.username,
      // No local name contains a space.
      username_key: `${issuer} ${subject}`,
      role: user.role,
      password: '',
      is_active: 1,
      created_at: user.now,
      password_changed_at: user.now,
      last_login_at: null,
      issuer,
      subject,
      version: await nextVersion(tx),
    })
    .returning(userColumns)
    .executeTakeFirstOrThrow()
  return toUser(row)
}

export interface UserIdentity {
  readonly issuer: string
  readonly subject: string
}

export interface UserChange {
  readonly username?: string | undefined
  readonly role?: Role | undefined
  readonly permissions?: readonly GrantedPermission[] | undefined
  readonly is_active?: boolean | undefined
  readonly password?: { readonly hash: string; readonly changedAt: number } | undefined
}

/** Returns the version. */
export async function saveUser(tx: Tx, id: number, change: UserChange): Promise<number> {
  const { username, role, permissions, is_active, password } = change
  const fields = {
    ...(username !== undefined && { username }),
    ...(role !== undefined && { role }),
    ...(permissions !== undefined && { permissions: JSON.stringify(permissions) }),
    ...(is_active !== undefined && { is_active: is_active ? (1 as const) : (0 as const) }),
    ...(password !== undefined && { password: password.hash, password_changed_at: password.changedAt }),
  }
  return saveEdit(tx, 'users', id, fields)
}

export async function saveLastLogin(tx: Tx, id: number, last_login_at: number): Promise<void> {
  await tx.query.updateTable('users').set({ last_login_at }).where('id', '=', id).execute()
}

export async function deleteUser(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('users').where('id', '=', id).execute()
}

/**
 * At least one local administrator must remain: the provider of the others may be unreachable or withdraw their role.
 */
export async function countAdmins(reader: Reader): Promise<number> {
  const { count } = await reader
    .selectFrom('users')
    .select(sql<number>`count(*)`.as('count'))
    .where('role', '=', 'admin')
    .where('is_active', '=', 1)
    .where('issuer', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Must be the first statement of the transaction. It locks the counter's row until the commit, so that two
 * administrators cannot disable each other.
 */
export async function changePeople(tx: Tx): Promise<void> {
  await incrementCounter(tx, 'people')
}

export async function peopleRevision(reader: Reader): Promise<number> {
  const { value } = await reader
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'people')
    .executeTakeFirstOrThrow()
  return value
}

// --- Codes of authenticator apps --------------------------------------------------------------------------------------

export interface StoredTotp {
  readonly has_totp: boolean
  /** Sealed; null if no app was set up. */
  readonly secret: string | null
  /** The time step of the last code that was used. */
  readonly step: number | null
  /** SHA-256 of each unused recovery code. */
  readonly recovery_codes: readonly string[]
}

export async function readTotp(reader: Reader, user: number): Promise<StoredTotp> {
  const row = await reader
    .selectFrom('users')
    .select(['has_totp', 'totp_secret', 'totp_step', 'recovery_codes'])
    .where('id', '=', user)
    .executeTakeFirstOrThrow()
  return {
    has_totp: row.has_totp === 1,
    secret: row.totp_secret,
    step: row.totp_step,
    recovery_codes: JSON.parse(row.recovery_codes),
  }
}

export async function saveTotp(tx: Tx, user: number, change: Partial<StoredTotp>): Promise<void> {
  const { has_totp, secret, step, recovery_codes } = change
  await tx.query
    .updateTable('users')
    .set({
      ...(has_totp !== undefined && { has_totp: has_totp ? 1 : 0 }),
      ...(secret !== undefined && { totp_secret: secret }),
      ...(step !== undefined && { totp_step: step }),
      ...(recovery_codes !== undefined && { recovery_codes: JSON.stringify(recovery_codes) }),
    })
    .where('id', '=', user)
    .execute()
}

// --- Sessions ---------------------------------------------------------------------------------------------------------

export interface StoredSession {
  readonly hash: string
  readonly user: User
  readonly expires_at: number
  readonly last_used_at: number
}

/** Finds sessions by their hashes. Leaves out the sessions of users who are not active. */
export async function findSessions(reader: Reader, hashes: readonly string[]): Promise<StoredSession[]> {
  if (hashes.length === 0) return []
  const rows = await reader
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([
      'sessions.hash',
      'sessions.expires_at',
      'sessions.last_used_at',
      'users.id',
      'users.username',
      'users.role',
      'users.permissions',
      'users.is_active',
      'users.created_at',
      'users.last_login_at',
      'users.issuer',
      'users.subject',
      'users.version',
      'users.has_totp',
    ])
    .where('sessions.hash', 'in', hashes)
    .where('users.is_active', '=', 1)
    .execute()
  return rows.map(({ hash, expires_at, last_used_at, ...user }) => ({
    hash,
    expires_at,
    last_used_at,
    user: toUser(user),
  }))
}

/** A session in the list of its owner. */
export interface ListedSession {
  readonly hash: string
  readonly created_at: number
  readonly expires_at: number
  readonly last_used_at: number
  /** Client and program of the sign-in; null if they are unknown. */
  readonly address: string | null
  readonly agent: string | null
}

/** Returns the sessions of a user, the last used first. */
export async function listSessions(reader: Reader, user: number): Promise<ListedSession[]> {
  return reader
    .selectFrom('sessions')
    .select(['hash', 'created_at', 'expires_at', 'last_used_at', 'address', 'agent'])
    .where('user_id', '=', user)
    .orderBy('last_used_at', 'desc')
    .orderBy('hash')
    .execute()
}

/** Adds a session, and deletes the user's oldest sessions if there are too many. Call `changePeople` first. */
export async function insertSession(
  tx: Tx,
  { user_id, now, ...session }: Pick<ListedSession, 'hash' | 'address' | 'agent'> & { user_id: number; now: number },
): Promise<void> {
  await tx.query
    .insertInto('sessions')
    .values({ ...session, user_id, created_at: now, expires_at: now + sessionLimits.totalMs, last_used_at: now })
    .execute()
  const kept = tx.query
    .selectFrom('sessions')
    .select('hash')
    .where('user_id', '=', user_id)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .limit(sessionLimits.perUser)
  await tx.query.deleteFrom('sessions').where('user_id', '=', user_id).where('hash', 'not in', kept).execute()
}

export async function deleteSession(tx: Tx, hash: string): Promise<void> {
  await tx.query.deleteFrom('sessions').where('hash', '=', hash).execute()
}

export async function deleteSessionsOf(tx: Tx, user: number): Promise<void> {
  await tx.query.deleteFrom('sessions').where('user_id', '=', user).execute()
}

export async function touchSessions(tx: Tx, hashes: readonly string[], now: number): Promise<void> {
  if (hashes.length === 0) return
  await tx.query
    .updateTable('sessions')
    .set({ last_used_at: now })
    .where('hash', 'in', hashes)
    // If the clock has been set back, the later time is kept.
    .where('last_used_at', '<', now)
    .execute()
}

export async function deleteOldSessions(tx: Tx, now: number): Promise<void> {
  await tx.query
    .deleteFrom('sessions')
    .where((where) =>
      where.or([where('expires_at', '<=', now), where('last_used_at', '<=', now - sessionLimits.idleMs)]),
    )
    .execute()
}

// --- Tokens -----------------------------------------------------------------------------------------------------------

const tokenColumns = [
  'id',
  'name',
  'role',
  'permissions',
  'created_by',
  'created_at',
  'expires_at',
  'last_used_at',
  'last_used_address',
  'version',
] as const satisfies readonly (keyof TokenRow)[]

export async function listTokens(reader: Reader): Promise<ApiToken[]> {
  return (await reader.selectFrom('tokens').select(tokenColumns).orderBy('id').execute()).map(withPermissions)
}

export async function findToken(reader: Reader, id: number): Promise<ApiToken | null> {
  const row = await reader.selectFrom('tokens').select(tokenColumns).where('id', '=', id).executeTakeFirst()
  return row === undefined ? null : withPermissions(row)
}

export async function findTokensByHash(
  reader: Reader,
  hashes: readonly string[],
): Promise<(ApiToken & { readonly hash: string })[]> {
  if (hashes.length === 0) return []
  const rows = await reader
    .selectFrom('tokens')
    .select([...tokenColumns, 'hash'])
    .where('hash', 'in', hashes)
    .execute()
  return rows.map(withPermissions)
}

/** Adds a token. Its hash is stored in a second step, because the text of the token contains its id. */
export async function insertToken(
  tx: Tx,
  token: Pick<ApiToken, 'name' | 'role' | 'permissions' | 'created_by' | 'created_at' | 'expires_at'>,
  hashOf: (id: number) => string,
): Promise<ApiToken> {
  const created = await tx.query
    .insertInto('tokens')
    .values({
      ...token,
      permissions: JSON.stringify(token.permissions),
      hash: `pending ${Math.random()}`,
      last_used_at: null,
      last_used_address: null,
      version: await nextVersion(tx),
    })
    .returning(tokenColumns)
    .executeTakeFirstOrThrow()
  await tx.query
    .updateTable('tokens')
    .set({ hash: hashOf(created.id) })
    .where('id', '=', created.id)
    .execute()
  return withPermissions(created)
}

/** Returns the version. */
export async function saveToken(
  tx: Tx,
  id: number,
  { permissions, ...change }: Partial<Pick<ApiToken, 'name' | 'role' | 'permissions' | 'expires_at'>>,
): Promise<number> {
  const fields = { ...change, ...(permissions !== undefined && { permissions: JSON.stringify(permissions) }) }
  return saveEdit(tx, 'tokens', id, fields)
}

export async function deleteToken(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('tokens').where('id', '=', id).execute()
}

export async function touchToken(tx: Tx, hash: string, used: { at: number; address: string | null }): Promise<void> {
  await tx.query
    .updateTable('tokens')
    .set({ last_used_at: used.at, last_used_address: used.address })
    .where('hash', '=', hash)
    .execute()
}
