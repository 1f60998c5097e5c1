/** Users who sign in through an OpenID Connect provider, and the sign-ins that were started there. */
export const name = '20261125T2105Z-oidc'

export function statements(): readonly string[] {
  return [
    'alter table users add column issuer text',
    'alter table users add column subject text',
    'create unique index users_identity on users (issuer, subject)',
    `create table oidc_logins (
      hash text primary key,
      next text,
      expires_at bigint not null
    )`,
    'create index oidc_logins_expires_at on oidc_logins (expires_at)',
  ]
}
