/** A deed about several for which the interface has one call each. */

import type { Answer, Problem } from './api.ts'

export interface Tally {
  readonly done: readonly number[]
  readonly failed: readonly { readonly id: number; readonly error: string }[]
}

/** One after another; a refusal of all of them is a problem of the deed. `nameOf`: begins the sentence about a failure. */
export async function oneByOne(
  ids: readonly number[],
  nameOf: (id: number) => string,
  call: (id: number) => Promise<Answer<unknown>>,
): Promise<Answer<Tally>> {
  const done: number[] = []
  const problems: { readonly id: number; readonly problem: Problem }[] = []
  for (const id of ids) {
    const answer = await call(id)
    if (answer.ok) done.push(id)
    else problems.push({ id, problem: answer.problem })
  }
  const [first] = problems
  if (done.length === 0 && first !== undefined) return { ok: false, problem: first.problem }
  const failed = problems.map(({ id, problem }) => ({ id, error: `${nameOf(id)}: ${problem.detail}` }))
  return { ok: true, body: { done, failed } }
}
