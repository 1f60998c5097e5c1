/** Sends what somebody shows to be let in. A wrong password is a wrong answer there, and no session that has ended. */

import { type Answer, type Api, isObject } from '../api.ts'

export async function enter<Body extends object>(
  api: Pick<Api, 'write'>,
  path: string,
  shown: object,
): Promise<Answer<Body>> {
  const answer = await api.write('POST', path, shown, isObject<Body>)
  if (answer.ok || answer.problem.kind === 'unreachable') return answer
  return { ok: false, problem: { ...answer.problem, kind: 'refused' } }
}
