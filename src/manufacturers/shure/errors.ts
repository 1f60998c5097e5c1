import { ApiError, ApiRateLimitError } from '../../upstream/errors.ts'

export class ShureApiError extends ApiError {
  override readonly name = 'ShureApiError'
}

export class ShureApiRateLimitError extends ApiRateLimitError {
  override readonly name = 'ShureApiRateLimitError'
}
