/** When scheduled backups are due. */

import type { Weekday } from '../contract/values.ts'

export { type Weekday, weekdays } from '../contract/values.ts'

import { scheduleBegins, scheduleLastBegan } from './notifications/schedule.ts'

interface BackupTimes {
  /** HH:MM. */
  readonly at: string
  readonly days: readonly Weekday[]
}

/**
 * Returns when the next backup is due; null while one is overdue. Without a backup, the first one is. A backup in the
 * future is that of a clock that was wrong.
 */
export function nextBackup(
  { at, days }: BackupTimes,
  time_zone: string,
  newest: number | null,
  now: number,
): number | null {
  const schedule = { days, from: at, to: at, time_zone }
  const due = scheduleLastBegan(schedule, now) ?? Number.NEGATIVE_INFINITY
  const isDone = newest !== null && newest <= now && newest >= due
  return isDone ? scheduleBegins(schedule, now) : null
}
