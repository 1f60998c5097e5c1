import { Headset } from 'lucide-react'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { formatMegahertz } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'

type CarrierFacts = Pick<ChannelFacts, 'frequency' | 'isBeltpack'>

/** The frequency of a channel; the kind of a pack that has none. */
export function Carrier({ facts: { frequency, isBeltpack } }: { facts: CarrierFacts }) {
  if (frequency !== null) return formatMegahertz(frequency)
  if (!isBeltpack) return t('card.noFrequency')
  return (
    <span className="card-beltpack">
      <Headset className="icon" aria-hidden="true" />
      {t('card.beltpack')}
    </span>
  )
}

/** For cards that have no space for a frequency. */
export function BeltpackMark({ facts: { isBeltpack } }: { facts: CarrierFacts }) {
  if (!isBeltpack) return null
  return (
    <span className="card-beltpack" title={t('card.beltpack')}>
      <Headset className="icon" aria-hidden="true" />
      <span className="visually-hidden">{t('card.beltpack')}</span>
    </span>
  )
}
