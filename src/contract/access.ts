/** Sign-in, users, API tokens and the audit log. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  dayOrTime,
  flag,
  id,
  listOf,
  NoContent,
  name,
  named,
  nullable,
  oneOf,
  optional,
  orNull,
  Paging,
  pagedOf,
  paging,
  query,
  sameValue,
  text,
  textOrNull,
  time,
  timeOrNull,
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'
import { actorKinds, auditResults, grantedPermissions, permissionNames, roles } from './values.ts'

const role = oneOf(roles, 'Role.')
const permissions = listOf(
  oneOf(grantedPermissions, 'A permission.'),
  'What an administrator has allowed in addition to the role: `listen` permits listening to channels.',
)

export const User = named('User', 'A user account.', {
  id,
  username: text('Name for signing in; the display name of a user of an OpenID Connect provider.'),
  role,
  permissions,
  is_active: flag('False if the user may not sign in.'),
  created_at: time('When the account was created.'),
  last_login_at: timeOrNull('When the user last signed in.'),
  issuer: textOrNull('The OpenID Connect provider through which the user signs in; null for a local user.'),
  subject: textOrNull('The id of the user at that provider; null for a local user.'),
  has_totp: flag('True if signing in requires a code of an authenticator app.'),
  version,
})
export type UserBody = Body<typeof User>

const csrf_token = text('Every write must send it in the header `X-CSRF-Token`.')

export const SignedIn = named('SignedIn', 'Response to a sign-in; the session is set as a cookie.', {
  user: User,
  csrf_token,
})
export type SignedInBody = Body<typeof SignedIn>

const OwnSession = named('OwnSession', 'A session of the signed-in user.', {
  id: text('Id of the session.'),
  current: flag('True for the session of this request.'),
  created_at: time('When the user signed in.'),
  last_used_at: time('When the session was last used, to the minute.'),
  address: textOrNull('Client address of the sign-in; null if it is unknown.'),
  agent: textOrNull('Browser or program of the sign-in, as it names itself; null if it is unknown.'),
})
export type OwnSessionBody = Body<typeof OwnSession>

const TotpSetup = named('TotpSetup', 'A secret for an authenticator app. It takes effect when it is confirmed.', {
  secret: text('The secret in Base32, to enter by hand.'),
  otpauth_url: text('The content of the QR code.'),
})

const RecoveryCodes = named('RecoveryCodes', 'Codes that each replace a code from the authenticator app once.', {
  recovery_codes: listOf(Type.String(), 'The codes; no later response contains them.'),
})

const KioskOpen = named(
  'KioskOpen',
  'The API token of a kiosk screen; the response also sets it as an HttpOnly cookie.',
  {
    name: text('Name of the token.'),
    role,
    expires_at: timeOrNull('When the token and its cookie expire; null: never.'),
  },
)

export const Session = named('Session', 'The identity of the request.', {
  user: orNull(User, 'The signed-in user, or null.'),
  csrf_token: textOrNull('Every write must send it in the header `X-CSRF-Token`.'),
  kind: oneOf(actorKinds, 'How the request is authenticated.'),
  name: text('Name of the user or token.'),
  role,
  permissions: listOf(oneOf(permissionNames, 'A permission.'), 'What these credentials allow.'),
  totp_required: flag('True if the user must set up an authenticator app before anything else.'),
})
export type SessionBody = Body<typeof Session>

const Setup = named('Setup', 'Whether the service needs its first administrator, and how users can sign in.', {
  needed: flag('True while there is no administrator.'),
  code_needed: flag('True if the set-up code from the console is required.'),
  single_sign_on: textOrNull('Label of sign-in through an OpenID Connect provider; null if it is not configured.'),
})

const tokenFields = {
  id,
  name: text('Name of the token.'),
  role,
  permissions,
  created_by: wholeOrNull('Id of the user who created it.'),
  created_at: time('When it was created.'),
  expires_at: timeOrNull('When the token expires; null: never.'),
  last_used_at: timeOrNull('When the token was last used.'),
  last_used_address: textOrNull('Client address of the last use.'),
  version,
}

export const Token = named('Token', 'An API token.', tokenFields)
export type TokenBody = Body<typeof Token>

export const NewToken = named('NewToken', 'A token with its secret.', {
  ...tokenFields,
  token: text('The secret; no later response contains it.'),
})
export type NewTokenBody = Body<typeof NewToken>

export const Audit = named('AuditRecord', 'An action that was performed or attempted.', {
  id,
  at: time('Time of the action.'),
  count: whole(
    'How often the action was performed since `at`. Minor actions that are repeated are merged into one record.',
  ),
  last_at: timeOrNull('Time of the last repetition; null without repetitions.'),
  actor: Type.Object(
    {
      kind: oneOf(actorKinds, 'How the actor was authenticated.'),
      id: wholeOrNull('Id of the user or token.'),
      name: text('Name of the user or token.'),
      address: textOrNull('Client address of the request.'),
    },
    { description: 'Who performed the action.' },
  ),
  action: text('Name of the action, such as `queue.approve`.'),
  target: text('The affected object.'),
  result: oneOf(auditResults, 'Result.'),
  request_id: textOrNull('Id of the request; an error response contains it in the header `X-Request-Id`.'),
  details: Type.Record(Type.String(), Type.Unknown(), { description: 'What changed, without secrets.' }),
})
export type AuditBody = Body<typeof Audit>

/** Maximum size of the bodies of unauthenticated requests. */
export const credentialBytes = 1024
const newPermissions = Type.Optional(
  Type.Array(oneOf(grantedPermissions, grantedPermissions.join(', ')), {
    uniqueItems: true,
    maxItems: grantedPermissions.length,
    description: `a list of ${grantedPermissions.join(', ')}`,
  }),
)
const newRole = oneOf(roles, roles.join(', '))
const username = boundedText(1, 64)

