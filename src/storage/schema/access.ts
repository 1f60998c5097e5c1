/** Users and how they sign in, and the audit log. */

import type { Generated } from 'kysely'
import type { AuditClass } from '../../contract/values.ts'
import type { Role } from '../../domain/access/access.ts'
import type { Flag } from './flag.ts'

export interface AccessTables {
  users: UserRow
  sessions: SessionRow
  tokens: TokenRow
  known_browsers: KnownBrowserRow
  failed_tries: FailedTryRow
  oidc_logins: OidcLoginRow
  audit: AuditRow
}

export interface UserRow {
  id: Generated<number>
  username: string
  username_key: string
  role: Role
  /** JSON: `GrantedPermission[]`. */
  permissions: Generated<string>
  /** The argon2id string: parameters, salt and hash. Empty for a user who signs in through a provider. */
  password: string
  is_active: Flag
  created_at: number
  password_changed_at: number
  last_login_at: number | null
  /** The OpenID Connect provider, and the id of the user there; null for a local user. */
  issuer: string | null
  subject: string | null
  version: number
  /** 1 if a code of an authenticator app is required to sign in. */
  has_totp: Generated<Flag>
  /** The sealed secret of the authenticator app; null if none was set up. Without `has_totp`, it is not confirmed yet. */
  totp_secret: string | null
  /** The time step of the last code that was used. */
  totp_step: number | null
  /** JSON: SHA-256 of each unused recovery code. */
  recovery_codes: Generated<string>
}

interface SessionRow {
  /** SHA-256 of the cookie's value. */
  hash: string
  user_id: number
  created_at: number
  expires_at: number
  last_used_at: number
  /** Client and program of the sign-in; null if they are unknown. */
  address: string | null
  agent: string | null
}

export interface TokenRow {
  id: Generated<number>
  name: string
  role: Role
  /** JSON: `GrantedPermission[]`. */
  permissions: Generated<string>
  /** SHA-256 of the token. */
  hash: string
  created_by: number | null
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  last_used_address: string | null
  version: number
}

interface KnownBrowserRow {
  /** SHA-256 of the cookie's value. */
  hash: string
  user_id: number
  last_used_at: number
}

interface FailedTryRow {
  id: Generated<number>
  /** Identifies the client: its network, or the browser if it is known. */
  stranger: string
  account: string
  at: number
}

/** A sign-in that was started and whose response from the provider is awaited. */
interface OidcLoginRow {
  /** SHA-256 of the secret in the cookie of the browser that started it. */
  hash: string
  /** The page to open afterwards. */
  next: string | null
  expires_at: number
}

export interface AuditRow {
  id: Generated<number>
  class: Generated<AuditClass>
  at: number
  count: Generated<number>
  last_at: number | null
  actor_kind: string
  actor_id: number | null
  actor_name: string
  address: string | null
  action: string
  target: string
  result: string
  request_id: string | null
  /** JSON. */
  details: string
}
