/** Alerts of a channel and its receiver, newest first. */

import type { AlertBody } from '../../src/contract/resources/alerts.ts'
import { t } from '../i18n.ts'
import { useResource } from '../resource.ts'
import { Ago } from './ago.tsx'
import { Loaded } from './loaded.tsx'

const most = 50
const topics = ['alert'] as const

export function ChannelAlerts({ receiverId, channelId }: { receiverId: number; channelId: number }) {
  const resource = useResource(`/api/alerts/?receiver=${receiverId}`, 'list', topics)
  return (
    <section className="detail-part detail-wide">
      <h2>{t('channel.alerts')}</h2>
      <Loaded resource={resource}>
        {(alerts) => {
          const own = alerts.filter((alert) => alert.channel_id === channelId || alert.channel_id === null)
          return own.length === 0 ? (
            <p>{t('channel.noAlerts')}</p>
          ) : (
            <ul className="alerts">
              {own
                .toReversed()
                .slice(0, most)
                .map((alert) => (
                  <AlertItem key={alert.id} alert={alert} />
                ))}
            </ul>
          )
        }}
      </Loaded>
    </section>
  )
}

export function AlertItem({ alert: { state, severity, message, raised_at, cleared_at } }: { alert: AlertBody }) {
  return (
    <li data-severity={state === 'raised' ? severity : 'cleared'}>
      <bdi>{message}</bdi>
      <span className="alert-times">
        {t('channel.raised')} <Ago at={raised_at} />
        {' · '}
        {cleared_at === null ? (
          t('channel.open')
        ) : (
          <>
            {t('channel.cleared')} <Ago at={cleared_at} />
          </>
        )}
      </span>
    </li>
  )
}
