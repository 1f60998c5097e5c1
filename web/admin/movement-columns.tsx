/** Columns of the movement log. */

import { Link } from '@tanstack/react-router'
import type { MovementBody } from '../../src/contract/resources/review.ts'
import { plainText } from '../app/format.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import './movements.css'
import { t } from '../app/i18n.ts'

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
