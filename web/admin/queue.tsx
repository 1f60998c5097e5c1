/** Devices that were found and wait for a decision. */

import { queueStatuses } from '../../src/model/discovery.ts'
import type { QueueEntryBody } from '../../src/model/discovery-api.ts'
import { type ReviewAction, reviewError } from '../../src/model/review.ts'
import { isPage } from '../api.ts'
import type { BulkAction } from '../parts/bulk-actions.tsx'
import { Shell } from '../parts/shell.tsx'
import type { Filter } from '../query.ts'
import { useReading } from '../reading.ts'
import { useMay } from '../session.ts'
import { PagedList } from './paged-list.tsx'
import '../styles/queue.css'
import { words } from '../words.ts'
import { useManufacturerFilter, yesOrNo } from './filters.ts'
import { Entry } from './queue-entry.tsx'

const texts = words.queue

const path = '/api/admin/discovery-queue/'
const everyMs = 5_000

export function Queue() {
  const filters = queueFilters(useManufacturerFilter())
  const waiting = useReading('/api/discovery/pending/?page_size=1', isPage<unknown>, everyMs)
  const mayReview = useMay('review')
  const refusal = mayReview ? null : words.shell.takes(words.shell.roles.admin)
  return (
    <Shell page="queue" title={texts.title} intro={texts.intro}>
      <PagedList<QueueEntryBody>
        {...{ path, everyMs, filters, texts }}
        count={
          <p className="count" role="status">
            {waiting.body === null ? null : texts.waiting(waiting.body.count)}
          </p>
        }
        deeds={{ actionsFor: verdictsOn, refusal, onDone: waiting.reload }}
      >
        {(entries, selection) => (
          <ul className="entries" aria-label={texts.list}>
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
  const isFor = (verdict: ReviewAction) => (id: number) => {
    const entry = byId.get(id)
    return entry !== undefined && reviewError(entry, verdict) === null
  }
  const undoPath = `${path}reopen`
  const { approve, reject, duplicate, reopen } = texts.actions
  return [
    { key: 'approve', ...approve, path: `${path}approve`, isFor: isFor('approve') },
    { key: 'reject', ...reject, path: `${path}reject`, undoPath, isFor: isFor('reject') },
    { key: 'duplicate', ...duplicate, path: `${path}mark-duplicate`, undoPath, isFor: isFor('mark_duplicate') },
    { key: 'reopen', ...reopen, path: undoPath, isFor: isFor('reopen') },
  ]
}

function queueFilters(manufacturer: Filter): readonly Filter[] {
  const { filters } = texts
  return [
    {
      name: 'status',
      label: filters.status,
      kind: 'choice',
      usual: 'pending',
      options: queueStatuses.map((value) => ({ value, text: texts.statuses[value] })),
    },
    manufacturer,
    {
      name: 'device_type',
      label: filters.deviceType,
      kind: 'choice',
      options: (['receiver', 'transmitter'] as const).map((value) => ({ value, text: filters[value] })),
    },
    { name: 'is_duplicate', label: filters.isDuplicate, kind: 'choice', options: yesOrNo },
    { name: 'is_ip_conflict', label: filters.isIpConflict, kind: 'choice', options: yesOrNo },
    { name: 'discovered_after', label: filters.after, kind: 'day' },
    { name: 'discovered_before', label: filters.before, kind: 'day' },
  ]
}
