/** Tracks queries that a device leaves unanswered although it answers others. */

import { queryLevelsEveryMs } from '../domain/levels/level-sample.ts'

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
