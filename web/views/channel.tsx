/** The page of one channel. */

import '../styles/channel.css'
import { useEffect } from 'react'
import { useFacts, useServices, useWatchState } from '../context.ts'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { ChannelAlerts } from '../parts/channel-alerts.tsx'
import { ChannelCard } from '../parts/channel-card.tsx'
import { ChannelDetails } from '../parts/channel-details.tsx'
import { HealthFooter } from '../parts/health-footer.tsx'
import { HistoryChart } from '../parts/history-chart.tsx'
import { MeterLayer } from '../parts/meters.tsx'
import { Notice } from '../parts/notice.tsx'
import { Phase } from '../parts/phase.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { useSessionHistory } from '../use-session-history.ts'
import { defaultView } from '../view.ts'

export function Channel() {
  const { mount } = useServices()
  const channelId = Number(/\/channels\/(\d{1,16})\/?$/.exec(location.pathname)?.[1] ?? Number.NaN)
  const receiverId = useWatchState((watchState) => {
    for (const [id, { channels }] of watchState.receivers)
      if (channels.some((channel) => channel.id === channelId)) return id
    return null
  })
  return (
    <>
      <TopBar current={null} />
      <main className="content detail">
        <p>
          <a className="back" href={`${mount}/`}>
            ← {t('channel.back')}
          </a>
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
      <HealthFooter />
    </>
  )
}

function OneChannel({ receiverId, channelId }: { receiverId: number; channelId: number }) {
  const facts = useFacts(receiverId, channelId)
  const channel = useWatchState((watchState) =>
    watchState.receivers.get(receiverId)?.channels.find((channel) => channel.id === channelId),
  )
  const title = facts === null ? '' : t('channel.title', { slot: facts.slot, name: facts.name ?? t('card.noName') })
  useEffect(() => {
    document.title = `${title} – ${t('product')}`
  }, [title])
  if (facts === null || channel === undefined) return null
  return (
    <>
      <h1 className="visually-hidden">{title}</h1>
      <div className="detail-parts">
        <div className="meter-field detail-now">
          <ul className="cards" data-density="roomy" aria-label={t('channel.now')}>
            <ChannelCard {...{ receiverId, channelId }} step="usual" hasChart={true} />
          </ul>
          <MeterLayer order={String(channelId)} />
        </div>
        <History receiverId={receiverId} channelId={channelId} />
        <ChannelDetails facts={facts} channel={channel} />
        <section className="detail-part">
          <h2>{t('channel.qr')}</h2>
          <QrCode address={location.origin + location.pathname} />
        </section>
        <ChannelAlerts receiverId={receiverId} channelId={channelId} />
      </div>
    </>
  )
}

function History({ receiverId, channelId }: { receiverId: number; channelId: number }) {
  const samples = useSessionHistory(receiverId, channelId)
  const first = samples[0]
  return (
    <section className="detail-part detail-wide">
      <h2>{t('channel.history')}</h2>
      <p>
        {first === undefined
          ? t('channel.historyEmpty')
          : t('channel.historySince', { time: formatTime(first.at * 1_000) })}
      </p>
      <HistoryChart samples={samples} series="levels" />
      <HistoryChart samples={samples} series="battery" />
    </section>
  )
}
