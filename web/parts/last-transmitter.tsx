/** What a channel without a transmitter last received: since when it is off, and how full its battery was. */

import type { ChannelFacts } from '../channel-state.ts'
import { formatPercent } from '../format.ts'
import { t } from '../i18n.ts'
import { Age, StateAge } from './age.tsx'

interface LastTransmitterProps {
  readonly facts: ChannelFacts
  /** Only since when it is off. */
  readonly isShort?: boolean
}

export function LastTransmitter({ facts, isShort = false }: LastTransmitterProps) {
  const { state, since, battery } = facts
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
  if (isShort) return age
  const what = state === 'battery_died' ? t('card.died') : t('states.tx_off')
  return (
    <span className="last-transmitter">
      <span>
        {what} {age}
      </span>
      {battery === null ? null : <span>{t('card.wasBattery', { percent: formatPercent(battery) })}</span>}
    </span>
  )
}
