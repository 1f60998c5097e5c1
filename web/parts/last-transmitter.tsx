/** What a channel without a transmitter last received: since when it is off, and how full its battery was. */

import type { ChannelFacts } from '../app/channel-state.ts'
import { formatPercent } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Age, AgeAgo, StateAge } from './age.tsx'

export function LastTransmitter({ facts }: { facts: ChannelFacts }) {
  const { state, since, battery, lastSeenAt } = facts
  const age =
    since === null ? null : !since.isKnown ? (
      <StateAge since={since} />
    ) : (
      <>
        <span className="age-sentence">
          <StateAge since={since} />
        </span>
        <span className="age-alone">
          <Age since={since.at} isShort={true} />
        </span>
      </>
    )
  const what = state === 'battery_died' ? t('card.died') : t('states.tx_off')
  return (
    <span className="last-transmitter">
      <span>
        {what} {age}
      </span>
      {battery === null ? null : (
        <span>
          {t('card.wasBattery', { percent: formatPercent(battery) })}{' '}
          {since?.isKnown === false && lastSeenAt !== null ? <AgeAgo since={lastSeenAt} /> : null}
        </span>
      )}
    </span>
  )
}
