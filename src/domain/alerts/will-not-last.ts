import { hasRow } from '../conditions/condition.ts'
import type { Channel, Receiver } from '../equipment/receiver.ts'
import type { Forecast } from '../forecast/forecast.ts'
import { listShowsOfSlot, type RunningShow } from '../shows.ts'
import { toTimestamp } from '../timestamp.ts'
import type { Alert } from './alert.ts'
import { toCauseOf } from './channel-alerts.ts'
import type { Cause } from './compare-causes.ts'
import type { AlertEnding } from './describe-alert.ts'

export interface PlannedShow extends RunningShow {
  /** Epoch milliseconds; null if it is not planned. */
  readonly ends_at: number | null
}

export interface ForecastContext {
  readonly runningShows: readonly PlannedShow[]
  readonly groups: Parameters<typeof listShowsOfSlot>[2]
  forecast(channel: Channel): Forecast | null
  /** Since when the battery has been in use (epoch ms); null if unknown. */
  batterySince(channelId: number): number | null
  readonly isInhibited: boolean
  readonly now: number
}

const minuteMs = 60_000
/** The alert is cleared when the battery lasts this much longer than the show. */
const clearAboveMs = 5 * minuteMs

/** `open`: the open alerts of the receiver. */
export function listForecastCauses(
  receiver: Receiver,
  open: readonly Alert[],
  context: ForecastContext,
): readonly Cause[] {
  const { forecast, isInhibited, now } = context
  return receiver.channels.flatMap((channel): Cause[] => {
    const endsAt = plannedEnd(channel, context)
    const expected = endsAt === null || !isKnown(receiver, channel) ? null : forecast(channel)
    if (endsAt === null || expected === null) return []
    const isOpen = open.some(({ kind, channel_id }) => kind === 'will_not_last' && channel_id === channel.id)
    const neededMs = endsAt - now + (isOpen ? clearAboveMs : 0)
    if (expected.low * minuteMs >= neededMs) return []
    const data = { minutes_left: expected.low, ends_at: toTimestamp(endsAt) }
    return [toCauseOf('will_not_last', receiver, channel, isInhibited, data)]
  })
}

/** Null while the same battery is out of sight, for example in a transmitter that was switched off. */
export function forecastAlertEnding(
  receiver: Receiver,
  { channel_id, raised_at }: Alert,
  context: ForecastContext,
): AlertEnding | null {
  const channel = receiver.channels.find(({ id }) => id === channel_id)
  if (channel === undefined) return 'unmonitored'
  if (plannedEnd(channel, context) === null) return 'resolved'
  if ((context.batterySince(channel.id) ?? 0) > raised_at) return 'resolved'
  return isKnown(receiver, channel) && context.forecast(channel) !== null ? 'resolved' : null
}

/** The end of the last running show of the channel; null if none is planned to end later than now. */
function plannedEnd({ slot }: Channel, { runningShows, groups, now }: ForecastContext): number | null {
  const ids = listShowsOfSlot(slot, runningShows, groups)
  const ends = runningShows.flatMap(({ id, ends_at }) => (ids.includes(id) && ends_at !== null ? ends_at : []))
  const last = Math.max(...ends, now)
  return last > now ? last : null
}

function isKnown({ is_active }: Receiver, { condition }: Channel): boolean {
  return is_active && !hasRow(condition, 'stale')
}
