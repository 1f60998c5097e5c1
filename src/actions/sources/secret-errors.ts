/** Converts the error about a secret that must be entered. */

import { MaskError } from '../../domain/access/secrets.ts'
import { RequestError } from '../../domain/errors.ts'

/** Runs `work`. A `MaskError` becomes a RequestError whose details begin with the path and the key. */
export function withSecretErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof MaskError) throw new RequestError('bad_request', { details: path + error.message })
    throw error
  }
}
