/** A queue for work of many clients. They take turns, and each has only a share of the places and of what runs at once. */

import { type ClientKey, ClientShares } from './client-shares.ts'

/** A place in the queue. Its owner may run one thing after the other, each of which waits for its turn. */
export interface Place {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Must be called once nothing of this place is running. */
  leave(): void
}

interface Options {
  /** How much runs at once. */
  readonly atOnce: number
  /** How many places there are, for what runs and what waits. */
  readonly places: number
  /** Creates the error for a client without a place. `share` is how many places one client may have. */
  refuse(share: number): Error
}

export class FairQueue {
  readonly #atOnce: number
  readonly #atOncePerClient: number
  readonly #refuse: Options['refuse']
  readonly #places: ClientShares
  /** Work that waits, by client. The client whose turn is next comes first. */
  readonly #waiting = new Map<ClientKey, (() => void)[]>()
  readonly #runningOf = new Map<ClientKey, number>()
  #running = 0

  constructor({ atOnce, places, refuse }: Options) {
    this.#atOnce = atOnce
    this.#atOncePerClient = Math.max(1, Math.floor(atOnce / 4))
    this.#places = new ClientShares(places)
    this.#refuse = refuse
  }

  /** Takes a place. Throws if the client has its share of them, or if none is left. */
  enter(client: ClientKey): Place {
    const leave = this.#places.take(client)
    if (leave === null) throw this.#refuse(this.#places.share)
    return { run: (work) => this.#run(client, work), leave }
  }

  /** Runs one thing in a place of its own. Rejects if there is none for the client. */
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
      // The others of this client wait until all other clients had their turn.
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