/** The minimum length is checked in `domain/access/password.ts`, with a message for users. */
const password = boundedText(1, 1024)
const expiresAt = Type.Optional(nullable(boundedText(1, 64), 'a time such as 2030-12-31T00:00:00Z'))
const code = boundedText(1, 64)
const Login = body({
  username: boundedText(1, credentialBytes),
  password: boundedText(1, credentialBytes),
  code: Type.Optional(code),
})
const KioskLogin = body({ token: boundedText(1, 200) })
const PasswordChange = body({ current_password: password, new_password: password })
const SetupRequest = body({ username, password, code: Type.Optional(code) })
const TotpConfirmation = body({ code })
const TotpRemoval = body({ current_password: password })
const BySession = Type.Object({
  session: Type.String({ pattern: '^[0-9a-f]{16}$', description: 'Id of the session.' }),
})
const NewUser = body({ username, password, role: newRole, permissions: newPermissions })

const UserChange = body({
  role: Type.Optional(newRole),
  permissions: newPermissions,
  is_active: Type.Optional(trueOrFalse),
  password: Type.Optional(password),
})

const token = { name, role: newRole, permissions: newPermissions, expires_at: expiresAt }
const TokenRequest = body(token)
const TokenChange = body(optional(token))

const OidcLoginQuery = query({
  next: Type.String({ maxLength: 2000, description: 'The page to open afterwards: a path of this service.' }),
})

/** The provider may append other parameters. */
const OidcCallbackQuery = query({
  code: text('The authorization code.'),
  state: text('The state of the sign-in that was started.'),
  iss: text('The issuer.'),
  error: text('Why the provider did not sign the user in.'),
})

export const AuditQuery = query({
  action: text('Only this action, or all actions with this prefix if it ends with a dot.'),
  actor: text('Only records whose actor name contains this text.'),
  result: oneOf(auditResults, sameValue),
  after: dayOrTime('At or after this time'),
  before: dayOrTime('Before this time'),
  ...paging,
})

