import { ApiError, ApiRateLimitError } from '../../upstream/errors.ts'

export class IngestApiError extends ApiError {
  override readonly name = 'IngestApiError'
}

export class IngestApiRateLimitError extends ApiRateLimitError {
  override readonly name = 'IngestApiRateLimitError'
}
