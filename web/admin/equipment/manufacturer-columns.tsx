import type { ManufacturerBody } from '../../../src/contract/manufacturers.ts'
import { fieldValue, isChecked } from '../../../src/domain/equipment/manufacturer-config.ts'
import { formatDuration, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { displayName } from '../../parts/equipment/manufacturer-names.tsx'
import { listDeviceErrors, listErrors, statusText, useShownStatus } from '../../parts/equipment/source-status.ts'
import type { Column } from '../../parts/tables/data-table.tsx'

export interface ManufacturerActions {
  edit(record: ManufacturerBody): void
  test(record: ManufacturerBody): void
  toggle(record: ManufacturerBody): void
  remove(record: ManufacturerBody): void
}

export function manufacturerColumns(actions: ManufacturerActions | null): readonly Column<ManufacturerBody>[] {
  return [
    {
      key: 'name',
      title: t('manufacturers.columns.name'),
      sortBy: ({ name }) => name,
      cell: (row) => <Named record={row} />,
    },
    {
      key: 'status',
      title: t('manufacturers.columns.status'),
      sortBy: ({ status }) => status,
      cell: (row) => <Status record={row} />,
    },
    { key: 'addresses', title: t('manufacturers.columns.addresses'), cell: (row) => <Addresses record={row} /> },
    { key: 'interval', title: t('manufacturers.columns.interval'), cell: ({ config }) => intervalOf(config) },
    {
      key: 'enabled',
      title: t('manufacturers.columns.enabled'),
      sortBy: isEnabled,
      cell: (row) => <Switch record={row} onToggle={actions?.toggle} />,
    },
    ...(actions === null
      ? []
      : [
          {
            key: 'actions',
            title: t('manufacturers.columns.actions'),
            cell: (row: ManufacturerBody) => <RowActions record={row} actions={actions} />,
          },
        ]),
  ]
}

export function isEnabled({ api_enabled, config }: ManufacturerBody): boolean {
  return api_enabled && config.enabled !== false
}

function intervalOf(config: ManufacturerBody['config']): string {
  const seconds = fieldValue(config, 'poll_interval')
  return seconds === '' ? t('manufacturers.inherited') : formatDuration(Number(seconds) * 1000)
}

function Named({ record }: { record: ManufacturerBody }) {
  const { code, plugin } = record
  return (
    <span className="stacked">
      <bdi>{displayName(record)}</bdi>
      <small>{code === plugin ? code : `${code} · ${plugin}`}</small>
    </span>
  )
}

const tones = {
  healthy: 'good',
  unknown: 'calm',
  degraded: 'waiting',
  unhealthy: 'bad',
  disabled: 'calm',
  unconfigured: 'calm',
  reported: 'calm',
} as const

function Status({ record }: { record: ManufacturerBody }) {
  const { secrets_unreadable } = record
  const status = useShownStatus(record)
  return (
    <span className="stacked">
      <span>
        <span className="tag" data-tone={tones[status]}>
          {statusText(status)}
        </span>
      </span>
      {[...listErrors(record), ...listDeviceErrors(record)].map((sentence) => (
        <small key={sentence}>
          <bdi>{plainText(sentence)}</bdi>
        </small>
      ))}
      {secrets_unreadable ? <small>{t('manufacturers.unreadable')}</small> : null}
    </span>
  )
}

function Addresses({ record: { config } }: { record: ManufacturerBody }) {
  const addresses = [fieldValue(config, 'api_base_url'), ...fieldValue(config, 'devices').split('\n')]
  const shown = addresses.filter((address) => address !== '')
  const isUnverified = !isChecked(config, 'ssl_verify') && shown.some((item) => item.startsWith('https:'))
  return (
    <span className="stacked">
      {shown.length === 0 ? t('parts.unknown') : null}
      {shown.map((address) => (
        <bdi key={address}>{plainText(address)}</bdi>
      ))}
      {isUnverified ? (
        <span>
          <span className="tag" data-tone="waiting" title={t('manufacturers.verifyOff')}>
            {t('manufacturers.notVerified')}
          </span>
        </span>
      ) : null}
    </span>
  )
}

function Switch({
  record,
  onToggle,
}: {
  record: ManufacturerBody
  onToggle: ManufacturerActions['toggle'] | undefined
}) {
  const isChecked = isEnabled(record)
  if (onToggle === undefined) return isChecked ? t('parts.filters.yes') : t('parts.filters.no')
  return (
    <label className="tick">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={() => onToggle(record)}
        aria-label={t('manufacturers.enable.text', { name: displayName(record) })}
      />
      <span aria-hidden="true">{isChecked ? t('parts.filters.yes') : t('parts.filters.no')}</span>
    </label>
  )
}

function RowActions({ record, actions }: { record: ManufacturerBody; actions: ManufacturerActions }) {
  const name = displayName(record)
  return (
    <span className="row-actions">
      <button
        type="button"
        className="choice"
        aria-label={t('manufacturers.test.of', { name })}
        onClick={() => actions.test(record)}
      >
        {t('manufacturers.test.text')}
      </button>
      <button
        type="button"
        className="choice"
        aria-label={t('manufacturers.editOf', { name })}
        onClick={() => actions.edit(record)}
      >
        {t('manufacturers.edit')}
      </button>
      <button
        type="button"
        className="choice"
        aria-label={t('manufacturers.removal.of', { name })}
        onClick={() => actions.remove(record)}
      >
        {t('manufacturers.removal.text')}
      </button>
    </span>
  )
}
