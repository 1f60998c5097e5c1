import { Link } from '@tanstack/react-router'
import type { MovementBody } from '../../../src/contract/discovery.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { usePaged } from '../../app/paged.ts'
import type { Filter } from '../../app/query.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Ago } from '../../parts/age.tsx'
import type { BulkAction } from '../../parts/tables/bulk-actions.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { PagedList } from '../../parts/tables/paged-list.tsx'
import { useManufacturerFilter, yesOrNo } from '../filters.ts'
import './equipment.css'

const path = '/api/admin/movements/'
const topics = ['receiver', 'receiver_added', 'slots'] as const
const texts = { none: t('movements.none'), noMatch: t('movements.noMatch'), noneNext: t('movements.noneNext') }

const acknowledged: Filter = {
  name: 'acknowledged',
  label: t('movements.filters.acknowledged'),
  kind: 'choice',
  usual: 'false',
  options: yesOrNo,
}

export function Movements() {
  const filters = [acknowledged, useManufacturerFilter()]
  const mayAcknowledge = useMay('acknowledge')
  const refusal = mayAcknowledge ? null : t('shell.requires.operator')
  const resource = usePaged(path, filters, topics)
  return (
    <Shell title={t('movements.title')} intro={t('movements.intro')}>
      <PagedList {...{ resource, filters, texts }} actions={{ actionsFor: acknowledging, refusal }}>
        {(movements, selection) => (
          <DataTable
            caption={t('movements.list')}
            columns={movementColumns}
            rows={movements}
            idOf={({ id }) => id}
            nameOf={({ id, device }) => t('movements.name', { id, device: plainText(device.name) })}
            selection={selection}
          />
        )}
      </PagedList>
    </Shell>
  )
}

function acknowledging(movements: readonly MovementBody[]): readonly BulkAction[] {
  const waiting = movements.filter((movement) => !movement.acknowledged).map(({ id }) => id)
  const shared = {
    text: t('movements.acknowledge.text'),
    question: (count: number) => t('movements.acknowledge.question', { count }),
    consequence: t('movements.acknowledge.consequence'),
    path: `${path}acknowledge` as const,
  }
  return [
    { ...shared, key: 'selected', isFor: (id) => waiting.includes(id) },
    { ...shared, text: t('movements.acknowledgeAll.text'), key: 'all', ids: waiting },
  ]
}

export const movementColumns: readonly Column<MovementBody>[] = [
  { key: 'device', title: t('movements.columns.device'), cell: ({ device }) => <Device device={device} /> },
  { key: 'change', title: t('movements.columns.change'), cell: (movement) => <Changes movement={movement} /> },
  { key: 'times', title: t('movements.columns.count'), align: 'end', cell: ({ times_seen }) => times_seen },
  {
    key: 'detected',
    title: t('movements.columns.detected'),
    cell: ({ detected_at, detected_by }) => (
      <span>
        <Ago at={detected_at} /> {t(`movements.detectedBy.${detected_by}`)}
      </span>
    ),
  },
  {
    key: 'reason',
    title: t('movements.columns.reason'),
    cell: ({ reason }) => (reason === '' ? t('parts.unknown') : <bdi>{plainText(reason)}</bdi>),
  },
  {
    key: 'acknowledged',
    title: t('movements.columns.acknowledged'),
    cell: (movement) => <Acknowledged movement={movement} />,
  },
]

function Device({ device }: Pick<MovementBody, 'device'>) {
  return (
    <span className="stacked">
      <Link to="/receivers/$id" params={{ id: String(device.id) }}>
        <bdi>{plainText(device.name)}</bdi>
      </Link>
      <small>{plainText(device.serial_number ?? '')}</small>
    </span>
  )
}

function Changes({ movement }: { movement: MovementBody }) {
  const { movement_type, old_ip, new_ip, old_location, new_location } = movement
  return (
    <span className="stacked">
      {movement_type === 'location_only' ? null : (
        <Change what={t('movements.address')} before={old_ip} after={new_ip} />
      )}
      {movement_type === 'ip_only' ? null : (
        <Change what={t('movements.location')} before={old_location?.name} after={new_location?.name} />
      )}
    </span>
  )
}

interface ChangeProps {
  readonly what: string
  readonly before: string | null | undefined
  readonly after: string | null | undefined
}

function Change({ what, before, after }: ChangeProps) {
  return (
    <span>
      <span className="visually-hidden">{what} </span>
      <bdi>{plainText(before ?? '') || t('movements.noLocation')}</bdi> <span aria-hidden="true">→</span>
      <span className="visually-hidden"> {t('movements.changedTo')} </span>{' '}
      <bdi className="after">{plainText(after ?? '') || t('movements.noLocation')}</bdi>
    </span>
  )
}

function Acknowledged({ movement: { acknowledged, acknowledged_by } }: { movement: MovementBody }) {
  if (!acknowledged) {
    return (
      <span>
        <span className="tag" data-tone="waiting">
          {t('movements.notYet')}
        </span>
      </span>
    )
  }
  return <bdi>{t('movements.by', { name: plainText(acknowledged_by ?? t('parts.unknown')) })}</bdi>
}
