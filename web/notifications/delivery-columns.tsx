/** Columns of the list of deliveries. */

import type { AlertBody } from '../../src/contract/resources/alerts.ts'
import type {
  NotificationChannelBody,
  NotificationDeliveryBody,
  NotificationRuleBody,
} from '../../src/contract/resources/notifications.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Column } from '../parts/data-table.tsx'
import { DeliveredAlerts } from './delivered-alerts.tsx'
import { DeliveryResult } from './delivery-result.tsx'

type Delivery = NotificationDeliveryBody

interface ColumnOptions {
  readonly channels: readonly NotificationChannelBody[]
  readonly rules: readonly NotificationRuleBody[]
  readonly alerts: ReadonlyMap<number, AlertBody>
}

export function deliveryColumns({ channels, rules, alerts }: ColumnOptions): readonly Column<Delivery>[] {
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
        <bdi>{plainText(nameIn(channels, id) ?? t('notifications.deletedChannel'))}</bdi>
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
