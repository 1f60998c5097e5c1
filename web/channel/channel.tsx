import './channel.css'
import { Link, useParams } from '@tanstack/react-router'
import { pathOf } from '../../src/domain/pages.ts'
import { useFacts, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { defaultView } from '../app/view.ts'
import { ChannelCard } from '../parts/card/channel-card.tsx'
import { Phase } from '../parts/card/phase.tsx'
import { Notice } from '../parts/dialogs/notice.tsx'
import { MeterLayer } from '../parts/meters/meters.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import {
  Assignment,
  LevelDetails,
  RawDetails,
  ReceiverOfChannel,
  SlotDetails,
  TransmitterDetails,
} from './channel-details.tsx'
import { ChannelHistory } from './channel-history.tsx'
import { ConditionPanel } from './condition-panel.tsx'
import { EquipmentAlerts } from './equipment-alerts.tsx'
import { Neighbours } from './neighbours.tsx'

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
  const name = facts?.name ?? t('card.noName')
  const title = facts === null ? '' : t('channel.title', { slot: facts.slot, name })
  usePageTitle(title)
  if (facts === null || channel === undefined) return null
  return (
    <>
      <header className="detail-head">
        <span className="detail-slot" aria-hidden="true">
          {facts.slot}
        </span>
        <h1>
          <span className="visually-hidden">{title}</span>
          <bdi aria-hidden="true">{name}</bdi>
        </h1>
        {facts.site === null ? null : <bdi className="detail-model">{plainText(facts.site.name)}</bdi>}
        <Neighbours channelId={channelId} />
      </header>
      <ConditionPanel facts={facts} channel={channel} />
      <div className="detail-columns">
        <div className="detail-column">
          <div className="meter-field detail-now">
            <ul className="cards" data-density="roomy" aria-label={t('channel.now')}>
              <ChannelCard {...{ receiverId, channelId }} step="usual" hasChart={true} />
            </ul>
            <MeterLayer order={String(channelId)} />
          </div>
          <Assignment channelId={channelId} />
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
    </>
  )
}
