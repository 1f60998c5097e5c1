/** Answers kept for a while, by manufacturer: dropped by what changes them, and after a time by themselves. */

export interface Cache<Answer> {
  get(key: string): Answer | undefined
  /** `manufacturer: null` for an answer about all of them. */
  set(key: string, manufacturer: string | null, answer: Answer): void
  /** Drops the answers about this manufacturer and those about all; null drops everything. */
  drop(manufacturer: string | null): void
}

/** Anybody may ask for any page of anything, so only so many answers are kept: the oldest go first. */
const maxAnswers = 1000

export function createCache<Answer>(options: { timeoutMs: number; now?: () => number }): Cache<Answer> {
  const { timeoutMs, now = () => performance.now() } = options
  const kept = new Map<
    string,
    { readonly manufacturer: string | null; readonly answer: Answer; readonly until: number }
  >()
  return {
    get(key) {
      const entry = kept.get(key)
      if (entry === undefined || entry.until > now()) return entry?.answer
      kept.delete(key)
      return undefined
    },
    set(key, manufacturer, answer) {
      kept.set(key, { manufacturer, answer, until: now() + timeoutMs })
      for (const oldest of kept.keys()) {
        if (kept.size <= maxAnswers) break
        kept.delete(oldest)
      }
    },
    drop(manufacturer) {
      if (manufacturer === null) return kept.clear()
      for (const [key, entry] of kept) {
        if (entry.manufacturer === null || entry.manufacturer === manufacturer) kept.delete(key)
      }
    },
  }
}
