/** The section `oidc` of the configuration; docs/single-sign-on.md describes its keys. */

import Type from 'typebox'
import { type RoleMapping, roles } from '../domain/access/oidc.ts'
import { isLoopback } from '../domain/identity/address.ts'
import { section, text } from './fields.ts'

const scope = Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' })

export const OidcSection = section({
  issuer: Type.Refine(
    text('an https address such as https://login.example; http is only accepted on loopback'),
    isIssuerAddress,
  ),
  client_id: text('the id of this client at the provider'),
  client_secret: text('the secret of this client at the provider'),
  scopes: Type.Array(scope, { description: 'a list of scopes such as profile' }),
  role_claim: text('the name of a claim'),
  roles: Type.Record(Type.String(), Type.Enum([...roles], { description: roles.join(', ') }), {
    minProperties: 1,
    description: `a section of values of the claim and their roles (${roles.join(', ')})`,
  }),
  label: Type.String({ minLength: 1, maxLength: 60, description: 'a text of 1 to 60 characters' }),
})

export interface OidcConfig {
  readonly issuer: string
  readonly client_id: string
  /** Null for a public client. */
  readonly client_secret: string | null
  readonly scopes: readonly string[]
  readonly role_claim: string
  readonly roles: RoleMapping
  readonly label: string
}

const required = ['issuer', 'client_id', 'roles'] as const

/** Returns null without any key, or the name of a missing key. */
export function toOidc(entry: Type.Static<typeof OidcSection>): OidcConfig | null | (typeof required)[number] {
  if (Object.keys(entry).length === 0) return null
  const { issuer, client_id, roles } = entry
  if (issuer === undefined || client_id === undefined || roles === undefined) {
    return required.find((key) => entry[key] === undefined) ?? null
  }
  return {
    issuer,
    client_id,
    client_secret: entry.client_secret ?? null,
    scopes: [...new Set(['openid', ...(entry.scopes ?? ['profile', 'email'])])],
    role_claim: entry.role_claim ?? 'groups',
    roles,
    label: entry.label ?? 'Single sign-on',
  }
}

function isIssuerAddress(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(value)
  if ([username, password, search, hash].some((part) => part !== '')) return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
