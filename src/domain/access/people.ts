/** Users, API tokens and sessions, and their REST bodies, which never contain secrets. */

import type { AuditRecord, Permission, Role } from './access.ts'

export interface User {
  readonly id: number
  readonly username: string
  readonly role: Role
  readonly is_active: boolean
  readonly created_at: number
  readonly last_login_at: number | null
}

export interface ApiToken {
  readonly id: number
  readonly name: string
  readonly role: Role
  readonly created_by: number | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly last_used_address: string | null
}

/** Session lifetimes. A show can last 16 hours, and a logout during a show would interrupt monitoring. */
export const sessionLimits = {
  idleMs: 24 * 3_600_000,
  totalMs: 14 * 24 * 3_600_000,
  perUser: 50,
  /** How long before the end of the session an open page shows a warning. */
  warnMs: 3_600_000,
} as const

export const defaultTokenMs = 365 * 24 * 3_600_000

/** Returns the time at which the session expires. */
export function sessionEnd(session: { readonly expires_at: number; readonly last_used_at: number }): number {
  return Math.min(session.expires_at, session.last_used_at + sessionLimits.idleMs)
}

export interface UserBody {
  readonly id: number
  readonly username: string
  readonly role: Role
  readonly is_active: boolean
  readonly created_at: string
  readonly last_login_at: string | null
}

export interface TokenBody {
  readonly id: number
  readonly name: string
  readonly role: Role
  readonly created_by: number | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly last_used_address: string | null
}

export interface AuditBody extends Omit<AuditRecord, 'at'> {
  readonly at: string
}

/** The response to a sign-in. */
export interface SignedInBody {
  readonly user: UserBody
  /** Clients send it as `X-CSRF-Token` with every write request. */
  readonly csrf_token: string
}

/** The response to a kiosk that presents its token. */
export interface KioskOpenBody {
  readonly name: string
  readonly role: Role
  readonly expires_at: string | null
}

export interface SessionBody {
  /** Null if no user is signed in: for local clients, API tokens and guests. */
  readonly user: UserBody | null
  readonly csrf_token: string | null
  readonly kind: 'user' | 'token' | 'local' | 'guest' | 'cli'
  readonly name: string
  readonly role: Role
  /** The permissions of this request. On a local listener they can exceed those of the role. */
  readonly permissions: readonly Permission[]
}

export interface SetupBody {
  /** True while there is no administrator. */
  readonly needed: boolean
  /** True if the set-up code from the console is required. */
  readonly code_needed: boolean
}

export function toUserBody({ id, username, role, is_active, created_at, last_login_at }: User): UserBody {
  return { id, username, role, is_active, created_at: toIso(created_at), last_login_at: toIsoOrNull(last_login_at) }
}

export function toTokenBody(token: ApiToken): TokenBody {
  const { id, name, role, created_by, last_used_address } = token
  return {
    id,
    name,
    role,
    created_by,
    created_at: toIso(token.created_at),
    expires_at: toIsoOrNull(token.expires_at),
    last_used_at: toIsoOrNull(token.last_used_at),
    last_used_address,
  }
}

function toIso(at: number): string {
  return new Date(at).toISOString()
}

function toIsoOrNull(at: number | null): string | null {
  return at === null ? null : toIso(at)
}
