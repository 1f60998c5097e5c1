import { ApiError, ApiRateLimitError } from '../../upstream/errors.ts'

export class SennheiserApiError extends ApiError {
  override readonly name = 'SennheiserApiError'
}

export class SennheiserApiRateLimitError extends ApiRateLimitError {
  override readonly name = 'SennheiserApiRateLimitError'
}
