import type { QueueEntryBody } from '../../../src/contract/discovery.ts'
import { queueStatuses } from '../../../src/contract/values.ts'
import { type ReviewAction, reviewError } from '../../../src/domain/equipment/review.ts'
import { usePaged } from '../../app/paged.ts'
import type { Filter } from '../../app/query.ts'
import { useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import type { BulkAction } from '../../parts/tables/bulk-actions.tsx'
import { PagedList } from '../../parts/tables/paged-list.tsx'
import './queue.css'
import { t } from '../../app/i18n.ts'
import { useManufacturerFilter, yesOrNo } from '../filters.ts'
import { Entry } from './queue-entry.tsx'

const path = '/api/admin/discovery-queue/'
const topics = ['queue', 'discovered'] as const
const texts = { none: t('queue.none'), noMatch: t('queue.noMatch'), noneNext: t('queue.noneNext') }

export function Queue() {
  const filters = queueFilters(useManufacturerFilter())
  const waiting = useResource('/api/discovery/pending/?page_size=1', 'page', topics)
  const mayReview = useMay('review')
  const refusal = mayReview ? null : t('shell.requires.admin')
  const resource = usePaged(path, filters, topics)
  return (
    <Shell title={t('queue.title')} intro={t('queue.intro')}>
      <PagedList
        {...{ resource, filters, texts }}
        count={
          <p className="count" role="status">
            {waiting.body === null ? null : t('queue.waiting', { count: waiting.body.count })}
          </p>
        }
        actions={{ actionsFor: verdictsOn, refusal, onDone: waiting.reload }}
      >
        {(entries, selection) => (
          <ul className="entries" aria-label={t('queue.list')}>
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} selection={selection} />
            ))}
          </ul>
        )}
      </PagedList>
    </Shell>
  )
}

function verdictsOn(entries: readonly QueueEntryBody[]): readonly BulkAction[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const isFor = (action: ReviewAction) => (id: number) => {
    const entry = byId.get(id)
    return entry !== undefined && reviewError(entry, action) === null
  }
  const undoPath = `${path}reopen` as const
  return [
    { ...textsOf('approve'), path: `${path}approve` as const, isFor: isFor('approve') },
    { ...textsOf('reject'), path: `${path}reject` as const, undoPath, isFor: isFor('reject') },
    { ...textsOf('duplicate'), path: `${path}mark-duplicate` as const, undoPath, isFor: isFor('mark_duplicate') },
    { ...textsOf('reopen'), path: undoPath, isFor: isFor('reopen') },
  ]
}

function textsOf(key: 'approve' | 'reject' | 'duplicate' | 'reopen') {
  return {
    key,
    text: t(`queue.actions.${key}.text`),
    question: (count: number) => t(`queue.actions.${key}.question`, { count }),
    consequence: t(`queue.actions.${key}.consequence`),
  }
}

function queueFilters(manufacturer: Filter): readonly Filter[] {
  return [
    {
      name: 'status',
      label: t('queue.filters.status'),
      kind: 'choice',
      usual: 'pending',
      options: queueStatuses.map((value) => ({ value, text: t(`queue.statuses.${value}`) })),
    },
    manufacturer,
    {
      name: 'device_type',
      label: t('queue.filters.deviceType'),
      kind: 'choice',
      options: (['receiver', 'transmitter'] as const).map((value) => ({ value, text: t(`queue.filters.${value}`) })),
    },
    { name: 'is_duplicate', label: t('queue.filters.isDuplicate'), kind: 'choice', options: yesOrNo },
    { name: 'is_ip_conflict', label: t('queue.filters.isIpConflict'), kind: 'choice', options: yesOrNo },
    { name: 'discovered_after', label: t('queue.filters.after'), kind: 'day' },
    { name: 'discovered_before', label: t('queue.filters.before'), kind: 'day' },
  ]
}
