import { ApiError, ApiRateLimitError } from '../../upstream/errors.ts'

export class AudioTechnicaApiError extends ApiError {
  override readonly name = 'AudioTechnicaApiError'
}

export class AudioTechnicaApiRateLimitError extends ApiRateLimitError {
  override readonly name = 'AudioTechnicaApiRateLimitError'
}
