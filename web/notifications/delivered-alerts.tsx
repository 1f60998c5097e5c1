import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { AlertBody } from '../../src/contract/alerts.ts'
import type { NotificationDeliveryBody } from '../../src/contract/notifications.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { alertLine } from '../parts/alerts/alert-text.ts'
import { rangeAround } from '../parts/channels/channel-range.ts'

/** Newest first. */
const maxAlerts = 200
/** More alerts are shown on request. */
const maxShown = 3

export function useAlertsOf(deliveries: readonly NotificationDeliveryBody[]): ReadonlyMap<number, AlertBody> {
  const open = useWatchState((watchState) => watchState.alerts)
  // A message is never older than its alerts.
  const until = deliveries[0]?.created_at
  const query = until === undefined ? '' : `&to=${encodeURIComponent(until)}`
  const stored = useResource(`/api/alerts/?page_size=${maxAlerts}${query}`, 'page').body?.results
  return useMemo(() => new Map([...(stored ?? []), ...open].map((alert) => [alert.id, alert])), [stored, open])
}

interface DeliveredAlertsProps {
  readonly ids: readonly number[]
  readonly alerts: ReadonlyMap<number, AlertBody>
}

export function DeliveredAlerts({ ids, alerts }: DeliveredAlertsProps) {
  const known = ids.map((id) => alerts.get(id)).filter((alert) => alert !== undefined)
  const unknown = ids.length - known.length
  const further = known.slice(maxShown)
  if (ids.length === 0) return t('parts.unknown')
  return (
    <div className="delivered-alerts">
      <AlertLinks alerts={known.slice(0, maxShown)} />
      {further.length === 0 ? null : (
        <details>
          <summary>{t('notifications.deliveries.further', { count: further.length })}</summary>
          <AlertLinks alerts={further} />
        </details>
      )}
      {unknown === 0 ? null : (
        <Link to={pathOf('alerts')} search={{ state: 'cleared' }}>
          {t('notifications.deliveries.earlier', { count: unknown })}
        </Link>
      )}
    </div>
  )
}

function AlertLinks({ alerts }: { alerts: readonly AlertBody[] }) {
  return (
    <ul>
      {alerts.map((alert) => (
        <li key={alert.id}>
          <AlertLink alert={alert} />
        </li>
      ))}
    </ul>
  )
}

/** Without a channel, links to the alerts. */
function AlertLink({ alert }: { alert: AlertBody }) {
  const { channel_id, raised_at, cleared_at } = alert
  const text = <bdi>{alertLine(alert)}</bdi>
  if (channel_id !== null) {
    return (
      <Link to="/channels/$id" params={{ id: String(channel_id) }} search={rangeAround(Date.parse(raised_at))}>
        {text}
      </Link>
    )
  }
  return (
    <Link to={pathOf('alerts')} search={cleared_at === null ? {} : { state: 'cleared' }}>
      {text}
    </Link>
  )
}
