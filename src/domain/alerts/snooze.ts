import { listShowsOfSlot, type RunningShow } from '../shows.ts'
import type { Alert } from './alert.ts'

interface StartedShow extends RunningShow {
  readonly started_at: number | null
}

interface ShowContext {
  readonly runningShows: readonly RunningShow[]
  readonly groups: Parameters<typeof listShowsOfSlot>[2]
  readonly channels: readonly { readonly slot: number }[]
}

/** Epoch milliseconds; null if no running show applies to the alert. */
export function lastStartOf(
  { receiver_id }: Alert,
  {
    runningShows,
    groups,
    channels,
  }: Omit<ShowContext, 'runningShows'> & { readonly runningShows: readonly StartedShow[] },
): number | null {
  const ids = new Set(channels.flatMap(({ slot }) => listShowsOfSlot(slot, runningShows, groups)))
  const concerned = runningShows.filter(({ id }) => receiver_id === null || ids.has(id))
  return concerned.reduce((last: number | null, { started_at }) => Math.max(last ?? 0, started_at ?? 0), null)
}

/** Every show concerns alerts about sources. */
export function hasRunningShow({ receiver_id }: Alert, { runningShows, groups, channels }: ShowContext): boolean {
  if (receiver_id === null) return runningShows.length > 0
  return channels.some(({ slot }) => listShowsOfSlot(slot, runningShows, groups).length > 0)
}

/** An alert snoozed until cleared stays snoozed. */
export function isSnoozeOver(alert: Alert, now: number, context: ShowContext): boolean {
  const { snoozed_until: until } = alert
  if (alert.state !== 'snoozed' || until === null || until === 'cleared') return false
  return until === 'show_end' ? !hasRunningShow(alert, context) : now >= until
}
