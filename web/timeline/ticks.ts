import { formatClock, formatDay, formatTime } from '../app/format.ts'
import type { TimeRange } from './range.ts'

export interface Tick {
  /** Epoch ms. */
  readonly at: number
  readonly label: string
  readonly isDay: boolean
}

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
/** ms */
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  day,
]

/** Labels do not touch at this distance. */
const labelPx = 84

export function stepFor({ span }: TimeRange, width: number): number {
  const least = (span / Math.max(1, width)) * labelPx
  return steps.find((step) => step >= least) ?? Math.ceil(least / day) * day
}

/** Minutes behind UTC. */
const localOffset = (at: number) => new Date(at).getTimezoneOffset()

export function ticksOf(range: TimeRange, width: number, offsetAt = localOffset): readonly Tick[] {
  const step = stepFor(range, width)
  const end = range.from + range.span
  const toLocal = (at: number) => at - offsetAt(at) * minute
  const found: Tick[] = []
  // Local times as if they were UTC, so that ticks are at whole local hours.
  for (let local = Math.floor(toLocal(range.from) / step) * step; ; local += step) {
    const at = local + offsetAt(local + offsetAt(local) * minute) * minute
    if (at > end) return found
    if (at < range.from || at <= (found.at(-1)?.at ?? Number.NEGATIVE_INFINITY)) continue
    const isDay = local % day === 0
    found.push({ at, isDay, label: isDay ? formatDay(at) : step < minute ? formatTime(at) : formatClock(at) })
  }
}
