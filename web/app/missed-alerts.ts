/**
 * Alerts raised while this screen received nothing: the computer slept, the tab was frozen, or the connection was lost.
 * The gaps are kept in the browser, because a tablet often reloads a page when it wakes.
 */

import type { AlertBody } from '../../src/contract/alerts.ts'
import type { Api } from './api.ts'
import { serviceNow, toIso } from './service-time.ts'
import type { Topics } from './topics.ts'

/** A time in which nothing was received; `alerts` is null until they are counted. */
export interface Gap {
  readonly from: number
  readonly until: number
  readonly alerts: number | null
}

/** A `tick` arrives every second. */
const gapMs = 10_000
/** More gaps are dropped, the oldest first. */
const maxGaps = 50
/** The time between two attempts to count. */
const retryMs = 10_000
/** The time of the latest message is stored this often. */
const storeMs = 5_000
const storageKey = 'micwatch.missed-alerts'

interface Stored {
  readonly receivedAt: number
  readonly gaps: readonly Gap[]
}

export class MissedAlerts {
  readonly #api: Api
  readonly #listeners = new Set<() => void>()
  #receivedAt: number | null
  #storedAt = 0
  #gaps: readonly Gap[]
  #isCounting = false
  #retryAt = 0

  constructor(topics: Topics, api: Api) {
    this.#api = api
    const stored = readStored()
    this.#receivedAt = stored?.receivedAt ?? null
    this.#gaps = stored?.gaps ?? []
    topics.subscribe(() => this.#receive(serviceNow()))
  }

  // Bound, because components pass them to `useSyncExternalStore`.
  readonly get = (): readonly Gap[] => this.#gaps

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly dismiss = (): void => this.#set([])

  #receive(at: number): void {
    const before = this.#receivedAt
    this.#receivedAt = at
    if (before !== null && at - before >= gapMs) this.#add({ from: before, until: at, alerts: null })
    else if (at - this.#storedAt >= storeMs) this.#store()
    const isDue = !this.#isCounting && performance.now() >= this.#retryAt
    if (isDue && this.#gaps.some(({ alerts }) => alerts === null)) void this.#count()
  }

  #add(gap: Gap): void {
    this.#set([...this.#gaps, gap].slice(-maxGaps))
  }

  async #count(): Promise<void> {
    this.#isCounting = true
    for (const gap of this.#gaps.filter(({ alerts }) => alerts === null)) {
      const period = new URLSearchParams({ from: toIso(gap.from), to: toIso(gap.until), page_size: '1' })
      const response = await this.#api.read(`/api/alerts/?${period}`, 'page')
      if (!response.ok) {
        this.#retryAt = performance.now() + retryMs
        break
      }
      const counted = { ...gap, alerts: response.body.count }
      this.#set(this.#gaps.map((other) => (other === gap ? counted : other)).filter(({ alerts }) => alerts !== 0))
    }
    this.#isCounting = false
  }

  #set(gaps: readonly Gap[]): void {
    this.#gaps = gaps
    this.#store()
    for (const listener of this.#listeners) listener()
  }

  #store(): void {
    if (this.#receivedAt === null) return
    this.#storedAt = this.#receivedAt
    const stored: Stored = { receivedAt: this.#receivedAt, gaps: this.#gaps }
    try {
      sessionStorage.setItem(storageKey, JSON.stringify(stored))
    } catch {
      // Without session storage, the gaps last until the next reload.
    }
  }
}

function readStored(): Stored | null {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Stored | null
  } catch {
    return null
  }
}

/** Null if nothing was missed. */
export function summarizeMissed(gaps: readonly Gap[], openAlerts: readonly AlertBody[]) {
  const counted = gaps.filter((gap) => gap.alerts !== null)
  const [first, last] = [counted[0], counted.at(-1)]
  if (first === undefined || last === undefined) return null
  const isMissed = ({ raised_at }: AlertBody) => {
    const at = Date.parse(raised_at)
    return counted.some(({ from, until }) => at >= from && at <= until)
  }
  return {
    ...{ from: first.from, until: last.until },
    count: counted.reduce((sum, gap) => sum + (gap.alerts ?? 0), 0),
    open: openAlerts.filter(isMissed).length,
  }
}
