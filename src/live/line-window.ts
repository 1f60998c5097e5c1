/** Limits unconfirmed data to the bytes that the line carries in a second. */

interface Sent {
  readonly seq: number
  /** The oldest change in the message. */
  readonly firstSeq: number
  readonly bytes: number
  readonly at: number
}

const maxBytes = 8 * 1024
const firstBytes = 2 * 1024
/** Enough for one record. */
const minBytes = 256
const maxMs = 1_000

export class LineWindow {
  #sent: Sent[] = []
  #confirmedSeq = 0
  #unconfirmedBytes = 0
  /** Estimate of bytes per second. */
  #limit = firstBytes
  /** Set when a confirmation takes longer than a second, until the limit is at its maximum again. */
  #isSlow = false

  record(message: Omit<Sent, 'at'>, now: number): void {
    this.#sent.push({ ...message, at: now })
    this.#unconfirmedBytes += message.bytes
  }

  /** The client has received this message and all earlier ones. Returns false if that was known. */
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
    // The limit of a slow line grows slowly.
    this.#limit = Math.min(maxBytes, this.#limit + (this.#isSlow ? bytes / 8 : bytes))
    if (this.#limit === maxBytes) this.#isSlow = false
    return true
  }

  isFull(now: number): boolean {
    return this.#unconfirmedBytes >= this.#limit || this.#isLate(now)
  }

  /** Bytes of levels that may be sent now. */
  room(now: number): number {
    const isFast = !this.#isSlow && !this.#isLate(now)
    return isFast ? Number.POSITIVE_INFINITY : Math.max(0, this.#limit - this.#unconfirmedBytes)
  }

  /** The oldest unconfirmed change that was sent after a newer one. */
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
