/** Announces changes of carriers to connected clients, at most once a second. */

export interface FrequencyAnnouncementsDeps {
  /** Describes what the carriers and their conflicts depend on, except for the receivers. */
  describeLists(): string
  announce(): void
}

const intervalMs = 1000

export class FrequencyAnnouncements {
  readonly #deps: FrequencyAnnouncementsDeps
  #lists: string | null = null
  #announcedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(deps: FrequencyAnnouncementsDeps) {
    this.#deps = deps
  }

  carriersChanged(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    const waitMs = Math.max(0, this.#announcedAt + intervalMs - performance.now())
    this.#timer = setTimeout(() => this.#announce(), waitMs)
    this.#timer.unref()
  }

  listsChanged(): void {
    const lists = this.#deps.describeLists()
    if (lists === this.#lists) return
    this.#lists = lists
    this.carriersChanged()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #announce(): void {
    this.#timer = undefined
    this.#announcedAt = performance.now()
    this.#deps.announce()
  }
}
