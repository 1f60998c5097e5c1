import type { Group } from '../../src/contract/groups.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import { formatPeriod, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'

export function timeText({ state, starts_at, ends_at, started_at, ended_at }: ShowBody): string {
  if (state === 'ended' && started_at !== null) return formatPeriod(started_at, ended_at)
  if (state === 'running' && started_at !== null) {
    const started = t('shows.runningSince', { time: formatPeriod(started_at, null) })
    return ends_at === null ? started : `${started} · ${t('shows.plannedUntil', { time: formatPeriod(ends_at, null) })}`
  }
  return planText({ starts_at, ends_at }) ?? t('shows.noTime')
}

export function planText({ starts_at, ends_at }: Pick<ShowBody, 'starts_at' | 'ends_at'>): string | null {
  if (starts_at !== null) return formatPeriod(starts_at, ends_at)
  return ends_at === null ? null : t('shows.endsAt', { time: formatPeriod(ends_at, null) })
}

export function groupsText({ group_ids }: Pick<ShowBody, 'group_ids'>, groups: readonly Group[]): string {
  if (group_ids.length === 0) return t('shows.allChannels')
  const titleOf = (id: number) => groups.find((group) => group.id === id)?.title ?? t('parts.removedGroup')
  return group_ids.map((id) => plainText(titleOf(id))).join(', ')
}

/** Running and planned shows by their time, past ones with the latest first. */
export function sortShows(shows: readonly ShowBody[], state: ShowBody['state']): readonly ShowBody[] {
  const timeOf = ({ starts_at, started_at }: ShowBody) => {
    const time = started_at ?? starts_at
    return time === null ? Number.POSITIVE_INFINITY : Date.parse(time)
  }
  const sorted = shows
    .filter((show) => show.state === state)
    .toSorted((a, b) => compare(timeOf(a), timeOf(b)) || a.id - b.id)
  return state === 'ended' ? sorted.toReversed() : sorted
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}
