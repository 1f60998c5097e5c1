import type { ApiResponse, Problem } from '../../app/api.ts'

export interface BulkResult {
  readonly done: readonly number[]
  readonly failed: readonly { readonly id: number; readonly error: string }[]
}

/** If all requests fail, returns the first error. Otherwise lists the failures, each with `nameOf(id)`. */
export async function runForEach(
  ids: readonly number[],
  nameOf: (id: number) => string,
  call: (id: number) => Promise<ApiResponse<unknown>>,
): Promise<ApiResponse<BulkResult>> {
  const done: number[] = []
  const problems: { readonly id: number; readonly problem: Problem }[] = []
  for (const id of ids) {
    const response = await call(id)
    if (response.ok) done.push(id)
    else problems.push({ id, problem: response.problem })
  }
  const [first] = problems
  if (done.length === 0 && first !== undefined) return { ok: false, problem: first.problem }
  const failed = problems.map(({ id, problem }) => ({ id, error: `${nameOf(id)}: ${problem.detail}` }))
  return { ok: true, body: { done, failed } }
}
