/** Users, API tokens and sessions. Their bodies never contain secrets. */

import type { TokenBody, UserBody } from '../../contract/access.ts'
import type { GrantedPermission, Role } from '../../contract/values.ts'

export interface User {
  readonly id: number
  readonly username: string
  readonly role: Role
  readonly permissions: readonly GrantedPermission[]
  readonly is_active: boolean
  readonly created_at: number
  readonly last_login_at: number | null
  /** The OpenID Connect provider and its id of the user; null for a local user. */
  readonly issuer: string | null
  readonly subject: string | null
  readonly version: number
  /** True if a code of an authenticator app is required to sign in. */
  readonly has_totp: boolean
}

export interface ApiToken {
  readonly id: number
  readonly name: string
  readonly role: Role
  readonly permissions: readonly GrantedPermission[]
  readonly created_by: number | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly last_used_address: string | null
  readonly version: number
}

/** A show can last 16 hours, and a logout during a show would interrupt monitoring. */
export const sessionLimits = {
  idleMs: 24 * 3_600_000,
  totalMs: 14 * 24 * 3_600_000,
  perUser: 50,
  /** An open page warns this long before its session ends. */
  warnMs: 3_600_000,
} as const

export const defaultTokenMs = 365 * 24 * 3_600_000

export function sessionEnd(session: { readonly expires_at: number; readonly last_used_at: number }): number {
  return Math.min(session.expires_at, session.last_used_at + sessionLimits.idleMs)
}

export function toUserBody({ created_at, last_login_at, ...user }: User): UserBody {
  const { id, username, role, permissions, is_active, issuer, subject, version, has_totp } = user
  const times = { created_at: toIso(created_at), last_login_at: toIsoOrNull(last_login_at) }
  return { id, username, role, permissions, is_active, ...times, issuer, subject, has_totp, version }
}

export function toTokenBody(token: ApiToken): TokenBody {
  const { id, name, role, permissions, created_by, last_used_address, version } = token
  return {
    id,
    name,
    role,
    permissions,
    created_by,
    created_at: toIso(token.created_at),
    expires_at: toIsoOrNull(token.expires_at),
    last_used_at: toIsoOrNull(token.last_used_at),
    last_used_address,
    version,
  }
}

function toIso(at: number): string {
  return new Date(at).toISOString()
}

function toIsoOrNull(at: number | null): string | null {
  return at === null ? null : toIso(at)
}
