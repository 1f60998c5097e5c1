/**
 * Reads the levels since the checks of channels began. Levels of the past are cached, so that frequent requests for
 * many channels read only the last seconds.
 */

import { refuseHistoryRead } from '../domain/history/level-history.ts'
import { addSeconds, noWalkLevels, type WalkLevels } from '../domain/history/level-summary.ts'
import { LruMap } from '../platform/cache.ts'
import { FairQueue } from '../platform/concurrency.ts'
import type { History } from './history.ts'

/** A check that has begun. Times are epoch milliseconds. */
export interface BegunCheck {
  readonly channelId: number
  readonly beganAt: number
}

interface ReadLevels extends WalkLevels {
  /** The next second to read, in epoch seconds. */
  readonly next: number
}

/** Seconds of the last time are read again, because other processes store them with this delay. */
const unsettledSeconds = 20
/** The seconds that one read returns. */
const spanSeconds = 600
const maxKept = 10_000

export class WalkTests {
  readonly #history: History
  readonly #kept = new LruMap<string, ReadLevels>(maxKept)
  /** One read at a time, so that concurrent requests do not read the same seconds twice. */
  readonly #reading = new FairQueue({ atOnce: 1, places: 64, refuse: refuseHistoryRead })

  constructor(history: History) {
    this.#history = history
  }

  /** Returns the levels of each channel from the first whole second of its check until `now` (epoch ms). */
  read(checks: readonly BegunCheck[], now: number, client: string): Promise<ReadonlyMap<number, WalkLevels>> {
    return this.#reading.run(client, async () => {
      // While the disk is full, stored levels can still be read.
      await this.#history.flush().catch(() => {})
      const end = Math.floor(now / 1000) + 1
      const settled = end - unsettledSeconds
      await this.#readSettled(checks, settled)
      return this.#readLast(checks, settled, end)
    })
  }

  /** Reads the seconds before `settled`, which no longer change, and keeps the result. */
  async #readSettled(checks: readonly BegunCheck[], settled: number): Promise<void> {
    const first = Math.min(settled, ...checks.map((check) => this.#readLevels(check).next))
    for (let from = first; from < settled; from += spanSeconds) {
      const to = Math.min(settled, from + spanSeconds)
      const unread = checks.filter((check) => this.#readLevels(check).next < to)
      if (unread.length === 0) continue
      const steps = await this.#history.levels.read(idsOf(unread), from, to, 1)
      for (const check of unread) {
        const before = this.#readLevels(check)
        this.#kept.set(keyOf(check), { ...addSeconds(before, steps, check.channelId, before.next), next: to })
      }
    }
  }

  async #readLast(
    checks: readonly BegunCheck[],
    settled: number,
    end: number,
  ): Promise<ReadonlyMap<number, WalkLevels>> {
    if (checks.length === 0) return new Map()
    const steps = await this.#history.levels.read(idsOf(checks), settled, end, 1)
    return new Map(
      checks.map((check) => {
        const before = this.#readLevels(check)
        return [check.channelId, addSeconds(before, steps, check.channelId, before.next)]
      }),
    )
  }

  #readLevels(check: BegunCheck): ReadLevels {
    return this.#kept.get(keyOf(check)) ?? { ...noWalkLevels, next: Math.ceil(check.beganAt / 1000) }
  }
}

function idsOf(checks: readonly BegunCheck[]): number[] {
  return checks.map(({ channelId }) => channelId)
}

function keyOf({ channelId, beganAt }: BegunCheck): string {
  return `${channelId} ${beganAt}`
}
