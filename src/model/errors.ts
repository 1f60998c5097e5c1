/** Every refusal the service can give: code, HTTP status, sentence. */

interface RequestErrorKind {
  readonly status: number
  readonly say: (...about: never[]) => string
}

export const requestErrors = {
  bad_request: { status: 400, say: () => 'Bad request.' },
  not_json: { status: 400, say: () => 'The body is not valid JSON.' },
  sign_in_needed: { status: 401, say: () => 'Sign in, or send an API token.' },
  wrong_credentials: { status: 401, say: () => 'The user name or the password is wrong.' },
  wrong_token: { status: 401, say: () => 'This token is wrong, was revoked, or has expired.' },
  foreign_origin: { status: 403, say: () => 'Requests from another site are refused.' },
  not_allowed: { status: 403, say: (role: string) => `This takes the role ${role}.` },
  csrf_token_needed: { status: 403, say: () => 'Send the X-CSRF-Token that was given at sign-in.' },
  not_a_viewer: { status: 403, say: () => 'A kiosk takes a token of the role viewer.' },
  wrong_code: { status: 403, say: () => 'The set-up code is wrong or has expired.' },
  not_found: { status: 404, say: (what: string) => `There is no ${what}.` },
  wrong_method: { status: 405, say: (method: string) => `${method} is not allowed here.` },
  too_slow: { status: 408, say: () => 'The request took too long to arrive.' },
  scan_running: { status: 409, say: () => 'A scan is running; wait for its end.' },
  not_empty: { status: 409, say: (what: string) => `There is still something in ${what}.` },
  already_known: { status: 409, say: (what: string) => `It is known already: ${what}.` },
  taken: { status: 409, say: (what: string) => `It is taken: ${what}.` },
  in_use: { status: 409, say: (what: string) => `${what} is in use.` },
  concurrent_change: {
    status: 409,
    say: (what: string) => `Somebody else changed ${what} meanwhile; look at it again.`,
  },
  disabled: { status: 409, say: (code: string) => `Manufacturer ${code} is disabled.` },
  name_taken: { status: 409, say: (name: string) => `There is already a user ${name}.` },
  none_changed: { status: 409, say: () => 'Nothing was changed.' },
  last_admin: { status: 409, say: () => 'At least one active administrator must remain.' },
  already_set_up: { status: 409, say: () => 'There is an administrator already.' },
  too_large: { status: 413, say: () => 'The body is too large.' },
  address_too_long: { status: 414, say: () => 'The address is longer than 8 KiB.' },
  not_json_type: { status: 415, say: () => 'The body must be application/json.' },
  misdirected: {
    status: 421,
    say: (host: string) =>
      `This service does not answer for the host ${host}. Add it to server.allowed_hosts (MICWATCH_ALLOWED_HOSTS); ` +
      'behind a proxy, also add the network of the proxy to server.trusted_proxies (MICWATCH_TRUSTED_PROXIES).',
  },
  upgrade_required: { status: 426, say: () => 'This address speaks WebSocket.' },
  rate_limited: { status: 429, say: () => 'Too many requests.' },
  head_too_large: { status: 431, say: () => 'The request head is too large.' },
  internal: { status: 500, say: () => 'Internal server error.' },
  upstream_failed: { status: 503, say: () => 'Every manufacturer system that was asked failed.' },
  store_busy: { status: 503, say: () => 'The database is busy or out of reach; try again.' },
  store_damaged: {
    status: 503,
    say: () => 'The database is damaged; nothing is stored until the service is restarted.',
  },
  sign_in_busy: { status: 503, say: () => 'Too many are signing in at the moment; try again.' },
  websocket_full: { status: 503, say: () => 'There are too many real-time connections; try again later.' },
  websocket_off: { status: 503, say: () => 'Real-time updates are switched off.' },
  stopping: { status: 503, say: () => 'The service is stopping.' },
} as const satisfies Record<string, RequestErrorKind>

export type RequestErrorCode = keyof typeof requestErrors

/** What a REST client is told when a request is refused: the specification's error body. */
export interface ErrorBody {
  readonly error: string
  readonly status: number
  readonly details?: string
  /** Of a request about several records: why each of them could not be changed. */
  readonly failed?: readonly Failure[]
}

/** One record that could not be changed. */
export interface Failure {
  readonly id: number
  readonly error: string
}

/** Where nothing says when it is worth trying again. */
export const retryAfterSeconds = 5

/** Thrown where a request cannot go on; becomes an `ErrorBody` at the door it came through. */
export class RequestError extends Error {
  override readonly name = 'Refusal'
  readonly code: RequestErrorCode
  readonly status: number
  readonly details: string | undefined
  /** Seconds; every 429 and 503 has one. */
  readonly retryAfter: number | undefined
  readonly failed: readonly Failure[] | undefined

  constructor(
    code: RequestErrorCode,
    options: {
      about?: string
      details?: string | undefined
      retryAfter?: number
      failed?: readonly Failure[]
      cause?: unknown
    } = {},
  ) {
    const kind = requestErrors[code] as { status: number; say: (about: string) => string }
    super(kind.say(options.about ?? ''), { cause: options.cause })
    this.code = code
    this.status = kind.status
    this.details = options.details
    this.failed = options.failed
    this.retryAfter = options.retryAfter ?? (kind.status === 429 || kind.status === 503 ? retryAfterSeconds : undefined)
  }
}

export function toErrorBody(refusal: RequestError): ErrorBody {
  const { message: error, status, details, failed } = refusal
  return { error, status, ...(details !== undefined && { details }), ...(failed !== undefined && { failed }) }
}
