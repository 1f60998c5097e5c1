import { type Weekday, weekdays } from '../../contract/values.ts'
import type { Schedule } from './rule.ts'

const dayMs = 24 * 3600_000
const minuteMs = 60_000
/** Hours that join each other are followed back this far. */
const maxJoinedDays = 8

/** Epoch milliseconds; `end` is exclusive. */
interface Hours {
  readonly start: number
  readonly end: number
}

/**
 * Returns when the hours began to which `now` belongs, or null if it belongs to none. Hours that join each other are one;
 * returns -Infinity if they have no beginning, such as those of a schedule that always applies.
 */
export function scheduleBegan(schedule: Schedule, now: number): number | null {
  const days = listHours(schedule, now)
  let joined = days.findLast(({ start, end }) => start <= now && now < end)
  if (joined === undefined) return null
  for (const hours of days.toReversed()) {
    if (hours.start < joined.start && hours.end >= joined.start) joined = hours
  }
  return now - joined.start > (maxJoinedDays - 1.5) * dayMs ? Number.NEGATIVE_INFINITY : joined.start
}

/** Null if the schedule has no days. */
export function scheduleLastBegan(schedule: Schedule, now: number): number | null {
  return listHours(schedule, now).findLast(({ start }) => start <= now)?.start ?? null
}

/** Null if the schedule has no days. */
export function scheduleBegins(schedule: Schedule, now: number): number | null {
  return listHours(schedule, now).find(({ start }) => start > now)?.start ?? null
}

/** Without hours that a change of summer time skips. */
function listHours({ days, from, to, time_zone }: Schedule, now: number): Hours[] {
  const today = Math.floor((now + offsetAt(time_zone, now)) / dayMs) * dayMs
  const fromMs = parseTime(from)
  const toMs = parseTime(to) > fromMs ? parseTime(to) : parseTime(to) + dayMs
  const result: Hours[] = []
  for (let offset = -maxJoinedDays; offset <= maxJoinedDays; offset++) {
    const day = today + offset * dayMs
    if (!days.includes(weekdayOf(day))) continue
    const start = firstInstant(time_zone, day + fromMs)
    const end = lastInstant(time_zone, day + toMs)
    if (start < end) result.push({ start, end })
  }
  return result
}

/** `day` is the midnight of a date, in milliseconds since 1970-01-01, a Thursday. */
function weekdayOf(day: number): Weekday {
  return weekdays[(((day / dayMs + 3) % 7) + 7) % 7] as Weekday
}

function parseTime(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return (hours * 60 + minutes) * minuteMs
}

function firstInstant(timeZone: string, local: number): number {
  return Math.min(...instantsOf(timeZone, local))
}

function lastInstant(timeZone: string, local: number): number {
  return Math.max(...instantsOf(timeZone, local))
}

/**
 * Returns the instants at which the clocks of a zone show a local time. There are two if the clocks are set back over it.
 * If they are set forward over it, this is the instant of the change.
 */
function instantsOf(timeZone: string, local: number): readonly number[] {
  const offsets = [offsetAt(timeZone, local - dayMs), offsetAt(timeZone, local + dayMs)]
  const candidates = offsets.map((offset) => local - offset)
  const shown = candidates.filter((instant) => instant + offsetAt(timeZone, instant) === local)
  if (shown.length > 0) return shown
  let before = Math.min(...candidates)
  let after = Math.max(...candidates)
  const offset = offsetAt(timeZone, before)
  while (after - before > minuteMs) {
    const middle = Math.round((before + after) / 2 / minuteMs) * minuteMs
    if (offsetAt(timeZone, middle) === offset) before = middle
    else after = middle
  }
  return [after]
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** In milliseconds. */
function offsetAt(timeZone: string, instant: number): number {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(timeZone, format)
  }
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return local - Math.floor(instant / 1000) * 1000
}
