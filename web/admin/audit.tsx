/** Who did what. */

import { auditResults } from '../../src/model/access.ts'
import type { AuditBody } from '../../src/model/people.ts'
import { pageSize, usePaged } from '../paged.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Pager } from '../parts/pager.tsx'
import { Shell } from '../parts/shell.tsx'
import { type Filter, filterValues, useSearch } from '../query.ts'
import { words } from '../words.ts'
import { auditColumns } from './audit-columns.tsx'

const texts = words.audit

const everyMs = 10_000

/** What actions begin with. */
const families = Object.entries(texts.families).map(([value, text]) => ({ value, text }))

const filters: readonly Filter[] = [
  { name: 'action', label: texts.filters.action, kind: 'choice', options: families },
  { name: 'actor', label: texts.filters.actor, kind: 'text' },
  {
    name: 'result',
    label: texts.filters.result,
    kind: 'choice',
    options: auditResults.map((value) => ({ value, text: texts.results[value] })),
  },
  { name: 'after', label: texts.filters.after, kind: 'day' },
  { name: 'before', label: texts.filters.before, kind: 'day' },
]

export function Audit() {
  const reading = usePaged<AuditBody>('/api/admin/audit/', filters, everyMs)
  const [search] = useSearch()
  const isFiltered = Object.keys(filterValues(filters, search)).length > 0
  return (
    <Shell page="audit" title={texts.title} intro={texts.intro}>
      <FilterBar filters={filters} />
      <Loaded reading={reading}>
        {({ results, count }) => (
          <>
            {results.length === 0 ? (
              <Empty title={isFiltered ? texts.noMatch : texts.none} filters={filters} />
            ) : (
              <DataTable caption={texts.list} columns={auditColumns} rows={results} idOf={({ id }) => id} />
            )}
            <Pager count={count} shown={results.length} size={pageSize} />
          </>
        )}
      </Loaded>
    </Shell>
  )
}
