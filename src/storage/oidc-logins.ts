/** Sign-ins that were started at an OpenID Connect provider. The database holds no secret of them. */

import { sql } from 'kysely'
import type { Tx } from './database.ts'

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
