/** Limits concurrency; with a limit of one, it is a mutex. Callers acquire it in order of arrival. */
export class Semaphore {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(limit: number) {
    this.#free = limit
  }

  /** Rejects with the signal's reason on abort. */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const cleanUp = () => {
        this.#waiting.delete(acquire)
        signal?.removeEventListener('abort', abort)
      }
      const acquire = () => {
        cleanUp()
        resolve()
      }
      const abort = () => {
        cleanUp()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.add(acquire)
    })
  }

  release(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free += 1
    else next()
  }

  /** Runs `work` while holding the semaphore. A failure does not affect waiting callers. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire()
    try {
      return await work()
    } finally {
      this.release()
    }
  }
}

/** Null is the service itself, which is not limited. */
export type ClientKey = string | null

/** Further calls have no effect. */
export type Release = () => void

export class ClientShares {
  /** The concurrent limit per client. */
  readonly share: number
  readonly #total: number
  #taken = 0
  readonly #byClient = new Map<string, number>()

  /** The share of each client is a quarter of `total`, or `atLeast` if that is more. */
  constructor(total: number, atLeast = 1) {
    this.#total = total
    this.share = Math.max(atLeast, Math.floor(total / 4))
  }

  /** Returns null if the client has its share, or if nothing is left. */
  take(client: ClientKey): Release | null {
    if (client === null) return () => {}
    const count = this.#byClient.get(client) ?? 0
    if (count >= this.share || this.#taken >= this.#total) return null
    this.#taken += 1
    this.#byClient.set(client, count + 1)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#taken -= 1
      const left = (this.#byClient.get(client) ?? 1) - 1
      if (left === 0) this.#byClient.delete(client)
      else this.#byClient.set(client, left)
    }
  }
}

// A queue for the work of many clients. They take turns, and each may use only a share of the places and of the
// concurrency.

/** A place in the queue. Its owner may run operations one after another; each waits for its turn. */
export interface Place {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Call it once none of its operations is running. */
  leave(): void
}

interface Options {
  /** The maximum concurrency. */
  readonly atOnce: number
  /** The maximum number of running and waiting operations. */
  readonly places: number
  /** Creates the error for a client without a place. `share` is the number of places that one client may have. */
  refuse(share: number): Error
}

export class FairQueue {
  readonly #atOnce: number
  readonly #atOncePerClient: number
  readonly #refuse: Options['refuse']
  readonly #places: ClientShares
  /** Waiting work, by client. The client whose turn is next comes first. */
  readonly #waiting = new Map<ClientKey, (() => void)[]>()
  readonly #runningOf = new Map<ClientKey, number>()
  #running = 0

  constructor({ atOnce, places, refuse }: Options) {
    this.#atOnce = atOnce
    this.#atOncePerClient = Math.max(1, Math.floor(atOnce / 4))
    this.#places = new ClientShares(places)
    this.#refuse = refuse
  }

  /** Throws if the client has used its share, or if no place is left. */
  enter(client: ClientKey): Place {
    const leave = this.#places.take(client)
    if (leave === null) throw this.#refuse(this.#places.share)
    return { run: (work) => this.#run(client, work), leave }
  }

  /** Runs one operation in a place of its own. Rejects if the client cannot get a place. */
  async run<T>(client: ClientKey, work: () => Promise<T>): Promise<T> {
    const place = this.enter(client)
    try {
      return await place.run(work)
    } finally {
      place.leave()
    }
  }

  async #run<T>(client: ClientKey, work: () => Promise<T>): Promise<T> {
    await this.#turn(client)
    try {
      return await work()
    } finally {
      this.#running -= 1
      this.#count(client, -1)
      this.#startNext()
    }
  }

  #turn(client: ClientKey): Promise<void> {
    return new Promise((start) => {
      const before = this.#waiting.get(client)
      if (before === undefined) this.#waiting.set(client, [start])
      else before.push(start)
      this.#startNext()
    })
  }

  #startNext(): void {
    while (this.#running < this.#atOnce) {
      const next = [...this.#waiting].find(([client]) => (this.#runningOf.get(client) ?? 0) < this.#atOncePerClient)
      if (next === undefined) return
      const [client, [start, ...others]] = next
      // The other operations of this client wait until all other clients have had their turn.
      this.#waiting.delete(client)
      if (others.length > 0) this.#waiting.set(client, others)
      this.#running += 1
      this.#count(client, 1)
      start?.()
    }
  }

  #count(client: ClientKey, change: 1 | -1): void {
    const count = (this.#runningOf.get(client) ?? 0) + change
    if (count === 0) this.#runningOf.delete(client)
    else this.#runningOf.set(client, count)
  }
}
