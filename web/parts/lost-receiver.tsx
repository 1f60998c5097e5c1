/** In place of the meters: which receiver does not answer, and since when. */

import type { ChannelFacts } from '../channel-state.ts'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { Age } from './age.tsx'

export function LostReceiver({ facts }: { facts: ChannelFacts }) {
  const hardware = [facts.receiverModel, facts.receiverIp].filter((part) => part !== null && part !== '').join(' · ')
  return (
    <div className="lost">
      <span className="lost-line">
        <span className="lost-what">{t('card.offline')}</span>
        {facts.since === null ? null : (
          <span title={`${t('card.lastSeen')} ${formatTime(facts.since)}`}>
            <span className="for-listeners">{t('card.lastSeen')} </span>
            <Age since={facts.since} isShort={true} /> {t('card.ago')}
          </span>
        )}
      </span>
      <bdi className="lost-hardware">{hardware}</bdi>
    </div>
  )
}
