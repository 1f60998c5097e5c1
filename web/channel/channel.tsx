import './channel.css'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import type { ChannelBody } from '../../src/contract/channels.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { beginningOf, type ChannelFacts } from '../app/channel-state.ts'
import { useFacts, useServices, useWatchState } from '../app/context.ts'
import { formatPercent, formatShortDuration, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { slotTitle } from '../app/slot-records.ts'
import { defaultView } from '../app/view.ts'
import { ChannelSound } from '../listen/channel-sound.tsx'
import { Ago, Since } from '../parts/age.tsx'
import { AcknowledgeButton } from '../parts/alerts/acknowledge-button.tsx'
import { personName } from '../parts/alerts/alert-text.ts'
import { useChannelAlert } from '../parts/alerts/alerts.ts'
import { ChannelCard } from '../parts/card/channel-card.tsx'
import { Phase } from '../parts/card/phase.tsx'
import { WillNotLast } from '../parts/card/time-left.tsx'
import { Notice } from '../parts/dialogs/notice.tsx'
import { isKeyForAnother } from '../parts/keys.ts'
import { MeterLayer } from '../parts/meters/meters.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { SwapDialog } from '../parts/slots/dialogs.ts'
import { SwapButton } from '../parts/slots/swap-button.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import {
  Assignment,
  LevelDetails,
  RawDetails,
  ReceiverOfChannel,
  SlotDetails,
  TransmitterDetails,
} from './channel-details.tsx'
import { ChannelHistory } from './channel-history.tsx'
import { EquipmentAlerts } from './equipment-alerts.tsx'
import { Spares } from './spares.tsx'

export function Channel() {
  const channelId = Number(useParams({ strict: false }).id)
  const receiverId = useWatchState((watchState) => {
    for (const [id, { channels }] of watchState.receivers)
      if (channels.some((channel) => channel.id === channelId)) return id
    return null
  })
  return (
    <main className="content detail" id="content" tabIndex={-1}>
      <p>
        <Link className="back" to={pathOf('monitor')}>
          ← {t('channel.back')}
        </Link>
      </p>
      {receiverId === null ? <h1 className="visually-hidden">{t('channel.channel')}</h1> : null}
      <Phase view={defaultView}>
        {() =>
          receiverId === null ? (
            <Notice title={t('channel.unknownTitle')}>
              <p>{t('channel.unknown')}</p>
            </Notice>
          ) : (
            <OneChannel receiverId={receiverId} channelId={channelId} />
          )
        }
      </Phase>
    </main>
  )
}

function OneChannel({ receiverId, channelId }: { receiverId: number; channelId: number }) {
  const facts = useFacts(receiverId, channelId)
  const channel = useWatchState((watchState) =>
    watchState.receivers.get(receiverId)?.channels.find((channel) => channel.id === channelId),
  )
  const title = facts === null ? '' : slotTitle(facts)
  usePageTitle(title)
  const [isSwapping, setSwapping] = useState(false)
  const closeSwap = useCallback(() => setSwapping(false), [])
  if (facts === null || channel === undefined) return null
  const swap = () => setSwapping(true)
  return (
    <>
      <header className="detail-head">
        <span className="detail-slot" aria-hidden="true">
          {facts.slot}
        </span>
        <h1>
          <span className="visually-hidden">{title}</span>
          <bdi aria-hidden="true">{facts.title}</bdi>
        </h1>
        {facts.site === null ? null : <bdi className="detail-model">{plainText(facts.site.name)}</bdi>}
        <Neighbours channelId={channelId} />
      </header>
      <ConditionPanel facts={facts} channel={channel} onSwap={swap} />
      <div className="detail-columns">
        <div className="detail-column">
          <div className="meter-field detail-now">
            <ul className="cards" data-density="roomy" aria-label={t('channel.now')}>
              <ChannelCard {...{ receiverId, channelId }} step="usual" hasChart={true} />
            </ul>
            <MeterLayer order={String(channelId)} />
          </div>
          <Assignment facts={facts} />
          {facts.site === null ? <Spares facts={facts} onSwap={swap} /> : null}
          <ChannelSound facts={facts} channel={channel} />
          <ReceiverOfChannel id={receiverId} />
        </div>
        <div className="detail-column">
          <EquipmentAlerts receiverId={receiverId} channelId={channelId} />
          <ChannelHistory key={channelId} receiverId={receiverId} channelId={channelId} />
        </div>
        <div className="detail-column">
          <LevelDetails facts={facts} channel={channel} />
          <TransmitterDetails facts={facts} channel={channel} />
          <SlotDetails facts={facts} channel={channel} />
          <RawDetails facts={facts} channel={channel} />
          <section className="detail-part">
            <h2>{t('channel.qr')}</h2>
            <QrCode address={location.origin + location.pathname} />
          </section>
        </div>
      </div>
      {isSwapping ? <SwapDialog slot={facts.slot} onClose={closeSwap} /> : null}
    </>
  )
}

function Neighbours({ channelId }: { channelId: number }) {
  const { watch } = useServices()
  const navigate = useNavigate()
  const cards = useSyncExternalStore(watch.subscribe, watch.cards)
  const at = cards.findIndex((card) => card.channelId === channelId)
  const neighbours = { previous: cards[at - 1], next: cards[at + 1] }
  const previousId = neighbours.previous?.channelId
  const nextId = neighbours.next?.channelId
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const id = event.key === 'ArrowLeft' ? previousId : event.key === 'ArrowRight' ? nextId : undefined
      const isOnChart = event.target instanceof Element && event.target.closest('.history') !== null
      if (id === undefined || event.shiftKey || isOnChart || isKeyForAnother(event)) return
      event.preventDefault()
      void navigate({ to: '/channels/$id', params: { id: String(id) }, replace: true })
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [navigate, previousId, nextId])
  return (
    <nav className="neighbours" aria-label={t('channel.neighbours')}>
      {(['previous', 'next'] as const).map((direction) => {
        const card = neighbours[direction]
        const Icon = direction === 'previous' ? ChevronLeft : ChevronRight
        return card === undefined ? (
          <span key={direction} className="choice" aria-disabled="true">
            <Icon className="icon" aria-hidden="true" />
          </span>
        ) : (
          <Link
            key={direction}
            className="choice"
            to="/channels/$id"
            params={{ id: String(card.channelId) }}
            replace={true}
            aria-label={t(`channel.neighbour.${direction}`, { name: slotTitle(card) })}
            aria-keyshortcuts={direction === 'previous' ? 'ArrowLeft' : 'ArrowRight'}
          >
            <Icon className="icon" aria-hidden="true" />
          </Link>
        )
      })}
    </nav>
  )
}

interface ConditionPanelProps {
  readonly facts: ChannelFacts
  readonly channel: ChannelBody
  onSwap(): void
}

function ConditionPanel({ facts, channel, onSwap }: ConditionPanelProps) {
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
        <span className="condition-actions">
          {facts.needsAttention ? <SwapButton facts={facts} className="choice" onPress={onSwap} /> : null}
          {alert === null ? null : <AcknowledgeButton alert={alert} />}
        </span>
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
