import type { ConnectionBody } from '../../../src/contract/connections.ts'
import { type ConnectionStatus, connectionStatuses } from '../../../src/contract/values.ts'
import { usePaged } from '../../app/paged.ts'
import type { Filter } from '../../app/query.ts'
import { useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import type { BulkAction } from '../../parts/tables/bulk-actions.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { PagedList } from '../../parts/tables/paged-list.tsx'
import './equipment.css'
import { Link } from '@tanstack/react-router'
import { useWatchState } from '../../app/context.ts'
import { formatDuration, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Ago } from '../../parts/age.tsx'
import { ManufacturerName } from '../../parts/equipment/manufacturer-names.tsx'
import { useManufacturerFilter } from '../filters.ts'

const path = '/api/admin/realtime-connections/'
const topics = ['status_update', 'source', 'receiver'] as const
const texts = { none: t('connections.none'), noMatch: t('connections.noMatch'), noneNext: t('connections.noneNext') }

const status: Filter = {
  name: 'status',
  label: t('connections.filters.status'),
  kind: 'choice',
  options: connectionStatuses.map((value) => ({ value, text: t(`connections.statuses.${value}`) })),
}

export function Connections() {
  const filters = [status, useManufacturerFilter()]
  const mayReview = useMay('review')
  const refusal = mayReview ? null : t('shell.requires.admin')
  const resource = usePaged(path, filters, topics)
  return (
    <Shell title={t('connections.title')} intro={t('connections.intro')}>
      <PagedList {...{ resource, filters, texts }} count={<Down />} actions={{ actionsFor: stopAndStart, refusal }}>
        {(connections, selection) => (
          <DataTable
            caption={t('connections.list')}
            columns={connectionColumns}
            rows={connections}
            idOf={({ id }) => id}
            nameOf={(item) => t('connections.name', { id: item.id, receiver: receiverOf(item) })}
            selection={selection}
          />
        )}
      </PagedList>
      <Legend />
    </Shell>
  )
}

function stopAndStart(connections: readonly ConnectionBody[]): readonly BulkAction[] {
  const stopped = new Set(connections.filter((connection) => connection.status === 'stopped').map(({ id }) => id))
  const [stopPath, startPath] = [`${path}stop`, `${path}start`] as const
  return [
    { ...textsOf('stop'), path: stopPath, undoPath: startPath, isFor: (id) => !stopped.has(id) },
    { ...textsOf('start'), path: startPath, undoPath: stopPath, isFor: (id) => stopped.has(id) },
  ]
}

/** Always visible, because touch devices show no tooltips. */
function Legend() {
  return (
    <dl className="legend" aria-label={t('connections.legend')}>
      {connectionStatuses.map((connectionStatuse) => (
        <div key={connectionStatuse}>
          <dt>{t(`connections.statuses.${connectionStatuse}`)}</dt>
          <dd>{t(`connections.descriptions.${connectionStatuse}`)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Independent of the filters. */
function Down() {
  const failing = useResource(`${path}?status=error&page_size=1`, 'page', topics).body
  const lost = useResource(`${path}?status=disconnected&page_size=1`, 'page', topics).body
  return (
    <p className="count" role="status">
      {failing === null || lost === null ? null : t('connections.down', { count: failing.count + lost.count })}
    </p>
  )
}

function textsOf(key: 'stop' | 'start') {
  return {
    key,
    text: t(`connections.${key}.text`),
    question: (count: number) => t(`connections.${key}.question`, { count }),
    consequence: t(`connections.${key}.consequence`),
  }
}

export const connectionColumns: readonly Column<ConnectionBody>[] = [
  { key: 'receiver', title: t('connections.columns.receiver'), cell: (row) => <Receiver connection={row} /> },
  { key: 'status', title: t('connections.columns.status'), cell: (row) => <Status connection={row} /> },
  { key: 'since', title: t('connections.columns.since'), cell: (row) => <Ago at={sinceOf(row)} /> },
  { key: 'duration', title: t('connections.columns.duration'), align: 'end', cell: (row) => durationOf(row) },
  {
    key: 'message',
    title: t('connections.columns.message'),
    cell: ({ last_message_at }) => <Ago at={last_message_at} />,
  },
  { key: 'errors', title: t('connections.columns.errors'), align: 'end', cell: ({ error_count }) => error_count },
  {
    key: 'attempts',
    title: t('connections.columns.attempts'),
    align: 'end',
    cell: ({ reconnect_attempts: tries }) => tries,
  },
  {
    key: 'error',
    title: t('connections.columns.error'),
    cell: ({ error_message }) => (error_message === null ? t('parts.unknown') : <bdi>{plainText(error_message)}</bdi>),
  },
]

export function receiverOf({ receiver, receiver_name, manufacturer }: ConnectionBody): string {
  if (receiver === null) return manufacturer
  return plainText(receiver_name ?? '') || t('connections.unnamed')
}

function sinceOf({ status, connected_at, disconnected_at }: ConnectionBody): string | null {
  return status === 'connected' ? connected_at : (disconnected_at ?? connected_at)
}

function durationOf({ duration_seconds: seconds }: ConnectionBody): string {
  return seconds === null ? t('parts.unknown') : formatDuration(seconds * 1000)
}

function Receiver({ connection }: { connection: ConnectionBody }) {
  return (
    <span className="stacked">
      {connection.receiver === null ? (
        <bdi>{receiverOf(connection)}</bdi>
      ) : (
        <Link to="/receivers/$id" params={{ id: String(connection.receiver) }}>
          <bdi>{receiverOf(connection)}</bdi>
        </Link>
      )}
      <small>
        <ManufacturerName code={connection.manufacturer} /> · {t(`connections.transports.${connection.transport}`)}
      </small>
    </span>
  )
}

const tones = { connected: 'good', connecting: 'waiting', disconnected: 'bad', error: 'bad', stopped: 'calm' } as const

/** The connection of a system stays open while one of its receivers is offline. */
function Status({ connection: { status, receiver } }: { connection: Pick<ConnectionBody, 'status' | 'receiver'> }) {
  const isOffline = useWatchState(({ receivers }) => receivers.get(receiver ?? 0)?.is_active === false)
  if (isOffline && status === 'connected') {
    return (
      <span>
        <span className="tag" data-tone="bad">
          {t('states.receiver_offline')}
        </span>
      </span>
    )
  }
  return (
    <span>
      <span
        className="tag"
        data-tone={tones[status satisfies ConnectionStatus]}
        title={t(`connections.descriptions.${status}`)}
      >
        {t(`connections.statuses.${status}`)}
      </span>
    </span>
  )
}
