/** All request errors: code, HTTP status and message. */

import type { ErrorBody, Failure } from '../contract/errors.ts'

interface RequestErrorKind {
  readonly status: number
  readonly message: (...subject: never[]) => string
}

export const requestErrors = {
  bad_request: { status: 400, message: () => 'Bad request.' },
  not_json: { status: 400, message: () => 'The body is not valid JSON.' },
  sign_in_needed: { status: 401, message: () => 'Sign in, or send an API token.' },
  wrong_credentials: { status: 401, message: () => 'The user name or the password is wrong.' },
  code_needed: { status: 401, message: () => 'Enter the code of your authenticator app, or a recovery code.' },
  code_refused: {
    status: 401,
    message: () => 'The code is wrong, has expired or was already used. Wait for the next one, and check the clocks.',
  },
  wrong_token: { status: 401, message: () => 'This token is wrong, was revoked, or has expired.' },
  oidc_denied: { status: 401, message: () => 'The sign-in was cancelled at the provider.' },
  oidc_expired: { status: 401, message: () => 'This sign-in has expired or was already completed. Start again.' },
  foreign_origin: { status: 403, message: () => 'Requests from other sites are not allowed.' },
  not_allowed: { status: 403, message: (role: string) => `The role ${role} is required.` },
  listen_not_granted: {
    status: 403,
    message: () =>
      'The permission listen is required, which no role includes. An administrator grants it to a user or token.',
  },
  listening_needs_tls: {
    status: 403,
    message: () =>
      'Sound is only sent over TLS. Connect with https, or set listening_without_tls: true in the configuration file.',
  },
  not_a_user: { status: 403, message: () => 'Only a signed-in local user can do this.' },
  totp_needed: {
    status: 403,
    message: () => 'This account requires an authenticator app. Set it up on the account page first.',
  },
  csrf_token_needed: {
    status: 403,
    message: () => 'Send the X-CSRF-Token header with the token from the sign-in response.',
  },
  not_a_viewer: { status: 403, message: () => 'A kiosk requires a token with the role viewer.' },
  wrong_code: { status: 403, message: () => 'The set-up code is wrong or has expired.' },
  oidc_no_role: {
    status: 403,
    message: () =>
      'This account has no role in Micwatch. Ask an administrator to add it to a group that has one (oidc.roles).',
  },
  oidc_inactive: { status: 403, message: () => 'This account is deactivated. Ask an administrator to activate it.' },
  not_found: { status: 404, message: (what: string) => `There is no ${what}.` },
  wrong_link: { status: 404, message: () => 'This link is not valid.' },
  wrong_method: { status: 405, message: (method: string) => `This address does not support ${method}.` },
  too_slow: { status: 408, message: () => 'The request took too long to arrive.' },
  scan_running: { status: 409, message: () => 'A scan is already running. Wait until it ends.' },
  not_empty: { status: 409, message: (what: string) => `Remove the contents of ${what} first.` },
  already_known: { status: 409, message: (what: string) => `Already known: ${what}.` },
  taken: { status: 409, message: (what: string) => `Already in use: ${what}.` },
  in_use: { status: 409, message: (what: string) => `${what} is in use.` },
  changed_place: { status: 409, message: (what: string) => `${what}. Nothing was moved.` },
  wrong_state: { status: 409, message: (sentence: string) => sentence },
  concurrent_change: {
    status: 409,
    message: (what: string) => `The stored version of ${what} has changed in the meantime. Reload it and try again.`,
  },
  changed_since: {
    status: 409,
    message: (what: string) => `The action can no longer be undone, because ${what} has been changed since.`,
  },
  listening_off: {
    status: 409,
    message: () =>
      'Listening is off. To switch it on, set listening: true in the configuration file, and restart Micwatch.',
  },
  evidence_off: {
    status: 409,
    message: () =>
      'No sound is kept. To switch it on, set audio_evidence: true in the configuration file, and restart Micwatch.',
  },
  disabled: { status: 409, message: (code: string) => `Manufacturer ${code} is disabled.` },
  managed_by_provider: {
    status: 409,
    message: (name: string) => `${name} signs in through a provider, which determines the password and the role.`,
  },
  name_taken: { status: 409, message: (name: string) => `The user ${name} already exists.` },
  alert_cleared: { status: 409, message: (what: string) => `${what} is already cleared.` },
  no_show_running: { status: 409, message: (what: string) => `No show that concerns ${what} is running.` },
  none_changed: { status: 409, message: () => 'Nothing was changed.' },
  last_admin: { status: 409, message: () => 'At least one active local administrator must remain.' },
  already_set_up: { status: 409, message: () => 'An administrator already exists.' },
  link_expired: { status: 410, message: () => 'This link has expired.' },
  stale: {
    status: 412,
    message: (what: string) => `There is a newer version of ${what}. Compare it with your change, and try again.`,
  },
  too_large: { status: 413, message: () => 'The body is too large.' },
  address_too_long: { status: 414, message: () => 'The address is longer than 8 KiB.' },
  not_json_type: { status: 415, message: () => 'The body must be application/json.' },
  not_rows: { status: 415, message: () => 'The body must be application/json, or text/csv with ?source=.' },
  not_a_form: { status: 415, message: () => 'The body must be multipart/form-data.' },
  not_a_picture: { status: 415, message: () => 'The body must be a PNG, JPEG or WebP picture.' },
  misdirected: {
    status: 421,
    message: (host: string) =>
      `This service does not respond to requests for the host ${host}. Add it to server.allowed_hosts (MICWATCH_ALLOWED_HOSTS); ` +
      'behind a proxy, also add the network of the proxy to server.trusted_proxies (MICWATCH_TRUSTED_PROXIES).',
  },
  upgrade_required: { status: 426, message: () => 'This address requires a WebSocket connection.' },
  listeners_of_person: {
    status: 429,
    message: () => 'You already listen in other places. Stop listening there first.',
  },
  rate_limited: { status: 429, message: () => 'Too many requests.' },
  head_too_large: { status: 431, message: () => 'The request headers are too large.' },
  internal: { status: 500, message: () => 'Internal server error.' },
  oidc_provider_error: {
    status: 502,
    message: () => "The sign-in provider rejected the sign-in. See Micwatch's log for the reason.",
  },
  oidc_untrusted: {
    status: 502,
    message: () => "The response of the sign-in provider is not valid. See Micwatch's log for the reason.",
  },
  planning_center_failed: { status: 502, message: (sentence: string) => sentence },
  identify_failed: { status: 503, message: (name: string) => `${name} does not respond.` },
  scan_failed: { status: 503, message: (name: string) => `${name} does not scan.` },
  upstream_failed: { status: 503, message: () => 'None of the requested systems could be polled.' },
  planning_center_limited: { status: 503, message: (sentence: string) => sentence },
  oidc_unreachable: {
    status: 503,
    message: () => 'The sign-in provider cannot be reached. Try again later, or sign in with a local account.',
  },
  store_busy: { status: 503, message: () => 'The database is busy or unreachable. Try again.' },
  store_damaged: {
    status: 503,
    message: () =>
      'The database is damaged, or its file was deleted or replaced. Changes are not stored until the service is restarted.',
  },
  sign_in_busy: { status: 503, message: () => 'Too many sign-ins at the moment. Try again later.' },
  frequencies_busy: { status: 503, message: () => 'Too many frequency checks are waiting. Try again later.' },
  history_busy: { status: 503, message: () => 'Too many reads of recorded levels are waiting. Try again later.' },
  scans_busy: { status: 503, message: () => 'Too many scans are waiting to be read. Try again later.' },
  sweeps_full: {
    status: 503,
    message: () => 'Too many analysers push sweeps. Delete the sweeps of a source that has ended.',
  },
  frequencies_slow: {
    status: 503,
    message: () => 'The frequencies could not be checked within 30 seconds. Check fewer carriers at a time.',
  },
  connections_full: {
    status: 503,
    message: () => 'Too many connections from this address are in use. Close some, or try again later.',
  },
  websocket_full: { status: 503, message: () => 'There are too many real-time connections; try again later.' },
  audio_elsewhere: { status: 503, message: (sentence: string) => sentence },
  websocket_off: { status: 503, message: () => 'Real-time updates are disabled.' },
  listeners_full: { status: 503, message: () => 'Too many people listen at the moment. Try again later.' },
  stopping: { status: 503, message: () => 'The service is stopping.' },
} as const satisfies Record<string, RequestErrorKind>

