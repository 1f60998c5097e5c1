/** Devices that were found and wait for a decision. */

import { queueStatuses } from '../../src/model/discovery.ts'
import type { QueueEntryBody } from '../../src/model/discovery-api.ts'
import { refuseVerdict, type Verdict } from '../../src/model/review.ts'
import { isPage } from '../api.ts'
import { pageSize, usePaged } from '../paged.ts'
import { type BulkAction, BulkActions } from '../parts/bulk-actions.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Pager } from '../parts/pager.tsx'
import { Shell } from '../parts/shell.tsx'
import { type Filter, filterValues, useSearch } from '../query.ts'
import { useReading } from '../reading.ts'
import { useSelection } from '../selection.ts'
import { useMay } from '../session.ts'
import '../styles/queue.css'
import { words } from '../words.ts'
import { useManufacturerFilter, yesOrNo } from './filters.ts'
import { Entry } from './queue-entry.tsx'

const texts = words.queue

const path = '/api/admin/discovery-queue/'
const everyMs = 5_000

export function Queue() {
  const filters = queueFilters(useManufacturerFilter())
  const reading = usePaged<QueueEntryBody>(path, filters, everyMs)
  const waiting = useReading('/api/discovery/pending/?page_size=1', isPage<unknown>, everyMs)
  const [search] = useSearch()
  const isFiltered = Object.keys(filterValues(filters, search)).length > 0
  const reload = async () => {
    await Promise.all([reading.reload(), waiting.reload()])
  }
  return (
    <Shell page="queue" title={texts.title} intro={texts.intro}>
      <FilterBar filters={filters} />
      <p className="count" role="status">
        {waiting.body === null ? null : texts.waiting(waiting.body.count)}
      </p>
      <Loaded reading={reading}>
        {({ results, count }) => (
          <>
            <Decisions entries={results} onDone={reload} />
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

function Decisions({ entries, onDone }: { entries: readonly QueueEntryBody[]; onDone: () => Promise<void> }) {
  const selection = useSelection(entries.map(({ id }) => id))
  const mayReview = useMay('review')
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const isFor = (verdict: Verdict) => (id: number) => {
    const entry = byId.get(id)
    return entry !== undefined && refuseVerdict(entry, verdict) === null
  }
  const undoPath = `${path}reopen`
  const { approve, reject, duplicate, reopen } = texts.actions
  const actions: readonly BulkAction[] = [
    { key: 'approve', ...approve, path: `${path}approve`, isFor: isFor('approve') },
    { key: 'reject', ...reject, path: `${path}reject`, undoPath, isFor: isFor('reject') },
    { key: 'duplicate', ...duplicate, path: `${path}mark-duplicate`, undoPath, isFor: isFor('mark_duplicate') },
    { key: 'reopen', ...reopen, path: undoPath, isFor: isFor('reopen') },
  ]
  return (
    <>
      <BulkActions
        selection={selection}
        actions={actions}
        refusal={mayReview ? null : words.shell.takes(words.shell.roles.admin)}
        onDone={onDone}
      />
      <ul className="entries" aria-label={texts.list}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} selection={selection} />
        ))}
      </ul>
    </>
  )
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
