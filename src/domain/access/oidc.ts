/** Maps the claims of an OpenID Connect provider to a role and a name. */

import { type Role, roles } from '../../contract/values.ts'
import { isUsername } from './password.ts'

export { roles } from '../../contract/values.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Claim value -> role. */
export type RoleMapping = Readonly<Record<string, Role>>

/** `issuer` and `subject` identify the person; names can change. */
export interface ProviderIdentity {
  readonly issuer: string
  readonly subject: string
  readonly claims: Claims
}

/** The time limit for a sign-in at the provider. */
export const oidcLoginMs = 10 * 60_000

/** The limit for sign-ins that were started but not finished. */
export const maxOidcLogins = 5000

/**
 * Reasons for a failed sign-in through the provider. The sign-in page receives the code in its address and shows a
 * sentence for it.
 */
export const oidcProblems = [
  'denied',
  'expired',
  'inactive',
  'no_role',
  'provider_error',
  'unreachable',
  'untrusted',
] as const
export type OidcProblem = (typeof oidcProblems)[number]

export class OidcError extends Error {
  override readonly name = 'OidcError'
  readonly problem: OidcProblem

  constructor(problem: OidcProblem, reason: string, options: { readonly cause?: unknown } = {}) {
    super(reason, options)
    this.problem = problem
  }
}

/**
 * Returns the highest role that the claim maps to, or null. The claim is a list, a single value or values separated by
 * spaces.
 */
export function roleOf(claim: unknown, mapping: RoleMapping): Role | null {
  const values = Array.isArray(claim) ? claim : typeof claim === 'string' ? [claim, ...claim.split(/\s+/)] : []
  const found = values.flatMap((value) =>
    typeof value === 'string' && Object.hasOwn(mapping, value) ? (mapping[value] ?? []) : [],
  )
  return roles.findLast((role) => found.includes(role)) ?? null
}

const maxNameChars = 64

/**
 * Returns the name to display. A local user can never have this name, so lists and the audit log cannot mix them up.
 */
export function displayNameOf({ claims, subject }: ProviderIdentity): string {
  const candidates = [claims.name, claims.preferred_username, claims.email, subject]
  const name = candidates.map(toName).find((candidate) => candidate !== '') ?? 'user'
  return isUsername(name.normalize('NFKC')) ? `${name} (SSO)` : name
}

function toName(value: unknown): string {
  if (typeof value !== 'string') return ''
  const text = value.replace(/\p{C}/gu, '').replace(/\s+/gu, ' ').trim()
  return [...text].slice(0, maxNameChars).join('').trim()
}
