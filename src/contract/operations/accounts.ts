/** Sign-in, users, tokens and the audit log. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { AuditQuery, ById, OidcCallbackQuery, OidcLoginQuery, Paging } from '../queries.ts'
import {
  KioskLogin,
  Login,
  NewUser,
  PasswordChange,
  SetupRequest,
  TokenChange,
  TokenRequest,
  UserChange,
} from '../requests.ts'
import { KioskOpen, NewToken, Session, Setup, SignedIn, Token, User } from '../resources/accounts.ts'
import { Audit } from '../resources/audit.ts'

export const signIn = endpoint('POST', '/api/auth/login', {
  ...operation('Account', 'signIn', 'Signs in: sets the session cookie and returns the CSRF token.'),
  body: Login,
  response: { 200: SignedIn, 401: ErrorResponse },
})

export const signInKiosk = endpoint('POST', '/api/auth/kiosk', {
  ...operation(
    'Account',
    'signInKiosk',
    'Signs a kiosk screen in with an API token of the role `viewer`, until that token expires.',
  ),
  body: KioskLogin,
  response: { 200: KioskOpen, 401: ErrorResponse },
})

export const startOidcLogin = endpoint('GET', '/api/auth/oidc/login', {
  ...operation('Account', 'startOidcLogin', 'Redirects to the OpenID Connect provider to sign in there.'),
  querystring: OidcLoginQuery,
  response: { 302: NoContent, 404: ErrorResponse, 502: ErrorResponse },
})

export const finishOidcLogin = endpoint('GET', '/api/auth/oidc/callback', {
  ...operation(
    'Account',
    'finishOidcLogin',
    'Signs in with the response of the OpenID Connect provider: sets the session cookie and redirects to a page.',
  ),
  querystring: OidcCallbackQuery,
  response: { 302: NoContent, 401: ErrorResponse, 404: ErrorResponse, 502: ErrorResponse },
})

export const signOut = endpoint('POST', '/api/auth/logout', {
  ...operation('Account', 'signOut', 'Signs out.'),
  response: { 204: NoContent },
})

export const getSession = endpoint('GET', '/api/auth/session', {
  ...operation('Account', 'getSession', 'The identity and permissions of the request.'),
  response: { 200: Session },
})

export const changePassword = endpoint('POST', '/api/auth/password', {
  ...operation(
    'Account',
    'changePassword',
    "Changes the signed-in user's password and signs the user out everywhere else.",
  ),
  body: PasswordChange,
  response: { 200: SignedIn },
})

export const getSetup = endpoint('GET', '/api/auth/setup', {
  ...operation('Account', 'getSetup', 'Whether the service needs its first administrator, and how users can sign in.'),
  response: { 200: Setup },
})

export const setUp = endpoint('POST', '/api/auth/setup', {
  ...operation('Account', 'setUp', 'Creates the first administrator and signs in.'),
  body: SetupRequest,
  response: { 201: SignedIn, 409: ErrorResponse },
})

export const listUsers = endpoint('GET', '/api/admin/users/', {
  ...operation('Administration', 'listUsers', 'Users.'),
  querystring: Paging,
  response: { 200: pagedOf(User) },
})

export const createUser = endpoint('POST', '/api/admin/users/', {
  ...operation('Administration', 'createUser', 'Adds a user.'),
  body: NewUser,
  response: { 201: User, 409: ErrorResponse },
})

export const changeUser = endpoint('PATCH', '/api/admin/users/:id/', {
  ...operation('Administration', 'changeUser', 'Changes the role, password or active state of a user.'),
  params: ById,
  body: UserChange,
  response: { 200: User, 409: ErrorResponse },
})

export const removeUser = endpoint('DELETE', '/api/admin/users/:id/', {
  ...operation('Administration', 'removeUser', 'Removes a user.'),
  params: ById,
  response: { 204: NoContent, 409: ErrorResponse },
})

export const listTokens = endpoint('GET', '/api/admin/tokens/', {
  ...operation('Administration', 'listTokens', 'API tokens, without their secrets.'),
  querystring: Paging,
  response: { 200: pagedOf(Token) },
})

export const createToken = endpoint('POST', '/api/admin/tokens/', {
  ...operation('Administration', 'createToken', 'Creates a token. Only this response contains its secret.'),
  body: TokenRequest,
  response: { 201: NewToken },
})

export const changeToken = endpoint('PATCH', '/api/admin/tokens/:id/', {
  ...operation('Administration', 'changeToken', 'Changes the name, role or expiry of a token.'),
  params: ById,
  body: TokenChange,
  response: { 200: Token },
})

export const revokeToken = endpoint('DELETE', '/api/admin/tokens/:id/', {
  ...operation('Administration', 'revokeToken', 'Revokes a token.'),
  params: ById,
  response: { 204: NoContent },
})

export const listAuditRecords = endpoint('GET', '/api/admin/audit/', {
  ...operation(
    'Administration',
    'listAuditRecords',
    'The audit log, newest first; without paging, the newest 1000 records.',
  ),
  querystring: AuditQuery,
  response: { 200: pagedOf(Audit) },
})
