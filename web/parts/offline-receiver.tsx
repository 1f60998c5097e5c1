/** Shown instead of the meters of an offline receiver: which receiver it is, and since when it has been offline. */

import type { ChannelFacts } from '../channel-state.ts'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { AgeAgo } from './age.tsx'

export function OfflineReceiver({ facts }: { facts: ChannelFacts }) {
  const hardware = [facts.receiverModel, facts.receiverIp].filter((part) => part !== null).join(' · ')
  return (
    <div className="offline">
      <span className="offline-line">
        <span className="offline-label">{t('card.offline')}</span>
        {facts.since === null ? null : (
          <span title={`${t('card.lastSeen')} ${formatTime(facts.since)}`}>
            <span className="visually-hidden">{t('card.lastSeen')} </span>
            <AgeAgo since={facts.since} />
          </span>
        )}
      </span>
      <bdi className="offline-hardware">{hardware}</bdi>
    </div>
  )
}
