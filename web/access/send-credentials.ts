/** Sends credentials. A 401 response means wrong credentials here, not an expired session. */

import { type Api, type ApiResponse, isObject } from '../api.ts'

export async function sendCredentials<Body extends object>(
  api: Pick<Api, 'write'>,
  path: string,
  shown: object,
): Promise<ApiResponse<Body>> {
  const response = await api.write('POST', path, shown, isObject<Body>)
  if (response.ok || response.problem.kind === 'unreachable') return response
  return { ok: false, problem: { ...response.problem, kind: 'refused' } }
}
