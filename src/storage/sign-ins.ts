/** Failed sign-in attempts, known browsers, and sign-ins that wait for the provider of single sign-on. */

import { sql } from 'kysely'
import type { FailedLogin } from '../domain/access/limits.ts'
import { sessionLimits } from '../domain/access/people.ts'
import type { Reader, Tx } from './database.ts'
import { incrementCounter } from './meta.ts'

// --- Failed attempts --------------------------------------------------------------------------------------------------

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

// --- Single sign-on ---------------------------------------------------------------------------------------------------

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
