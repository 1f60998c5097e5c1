import { ApiError, ApiRateLimitError } from '../../upstream/errors.ts'

export class LectrosonicsApiError extends ApiError {
  override readonly name = 'LectrosonicsApiError'
}

export class LectrosonicsApiRateLimitError extends ApiRateLimitError {
  override readonly name = 'LectrosonicsApiRateLimitError'
}