export type RequestErrorCode = keyof typeof requestErrors

/** The default `Retry-After`. */
export const retryAfterSeconds = 5

/** The HTTP layer converts it to an `ErrorBody`. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: RequestErrorCode
  readonly status: number
  readonly details: string | undefined
  /** The `Retry-After` in seconds. Every error with status 429 or 503 has one. */
  readonly retryAfter: number | undefined
  readonly failed: readonly Failure[] | undefined
  /** The present record or slot, if the request expected an earlier one. */
  readonly current: unknown

  constructor(
    code: RequestErrorCode,
    options: {
      subject?: string
      details?: string | undefined
      retryAfter?: number
      failed?: readonly Failure[]
      current?: unknown
      cause?: unknown
    } = {},
  ) {
    const kind = requestErrors[code] as { status: number; message: (subject: string) => string }
    super(kind.message(options.subject ?? ''), { cause: options.cause })
    this.code = code
    this.status = kind.status
    this.details = options.details
    this.failed = options.failed
    this.current = options.current
    this.retryAfter = options.retryAfter ?? (kind.status === 429 || kind.status === 503 ? retryAfterSeconds : undefined)
  }
}

export function toErrorBody(error: RequestError): ErrorBody {
  const { message, status, details, failed, current } = error
  return {
    ...{ error: message, status },
    ...(details !== undefined && { details }),
    ...(failed !== undefined && { failed }),
    ...(current !== undefined && { current }),
  }
}

/** Throws a `RequestError` if all of the requested ids failed. */
export function throwIfAllFailed(requested: readonly number[], failed: readonly Failure[]): void {
  if (failed.length === requested.length) throw new RequestError('none_changed', { details: failed[0]?.error, failed })
}
