/** The log level of this process, which an administrator may change for a while. */

import type { FastifyBaseLogger } from 'fastify'
import { now } from '../platform/clock.ts'

const minuteMs = 60_000

export class LogLevel {
  readonly #log: FastifyBaseLogger
  #configured: string
  #until: number | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(log: FastifyBaseLogger) {
    this.#log = log
    this.#configured = log.level
  }

  body(): { readonly level: string; readonly until: string | null } {
    return { level: this.#log.level, until: this.#until === null ? null : new Date(this.#until).toISOString() }
  }

  change(level: string, minutes: number): void {
    clearTimeout(this.#timer)
    this.#log.level = level
    this.#until = now() + minutes * minuteMs
    this.#timer = setTimeout(() => this.#restore(), minutes * minuteMs)
    this.#timer.unref()
  }

  /** Applies the level of a changed configuration; one that an administrator has chosen ends. */
  configure(level: string): void {
    this.#configured = level
    this.#restore()
  }

  #restore(): void {
    clearTimeout(this.#timer)
    this.#until = null
    this.#log.level = this.#configured
  }
}
