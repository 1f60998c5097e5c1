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
  const kept = new Map<string, Kept<Answer>>()
  /** The keys of a manufacturer's answers; null has those about all. Dropping is far more frequent than asking. */
  const keys = new Map<string | null, Set<string>>()

  function remove(key: string): void {
    const entry = kept.get(key)
    if (entry === undefined) return
    kept.delete(key)
    const own = keys.get(entry.manufacturer)
    own?.delete(key)
    if (own?.size === 0) keys.delete(entry.manufacturer)
  }

  function removeAllOf(manufacturer: string | null): void {
    for (const key of keys.get(manufacturer) ?? []) kept.delete(key)
    keys.delete(manufacturer)
  }

  return {
    get(key) {
      const entry = kept.get(key)
      if (entry !== undefined && entry.until <= now()) remove(key)
      return kept.get(key)?.answer
    },
    set(key, manufacturer, answer) {
      remove(key)
      kept.set(key, { manufacturer, answer, until: now() + timeoutMs })
      const own = keys.get(manufacturer) ?? new Set()
      keys.set(manufacturer, own.add(key))
      for (const [oldest, { until }] of kept) {
        if (kept.size <= maxAnswers && until > now()) break
        remove(oldest)
      }
    },
    drop(manufacturer) {
      if (manufacturer === null) {
        kept.clear()
        keys.clear()
      } else {
        removeAllOf(manufacturer)
        removeAllOf(null)
      }
    },
  }
}

interface Kept<Answer> {
  readonly manufacturer: string | null
  readonly answer: Answer
  readonly until: number
}