export const accessOperations = operationsOf({
  signIn: endpoint('POST', '/api/auth/login', {
    ...about('Account', 'Signs in: sets the session cookie and returns the CSRF token.'),
    body: Login,
    response: { 200: SignedIn, 401: ErrorResponse },
  }),

  signInKiosk: endpoint('POST', '/api/auth/kiosk', {
    ...about('Account', 'Signs a kiosk screen in with an API token of the role `viewer`, until that token expires.'),
    body: KioskLogin,
    response: { 200: KioskOpen, 401: ErrorResponse },
  }),

  startOidcLogin: endpoint('GET', '/api/auth/oidc/login', {
    ...about('Account', 'Redirects to the OpenID Connect provider to sign in there.'),
    querystring: OidcLoginQuery,
    response: { 302: NoContent, 404: ErrorResponse, 502: ErrorResponse },
  }),

  finishOidcLogin: endpoint('GET', '/api/auth/oidc/callback', {
    ...about(
      'Account',
      'Signs in with the response of the OpenID Connect provider: sets the session cookie and redirects to a page.',
    ),
    querystring: OidcCallbackQuery,
    response: { 302: NoContent, 401: ErrorResponse, 404: ErrorResponse, 502: ErrorResponse },
  }),

  signOut: endpoint('POST', '/api/auth/logout', {
    ...about('Account', 'Signs out.'),
    response: { 204: NoContent },
  }),

  getSession: endpoint('GET', '/api/auth/session', {
    ...about('Account', 'The identity and permissions of the request.'),
    response: { 200: Session },
  }),

  changePassword: endpoint('POST', '/api/auth/password', {
    ...about('Account', "Changes the signed-in user's password and signs the user out everywhere else."),
    body: PasswordChange,
    response: { 200: SignedIn },
  }),

  listOwnSessions: endpoint('GET', '/api/auth/sessions/', {
    ...about('Account', "The signed-in user's sessions, the last used first."),
    response: { 200: Type.Array(OwnSession) },
  }),

  endOwnSession: endpoint('DELETE', '/api/auth/sessions/:session/', {
    ...about('Account', 'Signs the user out of one session.'),
    params: BySession,
    response: { 204: NoContent },
  }),

  setUpTotp: endpoint('POST', '/api/auth/totp/', {
    ...about('Account', 'Creates a secret for an authenticator app of the signed-in user.'),
    response: { 200: TotpSetup, 409: ErrorResponse },
  }),

  confirmTotp: endpoint('POST', '/api/auth/totp/confirm', {
    ...about('Account', 'Requires a code from the authenticator app from now on. Returns recovery codes.'),
    body: TotpConfirmation,
    response: { 200: RecoveryCodes, 409: ErrorResponse },
  }),

  removeTotp: endpoint('POST', '/api/auth/totp/remove', {
    ...about('Account', 'Removes the authenticator app of the signed-in user.'),
    body: TotpRemoval,
    response: { 204: NoContent, 409: ErrorResponse },
  }),

  getSetup: endpoint('GET', '/api/auth/setup', {
    ...about('Account', 'Whether the service needs its first administrator, and how users can sign in.'),
    response: { 200: Setup },
  }),

  setUp: endpoint('POST', '/api/auth/setup', {
    ...about('Account', 'Creates the first administrator and signs in.'),
    body: SetupRequest,
    response: { 201: SignedIn, 409: ErrorResponse },
  }),

  listUsers: endpoint('GET', '/api/admin/users/', {
    ...about('Administration', 'Users.'),
    querystring: Paging,
    response: { 200: pagedOf(User) },
  }),

  createUser: endpoint('POST', '/api/admin/users/', {
    ...about('Administration', 'Adds a user.'),
    body: NewUser,
    response: { 201: User, 409: ErrorResponse },
  }),

  changeUser: endpoint('PATCH', '/api/admin/users/:id/', {
    ...about('Administration', 'Changes the role, permissions, password or active state of a user.'),
    params: ById,
    body: UserChange,
    response: { 200: User, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeUser: endpoint('DELETE', '/api/admin/users/:id/', {
    ...about('Administration', 'Removes a user.'),
    params: ById,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeUserTotp: endpoint('DELETE', '/api/admin/users/:id/totp/', {
    ...about('Administration', 'Removes the authenticator app of a user who has lost it.'),
    params: ById,
    response: { 204: NoContent },
  }),

  listTokens: endpoint('GET', '/api/admin/tokens/', {
    ...about('Administration', 'API tokens, without their secrets.'),
    querystring: Paging,
    response: { 200: pagedOf(Token) },
  }),

  createToken: endpoint('POST', '/api/admin/tokens/', {
    ...about('Administration', 'Creates a token. Only this response contains its secret.'),
    body: TokenRequest,
    response: { 201: NewToken },
  }),

  changeToken: endpoint('PATCH', '/api/admin/tokens/:id/', {
    ...about('Administration', 'Changes the name, role, permissions or expiry of a token.'),
    params: ById,
    body: TokenChange,
    response: { 200: Token, 412: ErrorResponse },
  }),

  revokeToken: endpoint('DELETE', '/api/admin/tokens/:id/', {
    ...about('Administration', 'Revokes a token.'),
    params: ById,
    response: { 204: NoContent, 412: ErrorResponse },
  }),

  listAuditRecords: endpoint('GET', '/api/admin/audit/', {
    ...about('Administration', 'The audit log, newest first; without paging, the newest 1000 records.'),
    querystring: AuditQuery,
    response: { 200: pagedOf(Audit) },
  }),
})
