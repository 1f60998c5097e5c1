/** Announces changes of carriers to connected clients, at most once a second. */

export interface FrequencyAnnouncementsDeps {
  /** Describes what clients see of carriers and their conflicts, except for levels. */
  describe(): Promise<string>
  announce(): void
}

const intervalMs = 1000

export class FrequencyAnnouncements {
  readonly #deps: FrequencyAnnouncementsDeps
  #announced: string | null = null
  #announcedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isDescribing = false
  #isClosed = false

  constructor(deps: FrequencyAnnouncementsDeps) {
    this.#deps = deps
  }

  /** Carriers may have changed. */
  changed(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    const waitMs = Math.max(0, this.#announcedAt + intervalMs - performance.now())
    this.#timer = setTimeout(() => void this.#announce(), waitMs)
    this.#timer.unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #announce(): Promise<void> {
    this.#timer = undefined
    this.#announcedAt = performance.now()
    if (this.#isDescribing) {
      this.changed()
      return
    }
    this.#isDescribing = true
    const described = await this.#deps.describe().finally(() => {
      this.#isDescribing = false
    })
    if (this.#isClosed || described === this.#announced) return
    this.#announced = described
    this.#deps.announce()
  }
}
