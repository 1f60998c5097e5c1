/** Caches API responses by manufacturer until they change or expire. */

/** The part of the cache that code which changes data needs. */
export interface CachedResponses {
  /** Drops the responses about this manufacturer, and those about all manufacturers. Null drops everything. */
  drop(manufacturer: string | null): void
}

export interface Cache<Value> extends CachedResponses {
  get(key: string): Value | undefined
  /** `manufacturer` is null for a response about all manufacturers. */
  set(key: string, manufacturer: string | null, response: Value): void
}

/** Limits the memory that clients can use by requesting many different pages. The oldest responses are dropped. */
const maxResponses = 1000

/** `timeoutMs` returns how long to keep a response that is stored now. */
export function createCache<Value>(options: { timeoutMs(): number; now?: () => number }): Cache<Value> {
  const { timeoutMs, now = () => performance.now() } = options
  const entries = new Map<string, CacheEntry<Value>>()
  /** Keys by manufacturer, so that `drop` is fast; it is called far more often than `get`. */
  const keys = new Map<string | null, Set<string>>()

  function remove(key: string): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    const manufacturerKeys = keys.get(entry.manufacturer)
    manufacturerKeys?.delete(key)
    if (manufacturerKeys?.size === 0) keys.delete(entry.manufacturer)
  }

  function removeAllOf(manufacturer: string | null): void {
    for (const key of keys.get(manufacturer) ?? []) entries.delete(key)
    keys.delete(manufacturer)
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry !== undefined && entry.expiresAt <= now()) remove(key)
      return entries.get(key)?.response
    },
    set(key, manufacturer, response) {
      remove(key)
      entries.set(key, { manufacturer, response, expiresAt: now() + timeoutMs() })
      const manufacturerKeys = keys.get(manufacturer) ?? new Set()
      keys.set(manufacturer, manufacturerKeys.add(key))
      for (const [oldest, { expiresAt }] of entries) {
        if (entries.size <= maxResponses && expiresAt > now()) break
        remove(oldest)
      }
    },
    drop(manufacturer) {
      if (manufacturer === null) {
        entries.clear()
        keys.clear()
      } else {
        removeAllOf(manufacturer)
        removeAllOf(null)
      }
    },
  }
}

interface CacheEntry<Value> {
  readonly manufacturer: string | null
  readonly response: Value
  readonly expiresAt: number
}

/** A map of limited size. Removes the least recently used entry first. */
export class LruMap<Key, Value> {
  // A Map iterates in insertion order, and every use moves an entry to the end.
  readonly #entries = new Map<Key, Value>()
  readonly #maxSize: number
  readonly #sizeOf: (value: Value) => number
  #size = 0

  /** `maxSize` is a number of entries unless `sizeOf` is given. */
  constructor(maxSize: number, sizeOf: (value: Value) => number = () => 1) {
    this.#maxSize = maxSize
    this.#sizeOf = sizeOf
  }

  /** Counts as a use of the value. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#size += this.#sizeOf(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) return
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#size -= this.#sizeOf(value)
  }
}
