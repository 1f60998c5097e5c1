import { focusManager, QueryClient } from '@tanstack/react-query'
import type { Problem } from './api.ts'
import type { Topic, Topics } from './topics.ts'

export class RefusedRequest extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

const reloadDelayMs = 300
const reloadIntervalMs = 1_000

export function createQueryClient(topics: Topics, signal: AbortSignal): QueryClient {
  focusManager.setEventListener((onReturn) => {
    const returned = () => onReturn()
    document.addEventListener('visibilitychange', returned, { signal })
    window.addEventListener('focus', returned, { signal })
    return () => {}
  })
  const client = new QueryClient({
    // A failed request is repeated after the next message, when the user returns, or on request.
    defaultOptions: { queries: { retry: false, networkMode: 'always' }, mutations: { networkMode: 'always' } },
  })
  const changed = new Set<Topic>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let reloadedAt = Number.NEGATIVE_INFINITY

  const unsubscribe = topics.subscribe((topic) => {
    changed.add(topic)
    timer ??= setTimeout(invalidate, Math.max(reloadDelayMs, reloadedAt + reloadIntervalMs - performance.now()))
  })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    unsubscribe()
  })
  return client

  function invalidate() {
    timer = undefined
    reloadedAt = performance.now()
    const published = [...changed]
    changed.clear()
    // The lists of a hidden page are read when it becomes visible.
    const refetchType = document.hidden ? 'none' : 'active'
    void client.invalidateQueries({ predicate: ({ meta }) => isAffected(meta, published), refetchType })
  }
}

/** A new connection affects every query. */
function isAffected(meta: Record<string, unknown> | undefined, published: readonly Topic[]): boolean {
  const topics = Array.isArray(meta?.topics) ? meta.topics : []
  if (topics.length === 0) return false
  return published.some((topic) => topic === 'snapshot' || topic === 'resumed' || topics.includes(topic))
}
