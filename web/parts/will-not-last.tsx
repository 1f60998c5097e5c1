/** That the battery of a channel will not last until the end of the show, with when that is. */

import type { ChannelFacts } from '../app/channel-state.ts'
import { useWatchState } from '../app/context.ts'
import { formatClock } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { StateIcon } from './state-icon.tsx'

/** Returns the planned end of the show that the battery of a channel will not last; null if it will. */
export function useMissedEnd(channelId: number): string | null {
  return useWatchState(
    ({ alerts }) =>
      alerts.find(({ kind, channel_id }) => kind === 'will_not_last' && channel_id === channelId)?.data.ends_at ?? null,
  )
}

export function WillNotLast({ channelId }: { channelId: number }) {
  const endsAt = useMissedEnd(channelId)
  if (endsAt === null) return null
  const time = formatClock(Date.parse(endsAt))
  return (
    <span className="will-not-last" title={t('card.willNotLastUntil', { time })}>
      <span>{t('card.willNotLast')}</span>
      <span>{t('card.showEnds', { time })}</span>
    </span>
  )
}

/** The state of a channel, or that its battery will not last if nothing else is wrong. */
export function ShownState({ facts: { channelId, state, condition } }: { facts: ChannelFacts }) {
  const isShort = useMissedEnd(channelId) !== null && condition.severity === 'ok'
  return (
    <span className="card-state" data-short={isShort || undefined}>
      <StateIcon state={isShort ? 'battery_replace_soon' : state} />
      <span className="card-state-text">{t(isShort ? 'card.willNotLast' : `states.${state}`)}</span>
    </span>
  )
}
