/** Announces changes to carriers to connected clients, at most once a second. */

import type { FrequencyConflicts } from '../alerts/frequency-conflicts.ts'
import type { LiveFrequencies } from '../frequencies/live-frequencies.ts'
import type { LivePublisher } from './live-publisher.ts'

const intervalMs = 1000

export class FrequencyAnnouncements {
  readonly #frequencies: LiveFrequencies
  readonly #live: LivePublisher
  #lists: string | null = null
  #announcedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(frequencies: LiveFrequencies, conflicts: FrequencyConflicts, live: LivePublisher) {
    this.#frequencies = frequencies
    this.#live = live
    conflicts.carriersChanged.subscribe(() => this.#announceSoon())
  }

  listsChanged(): void {
    const lists = this.#frequencies.describeLists()
    if (lists === this.#lists) return
    this.#lists = lists
    this.#announceSoon()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #announceSoon(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    const waitMs = Math.max(0, this.#announcedAt + intervalMs - performance.now())
    this.#timer = setTimeout(() => this.#announce(), waitMs)
    this.#timer.unref()
  }

  #announce(): void {
    this.#timer = undefined
    this.#announcedAt = performance.now()
    this.#live.frequenciesChanged()
  }
}
