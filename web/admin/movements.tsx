/** Receivers that were found at another address or place, until somebody has taken note. */

import type { MovementBody } from '../../src/model/discovery-api.ts'
import { plainText } from '../format.ts'
import { pageSize, usePaged } from '../paged.ts'
import { type BulkAction, BulkActions } from '../parts/bulk-actions.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Pager } from '../parts/pager.tsx'
import { Shell } from '../parts/shell.tsx'
import { type Filter, filterValues, useSearch } from '../query.ts'
import { useSelection } from '../selection.ts'
import { useMay } from '../session.ts'
import { words } from '../words.ts'
import { useManufacturerFilter, yesOrNo } from './filters.ts'
import { movementColumns } from './movement-columns.tsx'

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
  const reading = usePaged<MovementBody>(path, filters, everyMs)
  const [search] = useSearch()
  const isFiltered = Object.keys(filterValues(filters, search)).length > 0
  return (
    <Shell page="movements" title={texts.title} intro={texts.intro}>
      <FilterBar filters={filters} />
      <Loaded reading={reading}>
        {({ results, count }) => (
          <>
            <Log movements={results} onDone={reading.reload} />
            {results.length > 0 ? null : (
              <Empty title={isFiltered ? texts.noMatch : texts.none} filters={filters}>
                <p>{texts.noneNext}</p>
              </Empty>
            )}
            <Pager count={count} shown={results.length} size={pageSize} />
          </>
        )}
      </Loaded>
    </Shell>
  )
}

function Log({ movements, onDone }: { movements: readonly MovementBody[]; onDone: () => Promise<void> }) {
  const selection = useSelection(movements.map(({ id }) => id))
  const mayAcknowledge = useMay('acknowledge')
  const waiting = movements.filter((one) => !one.acknowledged).map(({ id }) => id)
  const shared = { ...texts.acknowledge, path: `${path}acknowledge` }
  const actions: readonly BulkAction[] = [
    { ...shared, key: 'selected', isFor: (id) => waiting.includes(id) },
    { ...shared, ...texts.acknowledgeAll, key: 'all', ids: waiting },
  ]
  return (
    <>
      <BulkActions
        selection={selection}
        actions={actions}
        refusal={mayAcknowledge ? null : words.shell.takes(words.shell.roles.operator)}
        onDone={onDone}
      />
      {movements.length === 0 ? null : (
        <DataTable
          caption={texts.list}
          columns={movementColumns}
          rows={movements}
          idOf={({ id }) => id}
          nameOf={({ id, device }) => texts.name(id, plainText(device.name))}
          selection={selection}
        />
      )}
    </>
  )
}
