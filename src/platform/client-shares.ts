/** Divides a shared resource, such as connections, among clients, so that none takes more than its share. */

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
