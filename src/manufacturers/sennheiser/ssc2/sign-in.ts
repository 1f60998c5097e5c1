/**
 * Signs in to SSC 2 devices. The user name depends on the product. A device locks out clients that send wrong
 * credentials, so a rejection ends all requests. Sources: Sennheiser's SSC 2 specification for EW-DX; for Spectera,
 * public clients, all of which use the same user name.
 */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { ApiError } from '../../../upstream/errors.ts'

export function isSpectera(product: string): boolean {
  return /spectera/i.test(product)
}

/** The user name of systems and of all products except Spectera. */
export const defaultUser = 'api'
const specteraUser = 'controlSennheiser'

function userOf({ settings }: UpstreamClient, product: string): string {
  return settings.username ?? (isSpectera(product) ? specteraUser : defaultUser)
}

/**
 * Makes the first request that requires the password. After rejected credentials, no further requests are sent: on a
 * Spectera after one retry, on any other product immediately.
 */
export async function signIn<Result>(
  client: UpstreamClient,
  product: string,
  request: () => Promise<Result>,
): Promise<Result> {
  client.authorizer.signInAs?.(userOf(client, product))
  try {
    return await request()
  } catch (error) {
    if (!isRejection(error, product)) throw error
    if (!isSpectera(product)) throw block(client, product, error)
    return await request().catch((again) => {
      throw isRejection(again, product) ? block(client, product, again) : again
    })
  }
}

/**
 * Blocks further requests if a request for a system shows that the device has rejected the user name that it requires.
 */
export function blockIfRejected(client: UpstreamClient, product: string, error: ApiError): void {
  if (error.status === 401 && userOf(client, product) === defaultUser) throw block(client, product, error)
}

/**
 * A Spectera also responds with 403. On other products, 403 means that third-party access is off, which is not a
 * lockout.
 */
function isRejection(error: unknown, product: string): error is ApiError {
  return error instanceof ApiError && (error.status === 401 || (error.status === 403 && isSpectera(product)))
}

/** Returns the error to throw for this and every further request. */
function block(client: UpstreamClient, product: string, error: ApiError): ApiError {
  if (client.blockReason !== null) return client.blockReason
  const { host } = new URL(client.settings.baseUrl)
  const mayRetryInTest = isSpectera(product)
  const until = mayRetryInTest ? 'they are changed or the connection is tested' : 'they are changed'
  const message = `credentials rejected by ${host} for the user ${userOf(client, product)}; check the key or password and the username of this manufacturer; no requests are sent until ${until}, because the device locks access after a few wrong passwords`
  const reason = new client.errors.ApiError(message, { status: error.status, response: error.response, cause: error })
  client.block(reason, { mayRetryInTest })
  return reason
}
