/** Receivers that were found at another address or place, until somebody has taken note. */

import type { MovementBody } from '../../src/model/discovery-api.ts'
import { plainText } from '../format.ts'
import type { BulkAction } from '../parts/bulk-actions.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Shell } from '../parts/shell.tsx'
import type { Filter } from '../query.ts'
import { useMay } from '../session.ts'
import { words } from '../words.ts'
import { useManufacturerFilter, yesOrNo } from './filters.ts'
import { movementColumns } from './movement-columns.tsx'
import { PagedList } from './paged-list.tsx'

const texts = words.movements

const path = '/api/admin/movements/'
const everyMs = 5_000

const acknowledged: Filter = {
  name: 'acknowledged',
  label: texts.filters.acknowledged,
  kind: 'choice',
  usual: 'false',
  options: yesOrNo,
}

export function Movements() {
  const filters = [acknowledged, useManufacturerFilter()]
  const mayAcknowledge = useMay('acknowledge')
  const refusal = mayAcknowledge ? null : words.shell.takes(words.shell.roles.operator)
  return (
    <Shell page="movements" title={texts.title} intro={texts.intro}>
      <PagedList<MovementBody> {...{ path, everyMs, filters, texts }} deeds={{ actionsFor: acknowledging, refusal }}>
        {(movements, selection) => (
          <DataTable
            caption={texts.list}
            columns={movementColumns}
            rows={movements}
            idOf={({ id }) => id}
            nameOf={({ id, device }) => texts.name(id, plainText(device.name))}
            selection={selection}
          />
        )}
      </PagedList>
    </Shell>
  )
}

function acknowledging(movements: readonly MovementBody[]): readonly BulkAction[] {
  const waiting = movements.filter((one) => !one.acknowledged).map(({ id }) => id)
  const shared = { ...texts.acknowledge, path: `${path}acknowledge` }
  return [
    { ...shared, key: 'selected', isFor: (id) => waiting.includes(id) },
    { ...shared, ...texts.acknowledgeAll, key: 'all', ids: waiting },
  ]
}
