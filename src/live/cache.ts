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
  /** How often a manufacturer's answers were dropped; null counts for all. Dropping is far more frequent than asking. */
  const drops = new Map<string | null, number>()
  const dropsOf = (manufacturer: string | null) => drops.get(manufacturer) ?? 0
  let all = 0
  const ageOf = (manufacturer: string | null) => (manufacturer === null ? all : dropsOf(manufacturer) + dropsOf(null))
  const isGood = ({ until, age, manufacturer }: Kept<Answer>) => until > now() && age === ageOf(manufacturer)
  return {
    get(key) {
      const entry = kept.get(key)
      if (entry === undefined || isGood(entry)) return entry?.answer
      kept.delete(key)
      return undefined
    },
    set(key, manufacturer, answer) {
      kept.delete(key)
      kept.set(key, { manufacturer, answer, until: now() + timeoutMs, age: ageOf(manufacturer) })
      for (const [oldest, entry] of kept) {
        if (kept.size <= maxAnswers && isGood(entry)) break
        kept.delete(oldest)
      }
    },
    drop(manufacturer) {
      all += 1
      drops.set(manufacturer, dropsOf(manufacturer) + 1)
    },
  }
}

interface Kept<Answer> {
  readonly manufacturer: string | null
  readonly answer: Answer
  readonly until: number
  /** Of the manufacturer's answers when this one was kept. */
  readonly age: number
}
