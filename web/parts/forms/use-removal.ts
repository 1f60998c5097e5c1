import { useRef } from 'react'
import type { ApiResponse } from '../../app/api.ts'
import { t } from '../../app/i18n.ts'

/** If another user has just changed the record, the first attempt fails, and the second removes it. */
export function useRemoval<Removed, Body>(
  record: Removed,
  remove: (seen: Removed) => Promise<ApiResponse<Body>>,
): () => Promise<ApiResponse<Body>> {
  const seen = useRef(record)
  return async () => {
    const response = await remove(seen.current)
    if (response.ok || response.problem.status !== 412) return response
    seen.current = response.problem.current as Removed
    return { ok: false, problem: { ...response.problem, detail: t('parts.form.conflict.removal') } }
  }
}
