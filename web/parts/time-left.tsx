/** The remaining run time of a battery, as hours and minutes: 1:20; `~1:20` if it is a forecast from earlier discharges. */

import type { ChannelFacts } from '../app/channel-state.ts'
import { formatClock, formatMinutes, formatTimeLeft } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMissedEnd } from './will-not-last.tsx'

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

/** Returns the remaining run time as digits; null if it is unknown. */
export function timeLeftText({ minutesLeft, forecast }: TimeLeftFacts): string | null {
  if (minutesLeft === null) return null
  const time = formatTimeLeft(minutesLeft)
  return forecast?.source === 'history' ? t('card.forecast', { time }) : time
}

/** Returns the remaining run time in words, with what it is based on; null if it is unknown. */
export function spokenTimeLeft({ minutesLeft, forecast }: TimeLeftFacts): string | null {
  if (minutesLeft === null) return null
  const time = formatMinutes(minutesLeft)
  if (forecast === null) return t('card.timeLeftOf', { time })
  return t(forecast.source === 'history' ? 'card.forecastOf' : 'card.reportedTimeLeft', { time })
}
