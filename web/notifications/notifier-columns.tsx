import type {
  NotificationChannelBody,
  NotificationDeliveryBody,
  NotificationRuleBody,
} from '../../src/contract/notifications.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Column } from '../parts/tables/data-table.tsx'
import { DeliveryResult } from './delivery-result.tsx'
import { ServiceIcon } from './service-icon.tsx'
import { notifierAddress } from './services.ts'

type Notifier = NotificationChannelBody

export interface NotifierActions {
  test(notifier: Notifier): void
  edit(notifier: Notifier): void
  rotate(notifier: Notifier): void
  subscribe(notifier: Notifier): void
  toggle(notifier: Notifier): void
  remove(notifier: Notifier): void
}

interface ColumnOptions {
  readonly rules: readonly NotificationRuleBody[] | null
  readonly lastDeliveries: ReadonlyMap<number, NotificationDeliveryBody | null>
  /** Null if the user may neither edit notifiers nor see their addresses. */
  readonly actions: NotifierActions | null
}

export function notifierColumns({ rules, lastDeliveries, actions }: ColumnOptions): readonly Column<Notifier>[] {
  return [
    {
      key: 'name',
      title: t('notifications.columns.channel'),
      sortBy: ({ name }) => name,
      cell: (notifier) => <Named notifier={notifier} isWithAddress={actions !== null} />,
    },
    {
      key: 'enabled',
      title: t('notifications.columns.state'),
      sortBy: ({ enabled }) => enabled,
      cell: ({ enabled }) => (
        <span>
          <span className="tag" data-tone={enabled ? 'good' : 'waiting'}>
            {t(enabled ? 'notifications.states.enabled' : 'notifications.states.disabled')}
          </span>
        </span>
      ),
    },
    {
      key: 'last',
      title: t('notifications.columns.last'),
      cell: ({ id }) => <Last delivery={lastDeliveries.get(id)} />,
    },
    {
      key: 'rules',
      title: t('notifications.columns.rules'),
      cell: ({ id }) => (rules === null ? null : <Rules rules={rulesFor(rules, id)} />),
    },
    ...(actions === null
      ? []
      : [
          {
            key: 'actions',
            title: t('notifications.columns.actions'),
            cell: (notifier: Notifier) => <RowActions notifier={notifier} actions={actions} />,
          },
        ]),
  ]
}

export function rulesFor(rules: readonly NotificationRuleBody[], notifierId: number): readonly NotificationRuleBody[] {
  return rules.filter(({ notification_channel_ids, escalate }) =>
    [...notification_channel_ids, ...(escalate?.notification_channel_ids ?? [])].includes(notifierId),
  )
}

function Named({ notifier, isWithAddress }: { notifier: Notifier; isWithAddress: boolean }) {
  const { name, type } = notifier
  const address = isWithAddress ? notifierAddress(notifier) : ''
  return (
    <span className="channel-named">
      <ServiceIcon type={type} />
      <span className="stacked">
        <bdi>{plainText(name)}</bdi>
        <small>
          {t(`notifications.services.${type}.name`)}
          {address === '' ? null : (
            <>
              {' · '}
              <bdi>{plainText(address)}</bdi>
            </>
          )}
        </small>
      </span>
    </span>
  )
}

function Last({ delivery }: { delivery: NotificationDeliveryBody | null | undefined }) {
  if (delivery === undefined) return null
  if (delivery === null) return t('notifications.channels.neverUsed')
  return <DeliveryResult delivery={delivery} isTypeShown={true} />
}

function Rules({ rules }: { rules: readonly NotificationRuleBody[] }) {
  if (rules.length === 0)
    return (
      <span>
        <span className="tag" data-tone="waiting" title={t('notifications.channels.noRuleNext')}>
          {t('notifications.channels.noRule')}
        </span>
      </span>
    )
  return (
    <span className="stacked">
      {rules.map(({ id, name }) => (
        <bdi key={id}>{plainText(name)}</bdi>
      ))}
    </span>
  )
}

function RowActions({ notifier, actions }: { notifier: Notifier; actions: NotifierActions }) {
  const { type, enabled } = notifier
  const name = plainText(notifier.name)
  const buttons = [
    ['test', t('notifications.channels.test'), actions.test],
    ['edit', t('notifications.channels.edit'), actions.edit],
    ...(type === 'webhook' ? [['rotate', t('notifications.channels.rotate'), actions.rotate] as const] : []),
    ...(type === 'ntfy' ? [['subscribe', t('notifications.channels.subscribe'), actions.subscribe] as const] : []),
    ['toggle', t(enabled ? 'notifications.channels.disable' : 'notifications.channels.enable'), actions.toggle],
    ['remove', t('notifications.channels.remove'), actions.remove],
  ] as const
  return (
    <span className="row-actions">
      {buttons.map(([key, text, run]) => (
        <button key={key} type="button" className="choice" onClick={() => run(notifier)}>
          {text}
          <span className="visually-hidden"> {name}</span>
        </button>
      ))}
    </span>
  )
}
