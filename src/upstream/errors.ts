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

export interface ErrorClasses {
  readonly ApiError: new (message: string, details?: ApiErrorDetails) => ApiError
  readonly ApiRateLimitError: new (message: string, details?: ApiErrorDetails) => ApiRateLimitError
}
