/** What can go wrong with a manufacturer's system. Each manufacturer has subclasses of both. */

/** The answer behind an error, as far as there was one. */
export interface UpstreamResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of a body that could not be used, escaped; for a log, never for a page. */
  readonly excerpt?: string
}

export interface ApiErrorDetails {
  /** HTTP status; null when no answer came. */
  readonly status?: number | null
  readonly response?: UpstreamResponse | null
  /** Seconds to wait, as the upstream asked. */
  readonly retryAfter?: number | null
  /** Where no HTTP status tells. */
  readonly answer?: UpstreamAnswer
  readonly cause?: unknown
}

/** Whether anything answered: nothing, something else than expected, or a device that is not supported. */
export type UpstreamAnswer = 'none' | 'unusable' | 'unsupported'

/** A call to a manufacturer's system failed. The message is a sentence for the person who can mend it. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number | null
  readonly response: UpstreamResponse | null
  readonly retryAfter: number | null
  readonly answer: UpstreamAnswer

  constructor(message: string, details: ApiErrorDetails = {}) {
    // It may quote what a device said.
    super(message.replace(/\p{Cc}+/gu, ' '), { cause: details.cause })
    this.status = details.status ?? null
    this.response = details.response ?? null
    this.retryAfter = details.retryAfter ?? null
    this.answer = details.answer ?? (this.status === null ? 'none' : 'unusable')
  }
}

/** HTTP 429, or a hold that one began. */
export class ApiRateLimitError extends ApiError {
  override readonly name: string = 'ApiRateLimitError'
}

/** The two error classes of one manufacturer. */
export interface ErrorClasses {
  readonly ApiError: new (message: string, details?: ApiErrorDetails) => ApiError
  readonly ApiRateLimitError: new (message: string, details?: ApiErrorDetails) => ApiRateLimitError
}
