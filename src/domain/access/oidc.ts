/** What the claims of an OpenID Connect provider mean here: the role and the name of the person who signs in. */

import { type Role, roles } from '../../contract/values.ts'
import { isUsername } from './password.ts'

export { roles } from '../../contract/values.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Value of the claim -> role. */
export type RoleMapping = Readonly<Record<string, Role>>

/** Who signed in at the provider. The issuer and the subject are the identity; names can change. */
export interface ProviderIdentity {
  readonly issuer: string
  readonly subject: string
  readonly claims: Claims
}

/** How long a person may take to sign in at the provider. */
export const oidcLoginMs = 10 * 60_000

/** The most sign-ins that may be started and not finished. */
export const maxOidcLogins = 5000

/**
 * Why a sign-in through the provider did not succeed. The codes are part of the address of the sign-in page, which has a
 * sentence for each.
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
 * Returns the highest role of the values of a claim; null if none of them has a role. The claim is a list of texts, or a
 * text that is one value or several values between spaces.
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
 * Returns the name to display. It is never one that a local user can have, so that lists and the audit log cannot show a
 * person from the provider under the name of a local user.
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
