/** The audit log. */

import { type AuditAction, auditActions, auditResults } from '../../src/contract/values.ts'
import { t } from '../app/i18n.ts'
import { usePaged } from '../app/paged.ts'
import type { Filter } from '../app/query.ts'
import { Shell } from '../app/shell.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { PagedList } from '../parts/paged-list.tsx'
import { auditColumns } from './audit-columns.tsx'

/** No message announces a change of this list. */
const topics = [] as const
const texts = { none: t('audit.none'), noMatch: t('audit.noMatch') }

/** Groups of actions: those with the same noun. */
const families = [...new Set(auditActions.map(familyOf))].map((family) => ({
  value: family === 'setup' || family === 'undo' ? family : `${family}.`,
  text: t(`audit.families.${family}`),
}))

const filters: readonly Filter[] = [
  { name: 'action', label: t('audit.filters.action'), kind: 'choice', options: families },
  { name: 'actor', label: t('audit.filters.actor'), kind: 'text' },
  {
    name: 'result',
    label: t('audit.filters.result'),
    kind: 'choice',
    options: auditResults.map((value) => ({ value, text: t(`audit.results.${value}`) })),
  },
  { name: 'after', label: t('audit.filters.after'), kind: 'day' },
  { name: 'before', label: t('audit.filters.before'), kind: 'day' },
]

export function Audit() {
  const resource = usePaged('/api/admin/audit/', filters, topics)
  return (
    <Shell title={t('audit.title')} intro={t('audit.intro')}>
      <PagedList {...{ resource, filters, texts }}>
        {(entries) => (
          <DataTable caption={t('audit.list')} columns={auditColumns} rows={entries} idOf={({ id }) => id} />
        )}
      </PagedList>
    </Shell>
  )
}

type Family = AuditAction extends infer Action ? (Action extends `${infer Noun}.${string}` ? Noun : Action) : never

function familyOf(action: AuditAction): Family {
  return action.split('.')[0] as Family
}
