/** People and the programs that act for them, and what REST says of them. Never with a secret. */

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

/** How long a session lasts: unused, and in all. Shows run 16 hours, and a logout in mid-show is an outage. */
export const sessionLimits = {
  idleMs: 24 * 3_600_000,
  totalMs: 14 * 24 * 3_600_000,
  perUser: 50,
  /** An open page is told so long before its session ends. */
  warnMs: 3_600_000,
} as const

export const defaultTokenMs = 365 * 24 * 3_600_000

/** When a session is over that was last used then. */
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

/** Answered to a sign-in. */
export interface SignedInBody {
  readonly user: UserBody
  /** Sent back as `X-CSRF-Token` with every write. */
  readonly csrf_token: string
}

/** Answered to a screen that shows its token. */
export interface KioskOpenBody {
  readonly name: string
  readonly role: Role
  readonly expires_at: string | null
}

export interface SessionBody {
  /** Null for whoever is not signed in: at this machine, with a token, or only looking. */
  readonly user: UserBody | null
  readonly csrf_token: string | null
  readonly kind: 'user' | 'token' | 'local' | 'guest' | 'cli'
  readonly name: string
  readonly role: Role
  /** What these credentials allow here; more than the role where a local listener asks for none. */
  readonly permissions: readonly Permission[]
}

export interface SetupBody {
  /** True as long as nobody can administer this service. */
  readonly needed: boolean
  /** True where the code from the console has to be given. */
  readonly code_needed: boolean
}

export function toUserBody({ id, username, role, is_active, created_at, last_login_at }: User): UserBody {
  return { id, username, role, is_active, created_at: iso(created_at), last_login_at: isoOrNull(last_login_at) }
}

export function toTokenBody(token: ApiToken): TokenBody {
  const { id, name, role, created_by, last_used_address } = token
  return {
    id,
    name,
    role,
    created_by,
    created_at: iso(token.created_at),
    expires_at: isoOrNull(token.expires_at),
    last_used_at: isoOrNull(token.last_used_at),
    last_used_address,
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}
