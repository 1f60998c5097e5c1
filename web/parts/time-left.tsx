/** The remaining run time of a battery, as hours and minutes: 1:20. */

import type { ChannelFacts } from '../channel-state.ts'
import { formatMinutes, formatTimeLeft } from '../format.ts'
import { t } from '../i18n.ts'

export function TimeLeft({ facts: { minutesLeft, isBatteryOld } }: { facts: ChannelFacts }) {
  if (minutesLeft === null) return null
  return (
    <span className="time-left" data-old={isBatteryOld || undefined} title={t('card.timeLeft')}>
      <span aria-hidden="true">{formatTimeLeft(minutesLeft)}</span>
      <span className="visually-hidden">{t('card.timeLeftOf', { time: formatMinutes(minutesLeft) })}</span>
    </span>
  )
}
