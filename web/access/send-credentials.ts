/** Sends credentials. A 401 response means wrong credentials here, not an expired session. */

import type { Api, ApiResponse } from '../app/api.ts'
import type { Address, Received, Sent } from '../app/operations.ts'

export async function sendCredentials<const A extends Address<'POST'>>(
  api: Pick<Api, 'write'>,
  address: A,
  credentials: Sent<'POST', A>,
): Promise<ApiResponse<Received<'POST', A, 'object'>>> {
  const response = await api.write('POST', address, credentials, 'object')
  if (response.ok || response.problem.kind === 'unreachable') return response
  return { ok: false, problem: { ...response.problem, kind: 'refused' } }
}
