/** Selects the messages to send to a console: changed values, and periodic repetitions. */

import type { OscMessage } from './packet.ts'

export class SentValues {
  readonly #sent = new Map<string, OscMessage['args'][number] | undefined>()
  readonly #ticksPerRefresh: number
  #tick = 0

  /** Every message is repeated after this number of ticks. */
  constructor(ticksPerRefresh: number) {
    this.#ticksPerRefresh = ticksPerRefresh
  }

  /** Returns the messages for this tick; each has one argument. The repetitions are spread over the ticks. */
  next(current: readonly OscMessage[]): OscMessage[] {
    this.#tick = (this.#tick + 1) % this.#ticksPerRefresh
    const due = current.filter(({ address, args: [value] }, index) => {
      const isChanged = this.#sent.get(address) !== value
      this.#sent.set(address, value)
      return isChanged || index % this.#ticksPerRefresh === this.#tick
    })
    if (this.#sent.size > current.length) this.#forgetOthers(current)
    return due
  }

  #forgetOthers(current: readonly OscMessage[]): void {
    const addresses = new Set(current.map(({ address }) => address))
    for (const address of this.#sent.keys()) if (!addresses.has(address)) this.#sent.delete(address)
  }
}
