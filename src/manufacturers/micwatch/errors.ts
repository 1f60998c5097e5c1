import { ApiError, ApiRateLimitError } from '../../upstream/errors.ts'

export class MicwatchApiError extends ApiError {
  override readonly name = 'MicwatchApiError'
}

export class MicwatchApiRateLimitError extends ApiRateLimitError {
  override readonly name = 'MicwatchApiRateLimitError'
}
