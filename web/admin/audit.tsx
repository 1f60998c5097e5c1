/** The audit log. */

import { auditResults } from '../../src/contract/values.ts'
import { t } from '../i18n.ts'
import { usePaged } from '../paged.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Shell } from '../parts/shell.tsx'
import type { Filter } from '../query.ts'
import { auditColumns } from './audit-columns.tsx'
import { PagedList } from './paged-list.tsx'

/** No message announces a change of this list. */
const topics = [] as const
const texts = { none: t('audit.none'), noMatch: t('audit.noMatch') }

/** Groups of actions. Each value is a prefix of the action names, except `setup`, which is a complete name. */
const families = [
  { value: 'session.', text: t('audit.families.session') },
  { value: 'setup', text: t('audit.families.setup') },
  { value: 'user.', text: t('audit.families.user') },
  { value: 'token.', text: t('audit.families.token') },
  { value: 'queue.', text: t('audit.families.queue') },
  { value: 'movement.', text: t('audit.families.movement') },
  { value: 'connection.', text: t('audit.families.connection') },
  { value: 'receiver.', text: t('audit.families.receiver') },
  { value: 'location.', text: t('audit.families.location') },
  { value: 'channel.', text: t('audit.families.channel') },
  { value: 'group.', text: t('audit.families.group') },
  { value: 'performer.', text: t('audit.families.performer') },
  { value: 'assignment.', text: t('audit.families.assignment') },
  { value: 'settings.', text: t('audit.families.settings') },
  { value: 'manufacturer.', text: t('audit.families.manufacturer') },
  { value: 'network.', text: t('audit.families.network') },
  { value: 'store.', text: t('audit.families.store') },
  { value: 'discovery_list.', text: t('audit.families.discovery_list') },
]

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
