/** Real-time links to receivers: how each fares, stopped and started by hand. */

import { type ConnectionBody, connectionStatuses } from '../../src/model/connection.ts'
import { isPage } from '../api.ts'
import type { BulkAction } from '../parts/bulk-actions.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Shell } from '../parts/shell.tsx'
import type { Filter } from '../query.ts'
import { useReading } from '../reading.ts'
import { useMay } from '../session.ts'
import { PagedList } from './paged-list.tsx'
import '../styles/connections.css'
import { t } from '../i18n.ts'
import { connectionColumns, receiverOf } from './connection-columns.tsx'
import { useManufacturerFilter } from './filters.ts'

const path = '/api/admin/realtime-connections/'
const everyMs = 3_000
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
  return (
    <Shell page="connections" title={t('connections.title')} intro={t('connections.intro')}>
      <PagedList<ConnectionBody>
        {...{ path, everyMs, filters, texts }}
        count={<Down />}
        deeds={{ actionsFor: stopAndStart, refusal }}
      >
        {(connections, selection) => (
          <DataTable
            caption={t('connections.list')}
            columns={connectionColumns}
            rows={connections}
            idOf={({ id }) => id}
            nameOf={(one) => t('connections.name', { id: one.id, receiver: receiverOf(one) })}
            selection={selection}
          />
        )}
      </PagedList>
      <Legend />
    </Shell>
  )
}

function stopAndStart(connections: readonly ConnectionBody[]): readonly BulkAction[] {
  const stopped = new Set(connections.filter((one) => one.status === 'stopped').map(({ id }) => id))
  const [stopPath, startPath] = [`${path}stop`, `${path}start`]
  return [
    { ...textsOf('stop'), path: stopPath, undoPath: startPath, isFor: (id) => !stopped.has(id) },
    { ...textsOf('start'), path: startPath, undoPath: stopPath, isFor: (id) => stopped.has(id) },
  ]
}

/** Always there to be read: a state that is only told on hovering is not told to a finger. */
function Legend() {
  return (
    <dl className="legend" aria-label={t('connections.legend')}>
      {connectionStatuses.map((one) => (
        <div key={one}>
          <dt>{t(`connections.statuses.${one}`)}</dt>
          <dd>{t(`connections.descriptions.${one}`)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** How many want attention, whatever the filters show. */
function Down() {
  const failing = useReading(`${path}?status=error&page_size=1`, isPage<unknown>, everyMs).body
  const lost = useReading(`${path}?status=disconnected&page_size=1`, isPage<unknown>, everyMs).body
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
