/** Users, sessions, tokens, known browsers and failed sign-in attempts. Secrets are stored as hashes only. */

import { sql } from 'kysely'
import type { Role } from '../domain/access/access.ts'
import type { FailedLogin } from '../domain/access/limits.ts'
import { usernameKey } from '../domain/access/password.ts'
import { type ApiToken, sessionLimits, type User } from '../domain/access/people.ts'
import type { Reader, Tx } from './database.ts'
import type { TokenRow, UserRow } from './schema/access.ts'
import { nextVersion, saveEdit } from './versions.ts'

// --- Users ------------------------------------------------------------------------------------------------------------

const userColumns = [
  'id',
  'username',
  'role',
  'is_active',
  'created_at',
  'last_login_at',
  'issuer',
  'subject',
  'version',
] as const

type UserFields = Pick<UserRow, Exclude<(typeof userColumns)[number], 'id'>> & { id: number }

function toUser(row: UserFields): User {
  return { ...row, is_active: row.is_active === 1 }
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

export async function insertUser(
  tx: Tx,
  { username, role, password, now }: { username: string; role: Role; password: string; now: number },
): Promise<User | null> {
  const row = await tx.query
    .insertInto('users')
    .values({
      username,
      username_key: usernameKey(username),
      role,
      password,
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
  readonly is_active?: boolean | undefined
  readonly password?: { readonly hash: string; readonly changedAt: number } | undefined
}

/** Returns the version. */
export async function saveUser(tx: Tx, id: number, change: UserChange): Promise<number> {
  const { username, role, is_active, password } = change
  const fields = {
    ...(username !== undefined && { username }),
    ...(role !== undefined && { role }),
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

async function incrementCounter(tx: Tx, key: 'people' | 'tries'): Promise<void> {
  await tx.query.updateTable('meta').set({ value: sql<number>`value + 1` }).where('key', '=', key).execute()
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
      'users.is_active',
      'users.created_at',
      'users.last_login_at',
      'users.issuer',
      'users.subject',
      'users.version',
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

/** Adds a session, and deletes the user's oldest sessions if there are too many. Call `changePeople` first. */
export async function insertSession(tx: Tx, session: { hash: string; user_id: number; now: number }): Promise<void> {
  const { hash, user_id, now } = session
  await tx.query
    .insertInto('sessions')
    .values({ hash, user_id, created_at: now, expires_at: now + sessionLimits.totalMs, last_used_at: now })
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
  'created_by',
  'created_at',
  'expires_at',
  'last_used_at',
  'last_used_address',
  'version',
] as const satisfies readonly (keyof TokenRow)[]

export async function listTokens(reader: Reader): Promise<ApiToken[]> {
  return reader.selectFrom('tokens').select(tokenColumns).orderBy('id').execute()
}

export async function findToken(reader: Reader, id: number): Promise<ApiToken | null> {
  return (await reader.selectFrom('tokens').select(tokenColumns).where('id', '=', id).executeTakeFirst()) ?? null
}

export async function findTokensByHash(
  reader: Reader,
  hashes: readonly string[],
): Promise<(ApiToken & { readonly hash: string })[]> {
  if (hashes.length === 0) return []
  return reader
    .selectFrom('tokens')
    .select([...tokenColumns, 'hash'])
    .where('hash', 'in', hashes)
    .execute()
}

/** Adds a token. Its hash is stored in a second step, because the text of the token contains its id. */
export async function insertToken(
  tx: Tx,
  token: Pick<ApiToken, 'name' | 'role' | 'created_by' | 'created_at' | 'expires_at'>,
  hashOf: (id: number) => string,
): Promise<ApiToken> {
  const created = await tx.query
    .insertInto('tokens')
    .values({
      ...token,
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
  return created
}

/** Returns the version. */
export async function saveToken(
  tx: Tx,
  id: number,
  change: Partial<Pick<ApiToken, 'name' | 'role' | 'expires_at'>>,
): Promise<number> {
  return saveEdit(tx, 'tokens', id, change)
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

// --- Sign-in attempts -------------------------------------------------------------------------------------------------

/** Serializes attempts, so that parallel ones are all counted. Must be the first statement of the transaction. */
export async function lockFailedLogins(tx: Tx): Promise<void> {
  await incrementCounter(tx, 'tries')
}

export async function listFailedLogins(reader: Reader, client: string, since: number): Promise<FailedLogin[]> {
  return reader
    .selectFrom('failed_tries')
    .select(['account', 'at'])
    .where('stranger', '=', client)
    .where('at', '>', since)
    .execute()
}

export async function countFailedLogins(reader: Reader, since: number): Promise<number> {
  const { count } = await reader
    .selectFrom('failed_tries')
    .select(sql<number>`count(*)`.as('count'))
    .where('at', '>', since)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertFailedLogin(tx: Tx, client: string, failed: FailedLogin): Promise<number> {
  const { id } = await tx.query
    .insertInto('failed_tries')
    .values({ stranger: client, ...failed })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function deleteFailedLogin(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('failed_tries').where('id', '=', id).execute()
}

export async function deleteFailedLoginsOf(tx: Tx, client: string, account: string): Promise<void> {
  await tx.query.deleteFrom('failed_tries').where('stranger', '=', client).where('account', '=', account).execute()
}

export async function deleteOldFailedLogins(tx: Tx, before: number): Promise<void> {
  await tx.query.deleteFrom('failed_tries').where('at', '<=', before).execute()
}

// --- Known browsers ---------------------------------------------------------------------------------------------------

export async function isKnownBrowser(reader: Reader, hash: string, user: number): Promise<boolean> {
  const row = await reader
    .selectFrom('known_browsers')
    .select('hash')
    .where('hash', '=', hash)
    .where('user_id', '=', user)
    .executeTakeFirst()
  return row !== undefined
}

/** Adds or updates a known browser, and deletes the user's least recently used browsers if there are too many. */
export async function saveKnownBrowser(tx: Tx, browser: { hash: string; user_id: number; now: number }): Promise<void> {
  const { hash, user_id, now } = browser
  await tx.query
    .insertInto('known_browsers')
    .values({ hash, user_id, last_used_at: now })
    .onConflict((conflict) => conflict.columns(['hash', 'user_id']).doUpdateSet({ last_used_at: now }))
    .execute()
  const kept = tx.query
    .selectFrom('known_browsers')
    .select('hash')
    .where('user_id', '=', user_id)
    .orderBy('last_used_at', 'desc')
    .orderBy('hash')
    .limit(sessionLimits.perUser)
  await tx.query.deleteFrom('known_browsers').where('user_id', '=', user_id).where('hash', 'not in', kept).execute()
}

export interface OidcLogin {
  readonly hash: string
  readonly next: string | null
  readonly expires_at: number
}

/** Returns false if `max` others are awaited. */
export async function insertOidcLogin(tx: Tx, login: OidcLogin, max: number): Promise<boolean> {
  const { count } = await tx.query
    .selectFrom('oidc_logins')
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) >= max) return false
  await tx.query.insertInto('oidc_logins').values(login).execute()
  return true
}

/** Removes a sign-in, so that only one response is accepted. Returns null if there is none. */
export async function takeOidcLogin(tx: Tx, hash: string): Promise<OidcLogin | null> {
  const row = await tx.query.deleteFrom('oidc_logins').where('hash', '=', hash).returningAll().executeTakeFirst()
  return row ?? null
}

export async function deleteOldOidcLogins(tx: Tx, now: number): Promise<void> {
  await tx.query.deleteFrom('oidc_logins').where('expires_at', '<=', now).execute()
}
