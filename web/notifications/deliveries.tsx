import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { AlertBody } from '../../src/contract/alerts.ts'
import type {
  NotificationChannelBody,
  NotificationDeliveryBody,
  NotificationRuleBody,
} from '../../src/contract/notifications.ts'
import { deliveryStatuses } from '../../src/contract/values.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useWatchState } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePaged } from '../app/paged.ts'
import type { Filter } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { alertLine } from '../parts/alerts/alert-text.ts'
import { rangeAround } from '../parts/channels/channel-range.ts'
import { deliveriesPath, notificationTopics, notifiersPath, rulesPath } from '../parts/notifiers.ts'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import { PagedList } from '../parts/tables/paged-list.tsx'
import { DeliveryResult } from './delivery-result.tsx'

const texts = {
  none: t('notifications.deliveries.none'),
  noneNext: t('notifications.deliveries.noneNext'),
  noMatch: t('notifications.deliveries.noMatch'),
}

const statusFilter: Filter = {
  ...{ name: 'status', label: t('notifications.columns.result'), kind: 'choice' },
  options: deliveryStatuses.map((value) => ({ value, text: t(`notifications.statuses.${value}`) })),
}

export function Deliveries() {
  const notifiers = useResource(notifiersPath, 'list', notificationTopics).body
  const rules = useResource(rulesPath, 'list', notificationTopics).body
  const options = (notifiers ?? []).map(({ id, name }) => ({ value: String(id), text: plainText(name) }))
  // While the notifiers are loading, the one in the URL is an option.
  const requested = new URLSearchParams(location.search).get('channel_id')
  if (notifiers === null && requested !== null) options.push({ value: requested, text: '' })
  const notifierFilter: Filter = {
    ...{ name: 'channel_id', label: t('notifications.columns.channel'), kind: 'choice' },
    options,
  }
  const filters = [statusFilter, notifierFilter]
  const resource = usePaged(deliveriesPath, filters, notificationTopics)
  const alerts = useAlertsOf(resource.body?.results ?? [])
  const columns = deliveryColumns({ notifiers: notifiers ?? [], rules: rules ?? [], alerts })
  return (
    <PagedList {...{ resource, filters, texts }}>
      {(deliveries) => (
        <DataTable
          caption={t('notifications.tabs.deliveries')}
          columns={columns}
          rows={deliveries}
          idOf={({ id }) => id}
        />
      )}
    </PagedList>
  )
}

type Delivery = NotificationDeliveryBody

interface ColumnOptions {
  readonly notifiers: readonly NotificationChannelBody[]
  readonly rules: readonly NotificationRuleBody[]
  readonly alerts: ReadonlyMap<number, AlertBody>
}

function deliveryColumns({ notifiers, rules, alerts }: ColumnOptions): readonly Column<Delivery>[] {
  return [
    {
      key: 'created_at',
      title: t('notifications.columns.queued'),
      cell: ({ created_at }) => <time dateTime={created_at}>{formatMoment(created_at)}</time>,
    },
    {
      key: 'channel',
      title: t('notifications.columns.channel'),
      cell: ({ notification_channel_id: id }) => (
        <bdi>{plainText(nameIn(notifiers, id) ?? t('notifications.deletedChannel'))}</bdi>
      ),
    },
    {
      key: 'type',
      title: t('notifications.columns.reason'),
      cell: ({ type, rule_id }) => <Reason type={type} rule={nameIn(rules, rule_id)} />,
    },
    {
      key: 'alerts',
      title: t('notifications.columns.alerts'),
      cell: ({ alert_ids }) => <DeliveredAlerts ids={alert_ids} alerts={alerts} />,
    },
    {
      key: 'status',
      title: t('notifications.columns.result'),
      cell: (delivery) => <DeliveryResult delivery={delivery} />,
    },
  ]
}

function Reason({ type, rule }: { type: Delivery['type']; rule: string | null }) {
  const keys = {
    'alert.raised': 'raised',
    'alert.repeated': 'repeated',
    'alert.escalated': 'escalated',
    'alert.cleared': 'cleared',
    test: 'test',
  } as const
  return (
    <span className="stacked">
      {t(`notifications.types.${keys[type]}`)}
      {rule === null ? null : (
        <small>
          <bdi>{plainText(rule)}</bdi>
        </small>
      )}
    </span>
  )
}

function nameIn(records: readonly { readonly id: number; readonly name: string }[], id: number | null): string | null {
  return records.find((record) => record.id === id)?.name ?? null
}

/** Newest first. */
const maxAlerts = 200
/** More alerts are shown on request. */
const maxShown = 3

function useAlertsOf(deliveries: readonly NotificationDeliveryBody[]): ReadonlyMap<number, AlertBody> {
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

function DeliveredAlerts({ ids, alerts }: DeliveredAlertsProps) {
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
