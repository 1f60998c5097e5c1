import { useState } from 'react'
import { filterValues, queryOf, useSearch } from '../../app/query.ts'
import { useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { FilterBar } from '../../parts/tables/filter-bar.tsx'
import '../../parts/tables/records.css'
import { t } from '../../app/i18n.ts'
import { useManufacturerFilter } from '../filters.ts'
import { GroupBox } from './group-box.tsx'
import { GroupDialog, type GroupQuestion } from './group-dialogs.tsx'

const topics = ['groups'] as const

export function Groups() {
  const filters = [useManufacturerFilter()]
  const [search] = useSearch()
  const values = filterValues(filters, search)
  const resource = useResource(`/api/groups/?${queryOf(filters, values)}`, 'list', topics)
  const mayOperate = useMay('operate')
  const [dialog, setDialog] = useState<GroupQuestion | null>(null)
  return (
    <Shell title={t('groups.title')} intro={t('groups.intro')}>
      <FilterBar filters={filters} />
      <Loaded resource={resource}>
        {(groups) => (
          <>
            <div className="list-actions">
              <button
                type="button"
                className="choice"
                data-tone="usual"
                disabled={!mayOperate}
                onClick={() => setDialog({ kind: 'add' })}
              >
                {t('groups.add')}
              </button>
              {mayOperate ? null : <span className="hint">{t('shell.requires.operator')}</span>}
            </div>
            {groups.length === 0 ? (
              <Empty title={Object.keys(values).length > 0 ? t('groups.noMatch') : t('groups.none')} filters={filters}>
                <p>{t('groups.noneNext')}</p>
              </Empty>
            ) : (
              groups.map((group) => <GroupBox key={group.id} group={group} onAsk={mayOperate ? setDialog : null} />)
            )}
          </>
        )}
      </Loaded>
      {dialog === null ? null : (
        <GroupDialog question={dialog} onDone={resource.reload} onClose={() => setDialog(null)} />
      )}
    </Shell>
  )
}
