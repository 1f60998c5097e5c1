/** The sweeps of one source: the last one, the highest levels, and the latest lines of a waterfall. */

import type { SweepsBody } from '../contract/sweeps.ts'
import {
  haveSameGrid,
  holdHighest,
  maxSweepsPerSecond,
  maxWaterfallLines,
  maxWaterfallPoints,
  type Sweep,
  thin,
  toDbm,
} from '../domain/frequencies/sweeps/sweep.ts'
import { toTimestamp } from '../domain/timestamp.ts'

interface WaterfallLine {
  readonly startedAt: number
  readonly tenthsDbm: Int16Array
}

/** In memory: 2 bytes for each level, so at most 80 kB, and 400 kB for the waterfall. */
export class LiveSpectrum {
  readonly source: string
  #last: Sweep
  #max: Int16Array
  #maxSince = performance.now()
  /** The maximum begins again after this time; null if only on request. */
  #resetMs: number | null = null
  /** The oldest line first. */
  #waterfall: readonly WaterfallLine[] = []
  #sweepSeconds: number | null = null
  /** When the latest sweeps arrived, on the monotonic clock. */
  #arrivals = [performance.now()]

  constructor(source: string, first: Sweep) {
    this.source = source
    this.#last = first
    this.#max = first.tenthsDbm
    this.#addLine(first)
  }

  get last(): Sweep {
    return this.#last
  }

  /** The time between the last two sweeps. */
  get sweepSeconds(): number | null {
    return this.#sweepSeconds
  }

  /** The highest levels, as a sweep. */
  get highest(): Sweep {
    return { ...this.#last, tenthsDbm: this.#max }
  }

  waitMs(now: number): number {
    const oldest = this.#arrivals.length < maxSweepsPerSecond ? Number.NEGATIVE_INFINITY : (this.#arrivals[0] ?? now)
    return Math.max(0, oldest + 1000 - now)
  }

  add(sweep: Sweep): void {
    const before = this.#last
    const now = performance.now()
    const isSameGrid = haveSameGrid(before, sweep)
    const isMaxOver = this.#resetMs !== null && now - this.#maxSince >= this.#resetMs
    if (isSameGrid && !isMaxOver) this.#max = holdHighest(this.#max, sweep.tenthsDbm)
    else this.#beginMax(sweep)
    if (!isSameGrid) this.#waterfall = []
    this.#addLine(sweep)
    this.#sweepSeconds = sweep.startedAt > before.startedAt ? (sweep.startedAt - before.startedAt) / 1000 : null
    this.#last = sweep
    this.#arrivals = [...this.#arrivals, now].slice(-maxSweepsPerSecond)
  }

  /** Begins the maximum again with the last sweep, and then after every `minutes`; null: only on request. */
  reset(minutes: number | null): void {
    this.#resetMs = minutes === null ? null : minutes * 60_000
    this.#beginMax(this.#last)
  }

  toBody(): SweepsBody {
    const { fromMhz, stepMhz, tenthsDbm, isCalibrated, startedAt } = this.#last
    return {
      source: this.source,
      from_mhz: fromMhz,
      step_mhz: stepMhz,
      last: toDbm(tenthsDbm),
      max: toDbm(this.#max),
      waterfall: this.#waterfall.map((line) => ({ at: toTimestamp(line.startedAt), dbm: toDbm(line.tenthsDbm) })),
      calibrated: isCalibrated,
      sweep_seconds: this.#sweepSeconds,
      at: toTimestamp(startedAt),
      ...(this.#resetMs !== null && { reset_minutes: this.#resetMs / 60_000 }),
    }
  }

  #beginMax(sweep: Sweep): void {
    this.#max = sweep.tenthsDbm
    this.#maxSince = performance.now()
  }

  #addLine({ startedAt, tenthsDbm }: Sweep): void {
    const line = { startedAt, tenthsDbm: thin(tenthsDbm, maxWaterfallPoints) }
    this.#waterfall = [...this.#waterfall, line].slice(-maxWaterfallLines)
  }
}
