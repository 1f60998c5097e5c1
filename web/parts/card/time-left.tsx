/** 1 h 20; `~1 h 20` if it is a forecast from earlier discharges. */

import type { ChannelFacts } from '../../app/channel-state.ts'
import { useWatchState } from '../../app/context.ts'
import { formatClock, formatMinutes, formatTimeLeft } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { StateIcon, StateWord } from '../state-icon.tsx'

type TimeLeftFacts = Pick<ChannelFacts, 'minutesLeft' | 'forecast'>

export function TimeLeft({ facts }: { facts: ChannelFacts }) {
  const text = timeLeftText(facts)
  const missedEnd = useMissedEnd(facts.channelId)
  if (text === null) return null
  const isForecast = facts.forecast?.source === 'history'
  return (
    <span
      className="time-left"
      data-old={facts.isBatteryOld || undefined}
      data-short={missedEnd !== null || undefined}
      title={
        missedEnd === null
          ? t(isForecast ? 'card.forecastHint' : 'card.timeLeft')
          : t('card.willNotLastUntil', { time: formatClock(Date.parse(missedEnd)) })
      }
    >
      <span aria-hidden="true">{text}</span>
      <span className="visually-hidden">{spokenTimeLeft(facts)}</span>
    </span>
  )
}

export function timeLeftText({ minutesLeft, forecast }: TimeLeftFacts): string | null {
  if (minutesLeft === null) return null
  const time = formatTimeLeft(minutesLeft)
  return forecast?.source === 'history' ? t('card.forecast', { time }) : time
}

export function spokenTimeLeft({ minutesLeft, forecast }: TimeLeftFacts): string | null {
  if (minutesLeft === null) return null
  const time = formatMinutes(minutesLeft)
  if (forecast === null) return t('card.timeLeftOf', { time })
  return t(forecast.source === 'history' ? 'card.forecastOf' : 'card.reportedTimeLeft', { time })
}

/** Null if the battery will last until the planned end. */
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

export function ShownState({ facts: { channelId, state, condition } }: { facts: ChannelFacts }) {
  const isShort = useMissedEnd(channelId) !== null && condition.severity === 'ok'
  return (
    <span className="card-state" data-short={isShort || undefined}>
      <StateIcon state={isShort ? 'battery_replace_soon' : state} />
      {isShort ? <span>{t('card.willNotLast')}</span> : <StateWord state={state} />}
    </span>
  )
}
