/** Who did what. */

import { auditResults } from '../../src/model/access.ts'
import type { AuditBody } from '../../src/model/people.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Shell } from '../parts/shell.tsx'
import type { Filter } from '../query.ts'
import { words } from '../words.ts'
import { auditColumns } from './audit-columns.tsx'
import { PagedList } from './paged-list.tsx'

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
  return (
    <Shell page="audit" title={texts.title} intro={texts.intro}>
      <PagedList<AuditBody> path="/api/admin/audit/" {...{ everyMs, filters, texts }}>
        {(entries) => <DataTable caption={texts.list} columns={auditColumns} rows={entries} idOf={({ id }) => id} />}
      </PagedList>
    </Shell>
  )
}
