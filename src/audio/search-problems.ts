/** The last problems of a search for streams. Their number is limited, because anyone on the network can cause them. */

import { now } from '../platform/clock.ts'
import type { SearchProblem } from './worker-messages.ts'

const maxProblems = 20
const maxErrorLength = 300

export class SearchProblems {
  /** The oldest first. */
  readonly #problems = new Map<string, SearchProblem>()

  add(address: string, error: string): void {
    const text = error.slice(0, maxErrorLength)
    const key = `${address} ${text}`
    const count = (this.#problems.get(key)?.count ?? 0) + 1
    this.#problems.delete(key)
    this.#problems.set(key, { address, error: text, count, at: now() })
    const [oldest = ''] = this.#problems.keys()
    if (this.#problems.size > maxProblems) this.#problems.delete(oldest)
  }

  /** The latest first. */
  list(): SearchProblem[] {
    return [...this.#problems.values()].reverse()
  }
}
