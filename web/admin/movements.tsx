/** Changes of a receiver's address or location. By default, only those that have not been acknowledged are listed. */

import type { MovementBody } from '../../src/contract/resources/review.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePaged } from '../app/paged.ts'
import type { Filter } from '../app/query.ts'
import { useMay } from '../app/session.ts'
import { Shell } from '../app/shell.tsx'
import type { BulkAction } from '../parts/bulk-actions.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { PagedList } from '../parts/paged-list.tsx'
import { useManufacturerFilter, yesOrNo } from './filters.ts'
import { movementColumns } from './movement-columns.tsx'

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
