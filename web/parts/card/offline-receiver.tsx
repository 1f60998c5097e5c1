import { type ChannelFacts, lastReceived } from '../../app/channel-state.ts'
import { formatTime } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { StateAge } from '../age.tsx'

export function OfflineReceiver({ facts }: { facts: ChannelFacts }) {
  const hardware = [facts.receiverModel, facts.receiverIp].filter((part) => part !== null).join(' · ')
  const since = lastReceived(facts.condition)
  return (
    <div className="offline">
      <span className="offline-line">
        <span className="offline-label">{t('card.offline')}</span>
        <span title={`${t('card.lastSeen')} ${formatTime(since.at)}`}>
          <span className="visually-hidden">{t('card.lastSeen')} </span>
          <StateAge since={since} />
        </span>
      </span>
      <bdi className="offline-hardware">{hardware}</bdi>
    </div>
  )
}
