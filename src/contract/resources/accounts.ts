/** Users, sessions, API tokens and the first set-up. */

import {
  type Body,
  flag,
  listOf,
  named,
  oneOf,
  orNull,
  text,
  textOrNull,
  time,
  timeOrNull,
  wholeOrNull,
} from '../described.ts'
import { actorKinds, permissionNames, roles } from '../values.ts'
import { id } from './common.ts'

const role = oneOf(roles, 'Role.')

export const User = named('User', 'A user account.', {
  id,
  username: text('Name for signing in; the display name of a user of an OpenID Connect provider.'),
  role,
  is_active: flag('False if the user may not sign in.'),
  created_at: time('When the account was created.'),
  last_login_at: timeOrNull('When the user last signed in.'),
  issuer: textOrNull('The OpenID Connect provider through which the user signs in; null for a local user.'),
  subject: textOrNull('The id of the user at that provider; null for a local user.'),
})
export type UserBody = Body<typeof User>

const csrf_token = text('Every write must send it in the header `X-CSRF-Token`.')

export const SignedIn = named('SignedIn', 'Response to a sign-in; the session is set as a cookie.', {
  user: User,
  csrf_token,
})
export type SignedInBody = Body<typeof SignedIn>

export const KioskOpen = named(
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
})
export type SessionBody = Body<typeof Session>

export const Setup = named('Setup', 'Whether the service needs its first administrator, and how users can sign in.', {
  needed: flag('True while there is no administrator.'),
  code_needed: flag('True if the set-up code from the console is required.'),
  single_sign_on: textOrNull('Label of sign-in through an OpenID Connect provider; null if it is not configured.'),
})

const tokenFields = {
  id,
  name: text('Name of the token.'),
  role,
  created_by: wholeOrNull('Id of the user who created it.'),
  created_at: time('When it was created.'),
  expires_at: timeOrNull('When the token expires; null: never.'),
  last_used_at: timeOrNull('When the token was last used.'),
  last_used_address: textOrNull('Client address of the last use.'),
}

export const Token = named('Token', 'An API token.', tokenFields)
export type TokenBody = Body<typeof Token>

export const NewToken = named('NewToken', 'A token with its secret.', {
  ...tokenFields,
  token: text('The secret; no later response contains it.'),
})
export type NewTokenBody = Body<typeof NewToken>
