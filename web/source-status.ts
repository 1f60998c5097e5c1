/** The status of a manufacturer or source as every page shows it. */

import type { ManufacturerHealth } from '../src/contract/resources/health.ts'
import { type UpstreamStatus, upstreamStatuses } from '../src/contract/values.ts'
import { useWatchState } from './context.ts'
import { t } from './i18n.ts'
import type { WatchState } from './state.ts'

/** A manufacturer of which no channel can be trusted is down, even if some of its sources respond. */
export function shownStatus(
  { code, status }: Pick<ManufacturerHealth, 'code' | 'status'>,
  receivers: WatchState['receivers'],
): UpstreamStatus {
  if (status !== 'degraded') return status
  const own = [...receivers.values()].filter(({ manufacturer }) => manufacturer === code)
  const channels = own.flatMap(({ channels }) => channels)
  const areAllLost = channels.every(({ condition: { state } }) => state === 'receiver_offline' || state === 'stale')
  return channels.length > 0 && areAllLost ? 'unhealthy' : status
}

export function useShownStatus(manufacturer: Pick<ManufacturerHealth, 'code' | 'status'>): UpstreamStatus {
  return useWatchState(({ receivers }) => shownStatus(manufacturer, receivers))
}

/** A source that was removed has no status. */
export function statusText(status: string | null): string {
  const known = upstreamStatuses.find((one) => one === status)
  return t(`health.statuses.${known ?? 'unknown'}`)
}
