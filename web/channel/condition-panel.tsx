import type { ChannelBody } from '../../src/contract/channels.ts'
import { beginningOf, type ChannelFacts } from '../app/channel-state.ts'
import { formatPercent, formatShortDuration, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Ago, Since } from '../parts/age.tsx'
import { AcknowledgeButton } from '../parts/alerts/acknowledge-button.tsx'
import { personName } from '../parts/alerts/alert-text.ts'
import { useChannelAlert } from '../parts/alerts/alerts.ts'
import { WillNotLast } from '../parts/card/time-left.tsx'
import { StateIcon } from '../parts/state-icon.tsx'

interface ConditionPanelProps {
  readonly facts: ChannelFacts
  readonly channel: ChannelBody
}

export function ConditionPanel({ facts, channel }: ConditionPanelProps) {
  const { condition, last_transmitter: last } = channel
  const alert = useChannelAlert(facts.receiverId, facts.channelId)
  // While this page has no current data, the state is `stale` and `facts.since` is when the page lost it.
  const isOwn = facts.state === condition.state
  const since = isOwn && condition.values_at === undefined ? beginningOf(condition) : facts.since
  return (
    <section
      className="condition"
      data-attention={facts.needsAttention || facts.state === 'stale' || undefined}
      data-severity={isOwn ? condition.severity : 'warning'}
      aria-label={t('receiver.state')}
    >
      <p className="condition-state">
        <StateIcon state={facts.state} />
        <strong>{t(`states.${facts.state}`)}</strong>
        {since === null ? null : (
          <span className="condition-since">
            <Since since={since} />
          </span>
        )}
        {alert === null ? null : <AcknowledgeButton alert={alert} />}
      </p>
      {facts.flags.length === 0 ? null : (
        <ul className="condition-flags" aria-label={t('channel.flagsLabel')}>
          {facts.flags.map((flag) => (
            <li key={flag}>
              <StateIcon state={flag} />
              {t(`flags.${flag}`)}
            </li>
          ))}
        </ul>
      )}
      <WillNotLast channelId={facts.channelId} />
      {last === undefined ? null : (
        <p className="condition-last">
          {t('channel.lastTransmitter')}:{' '}
          {[
            plainText(last.name ?? t('card.noName')),
            last.battery === null ? null : formatPercent(last.battery),
            last.minutes_left === null
              ? null
              : t('channel.timeLeft', { time: formatShortDuration(last.minutes_left * 60_000) }),
          ]
            .filter((part) => part !== null)
            .join(' · ')}
          {' · '}
          {t('channel.lastSeenAgo')} <Ago at={last.last_seen} />
        </p>
      )}
      {alert === null || alert.acknowledged_by === null ? null : (
        <p className="condition-last">
          {t('alerts.acknowledgedBy', { name: personName(alert.acknowledged_by) })} <Ago at={alert.acknowledged_at} />
          {alert.note ? <q>{alert.note}</q> : null}
        </p>
      )}
    </section>
  )
}
