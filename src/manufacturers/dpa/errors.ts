import { ApiError, ApiRateLimitError } from '../../upstream/errors.ts'

export class DpaApiError extends ApiError {
  override readonly name = 'DpaApiError'
}

export class DpaApiRateLimitError extends ApiRateLimitError {
  override readonly name = 'DpaApiRateLimitError'
}
