/** Reads a device that answers one query at a time. */

import type { RateLimit } from '../domain/access/limits.ts'
import { queryLevelsEveryMs } from '../domain/levels/level-sample.ts'
import { withTimeout } from '../platform/wait.ts'

/** The part of the rate limit that a subscription uses. The rest remains for other requests. */
const rateShare = 0.8

/** The number of queries that a subscription may send in this time. */
export function queriesIn({ perSecond }: RateLimit, ms: number): number {
  return Math.floor((perSecond * rateShare * ms) / 1000)
}

/** The time in milliseconds in which a subscription may send this many queries. */
export function timeFor({ perSecond }: RateLimit, queries: number): number {
  return (queries * 1000) / (perSecond * rateShare)
}

export interface MessageReader {
  /** Returns null if no message arrives in time, and undefined at the end of the session. */
  next(withinMs: number): Promise<string | null | undefined>
}

export function createMessageReader(batches: AsyncIterable<readonly string[]>): MessageReader {
  const messages = flatten(batches)
  /** A read that took too long; the next one continues it. */
  let pending: Promise<IteratorResult<string, undefined>> | undefined
  return {
    async next(withinMs) {
      pending ??= messages.next()
      // It may fail while nothing waits for it.
      pending.catch(() => {})
      const result = await withTimeout(pending, withinMs)
      if (result === 'late') return null
      pending = undefined
      return result.value
    },
  }
}

async function* flatten(batches: AsyncIterable<readonly string[]>): AsyncGenerator<string, undefined> {
  for await (const messages of batches) yield* messages
}

/** The time limit for an answer. */
const answerMs = 3_000
/** The time limit while queries are unanswered, so that they do not delay the others for long. */
const shortAnswerMs = 1_000

export class UnansweredQueries {
  /** Oldest query first. */
  readonly #keys = new Set<string>()
  #repeatedAt = Number.NEGATIVE_INFINITY
  #isReversed = false

  get waitMs(): number {
    return this.#keys.size === 0 ? answerMs : shortAnswerMs
  }

  /**
   * Returns the queries of a round, which ends with the first unanswered query: those that were answered, and one of
   * the others every `queryLevelsEveryMs`. The next round begins at the other end of the list, because a device that is
   * silent about its levels may answer everything else.
   */
  select<Query>(queries: readonly Query[], keyOf: (query: Query) => string): readonly Query[] {
    const now = performance.now()
    const keys = new Set(queries.map(keyOf))
    const isDue = now - this.#repeatedAt >= queryLevelsEveryMs
    const repeated = isDue ? [...this.#keys].find((key) => keys.has(key)) : undefined
    if (repeated !== undefined) this.#repeatedAt = now
    const selected = queries.filter((query) => keyOf(query) === repeated || !this.#keys.has(keyOf(query)))
    return this.#isReversed ? selected.toReversed() : selected
  }

  record(key: string, isAnswered: boolean): void {
    const wasUnanswered = this.#keys.delete(key)
    // The others may be answered again as well.
    if (isAnswered && wasUnanswered) this.#keys.clear()
    if (isAnswered) return
    if (!wasUnanswered) this.#repeatedAt = performance.now()
    this.#keys.add(key)
    this.#isReversed = !this.#isReversed
  }
}
