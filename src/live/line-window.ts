/** How much may be on its way to a client that confirms what it has received. */

interface Sent {
  readonly seq: number
  /** The oldest change in the message. */
  readonly firstSeq: number
  readonly bytes: number
  /** A `performance.now()` time. */
  readonly at: number
}

const maxBytes = 8 * 1024
const firstBytes = 2 * 1024
/** Enough for one record. */
const minBytes = 256
const maxMs = 1_000

export class LineWindow {
  #sent: Sent[] = []
  /** The newest message that the client has confirmed. */
  #confirmedSeq = 0
  #unconfirmedBytes = 0
  /** As many bytes as the line carries in a second, as far as that is known. */
  #limit = firstBytes
  /** Set by a confirmation that took longer than a second. Cleared once the line carries the maximum again. */
  #isSlow = false

  record(message: Omit<Sent, 'at'>, now: number): void {
    this.#sent.push({ ...message, at: now })
    this.#unconfirmedBytes += message.bytes
  }

  /** The client has received this message, and with it everything that was sent before. Returns whether it is news. */
  confirm(seq: number, now: number): boolean {
    const exact = this.#sent.findIndex((sent) => sent.seq === seq)
    const index = exact >= 0 ? exact : this.#sent.findLastIndex((sent) => sent.seq <= seq)
    const confirmed = this.#sent.splice(0, index + 1)
    const [first] = confirmed
    if (first === undefined) return false
    this.#confirmedSeq = Math.max(this.#confirmedSeq, ...confirmed.map((sent) => sent.seq))
    const bytes = confirmed.reduce((sum, sent) => sum + sent.bytes, 0)
    this.#unconfirmedBytes -= bytes
    const elapsed = now - first.at
    if (elapsed > maxMs) {
      this.#isSlow = true
      this.#limit = Math.max(minBytes, Math.min(maxBytes, (bytes * maxMs) / elapsed))
      return true
    }
    // A line that was too slow is tried with little more at a time.
    this.#limit = Math.min(maxBytes, this.#limit + (this.#isSlow ? bytes / 8 : bytes))
    if (this.#limit === maxBytes) this.#isSlow = false
    return true
  }

  isFull(now: number): boolean {
    return this.#unconfirmedBytes >= this.#limit || this.#isLate(now)
  }

  /** How many bytes of levels may be sent now; not limited on a line that is fast enough. */
  room(now: number): number {
    const isFast = !this.#isSlow && !this.#isLate(now)
    return isFast ? Number.POSITIVE_INFINITY : Math.max(0, this.#limit - this.#unconfirmedBytes)
  }

  /** The oldest unconfirmed change that was sent after a newer one; null if there is none. */
  get overtakenSeq(): number | null {
    let newest = this.#confirmedSeq
    let overtaken: number | null = null
    for (const { seq, firstSeq } of this.#sent) {
      if (firstSeq < newest) overtaken = Math.min(overtaken ?? firstSeq, firstSeq)
      newest = Math.max(newest, seq)
    }
    return overtaken
  }

  #isLate(now: number): boolean {
    const [oldest] = this.#sent
    return oldest !== undefined && now - oldest.at > maxMs
  }
}
