/** Errors of upstream systems. Each manufacturer has its own subclasses of `ApiError` and `ApiRateLimitError`. */

/** The response that caused an error. */
export interface ErrorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of an unusable body, escaped. For logs only, never for pages. */
  readonly excerpt?: string
}

export interface ApiErrorDetails {
  /** Null without a response. */
  readonly status?: number | null
  readonly response?: ErrorResponse | null
  /** Seconds, from the upstream's Retry-After header. */
  readonly retryAfter?: number | null
  /** For an error without an HTTP status. */
  readonly failureKind?: FailureKind
  readonly cause?: unknown
}

/** The response: none, an unexpected one, or that of an unsupported device. */
export type FailureKind = 'none' | 'unusable' | 'unsupported'

/** A failed call to a manufacturer's system. The message is written for the administrator who can fix it. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number | null
  readonly response: ErrorResponse | null
  readonly retryAfter: number | null
  readonly failureKind: FailureKind

  constructor(message: string, details: ApiErrorDetails = {}) {
    // The message may quote device data, which may contain control characters.
    super(message.replace(/\p{Cc}+/gu, ' '), { cause: details.cause })
    this.status = details.status ?? null
    this.response = details.response ?? null
    this.retryAfter = details.retryAfter ?? null
    this.failureKind = details.failureKind ?? (this.status === null ? 'none' : 'unusable')
  }
}

/** An HTTP 429 response, or a request that was not sent during a Retry-After period. */
export class ApiRateLimitError extends ApiError {
  override readonly name: string = 'ApiRateLimitError'
}

/** Creates the errors of a manufacturer; `prefix` distinguishes their names in logs. */
export function createErrors(prefix: string) {
  return {
    ApiError: class extends ApiError {
      override readonly name = `${prefix}ApiError`
    },
    ApiRateLimitError: class extends ApiRateLimitError {
      override readonly name = `${prefix}ApiRateLimitError`
    },
  }
}

export interface ErrorClasses {
  readonly ApiError: new (message: string, details?: ApiErrorDetails) => ApiError
  readonly ApiRateLimitError: new (message: string, details?: ApiErrorDetails) => ApiRateLimitError
}

export function describeNoResponse(host: string, timeoutMs: number): string {
  return `no response from ${host} within ${timeoutMs / 1000} s`
}

/**
 * Describes why a request received no complete response. The code of `error` is `DEADLINE` on a timeout.
 * `refusedAdvice` names the device setting that causes refused connections.
 */
export function describeConnectionError(
  error: unknown,
  host: string,
  timeoutMs: number,
  refusedAdvice?: string,
): string {
  const code = codeOf(error)
  if (isCertificateCode(code)) {
    return `certificate of ${host} not accepted (${code}); install a trusted certificate, or set ssl_verify: false for this manufacturer`
  }
  switch (code) {
    case 'WRONG_CERTIFICATE':
      return `${host} presented a different certificate than the pinned one (fingerprint: ${messageOf(error)}); if the new certificate is correct, enter its fingerprint`
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${host} does not use TLS; try http:// instead of https://, or another port`
    case 'DEADLINE':
    case 'UND_ERR_HEADERS_TIMEOUT':
      return describeNoResponse(host, timeoutMs)
    case 'SILENT':
    case 'UND_ERR_BODY_TIMEOUT':
      return `${host} stopped sending data; the connection was closed`
    case 'ECONNREFUSED':
      return `connection refused by ${host}; ${refusedAdvice === undefined ? '' : `${refusedAdvice}; `}check that the system is running and the address is correct`
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${host} cannot be reached; check the network and the address`
    case 'EADDRINUSE':
      return `the local port to which ${host} replies is in use by another program on this machine`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name of ${host} does not resolve; check the address and the name server`
    case 'BLOCKED_DESTINATION':
      return `nothing is sent to ${host}: it is not an allowed address of a manufacturer's system`
    case 'BODY_TOO_LARGE':
    case 'UND_ERR_HEADERS_OVERFLOW':
      return `invalid response from ${host}: larger than Micwatch accepts`
    case 'BAD_ENCODING':
    case 'Z_DATA_ERROR':
    case 'Z_BUF_ERROR':
      return `invalid response from ${host}: it cannot be decoded`
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
    case 'EPIPE':
      return `invalid response from ${host}: the connection was closed before the response was complete`
    default:
      return `the connection to ${host} failed (${code})`
  }
}

/** Describes a connection error of a service that is not audio hardware; null if the description does not differ. */
export function describeServiceError(code: string, host: string): string | null {
  if (code === 'BLOCKED_DESTINATION') return `nothing is sent to ${host}, because the address is not allowed`
  return isCertificateCode(code) ? `the certificate of ${host} was not accepted (${code})` : null
}

/** Describes a response with an error status. Omits figures that change between attempts. */
export function describeStatus(status: number, host: string): string {
  if (status === 401) return `credentials rejected by ${host}; check the key or password of this manufacturer`
  if (status === 403) return `API access is disabled on the device or system ${host}; enable third-party access there`
  if (status === 429) return `${host} is rate limited`
  if (status >= 300 && status < 400) return `unexpected redirect from ${host}; check the address of this manufacturer`
  return `${host} responded with status ${status}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the code of a network error, or the name of another error. */
export function codeOf(error: unknown): string {
  for (let current = error; current instanceof Object; current = (current as { cause?: unknown }).cause) {
    const { code } = current as { code?: unknown }
    if (typeof code === 'string') return code
    // Several IP addresses were tried; the first error is sufficient.
    if (current instanceof AggregateError && current.errors.length > 0) return codeOf(current.errors[0])
  }
  return error instanceof Error ? error.name : 'unknown'
}

/**
 * True if this process rejected the peer's certificate. The peer itself sends `ERR_SSL_…_ALERT_…` errors, and
 * `WRONG_CERTIFICATE` has a separate message.
 */
export function isCertificateCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code) && !/^WRONG_CERTIFICATE$|_ALERT_/.test(code)
}
