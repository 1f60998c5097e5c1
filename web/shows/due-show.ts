/** Which planned show is offered to be started. */

import type { ShowBody } from '../../src/contract/resources/shows.ts'

/** How long after its planned start a show without a planned end is offered. */
const offeredMs = 6 * 60 * 60 * 1_000

/** Finds the show whose planned start is the latest of those that have come; null if there is none or it was dismissed. */
export function findDueShow(shows: readonly ShowBody[], now: number, dismissed: string): ShowBody | null {
  const due = shows.filter(({ state, starts_at, ends_at }) => {
    if (state !== 'planned' || starts_at === null) return false
    const start = Date.parse(starts_at)
    return start <= now && now < (ends_at === null ? start + offeredMs : Date.parse(ends_at))
  })
  const latest = due.toSorted((a, b) => Date.parse(b.starts_at ?? '') - Date.parse(a.starts_at ?? ''))[0]
  return latest === undefined || keyOf(latest) === dismissed ? null : latest
}

/** A show with another planned start is offered again. */
export function keyOf({ id, starts_at }: ShowBody): string {
  return `${id} ${starts_at}`
}
