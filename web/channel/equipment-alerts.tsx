import { Link } from '@tanstack/react-router'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { AlertItem } from '../parts/alerts/alert-item.tsx'
import { mostUrgentFirst, newestFirst } from '../parts/alerts/alerts.ts'
import { Loaded } from '../parts/loaded.tsx'

const mostCleared = 20
const topics = ['alert'] as const

interface EquipmentAlertsProps {
  readonly receiverId: number
  /** Null for all channels of the receiver. */
  readonly channelId: number | null
}

export function EquipmentAlerts({ receiverId, channelId }: EquipmentAlertsProps) {
  const all = useWatchState((watchState) => watchState.alerts)
  const cleared = useResource(`/api/alerts/?receiver=${receiverId}&state=cleared`, 'list', topics)
  const isOwn = (alert: AlertBody) =>
    alert.receiver_id === receiverId &&
    (channelId === null || alert.channel_id === null || alert.channel_id === channelId)
  const current = all.filter(isOwn).toSorted(mostUrgentFirst)
  return (
    <section className="detail-part detail-alerts">
      <h2>{t('channel.alerts')}</h2>
      {current.length === 0 ? (
        <p>{t(channelId === null ? 'receiver.noAlerts' : 'channel.noAlerts')}</p>
      ) : (
        <Alerts alerts={current} channelId={channelId} />
      )}
      <Loaded resource={cleared}>
        {(body) => {
          const own = body.filter(isOwn).toSorted(newestFirst)
          return own.length === 0 ? null : (
            <details className="detail-more">
              <summary>{t('channel.clearedAlerts', { count: own.length })}</summary>
              <Alerts alerts={own.slice(0, mostCleared)} channelId={channelId} />
              {channelId === null ? null : (
                <p>
                  <Link to={pathOf('alerts')} search={{ state: 'cleared', channel: channelId }}>
                    {t('channel.allAlerts')}
                  </Link>
                </p>
              )}
            </details>
          )
        }}
      </Loaded>
    </section>
  )
}

function Alerts({ alerts, channelId }: { alerts: readonly AlertBody[]; channelId: number | null }) {
  return (
    <ul className="alert-list">
      {alerts.map((alert) => (
        <AlertItem key={alert.id} alert={alert} isAtSubject={channelId !== null && alert.channel_id === channelId} />
      ))}
    </ul>
  )
}
