/** Real-time connections to receivers: status, stop and start. */

import type { ConnectionBody } from '../../src/contract/resources/connections.ts'
import { connectionStatuses } from '../../src/contract/values.ts'
import { usePaged } from '../app/paged.ts'
import type { Filter } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Shell } from '../app/shell.tsx'
import type { BulkAction } from '../parts/bulk-actions.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { PagedList } from '../parts/paged-list.tsx'
import './connections.css'
import { t } from '../app/i18n.ts'
import { connectionColumns, receiverOf } from './connection-columns.tsx'
import { useManufacturerFilter } from './filters.ts'

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

/** Explains the statuses. Always visible, because touch devices do not show tooltips. */
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

/** Shows how many connections are down, whatever filters are set. */
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
