/** Settings that can be changed at run time, for all manufacturers or for one. */

import { useState } from 'react'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Shell } from '../parts/shell.tsx'
import { filterValues, queryOf, useSearch } from '../query.ts'
import { useResource } from '../resource.ts'
import { useMay } from '../session.ts'
import '../styles/records.css'
import { t } from '../i18n.ts'
import { useManufacturerFilter } from './filters.ts'
import { settingColumns } from './setting-columns.tsx'
import { SettingDialog, type SettingQuestion } from './setting-dialogs.tsx'
import { rowsOf, scopeName } from './setting-row.ts'

const topics = ['settings'] as const

export function SettingsPage() {
  const filters = [useManufacturerFilter()]
  const [search] = useSearch()
  const query = queryOf(filters, filterValues(filters, search))
  const resource = useResource(`/api/admin/settings/?${query}`, 'list', topics)
  const mayEdit = useMay('configure')
  const mayReset = useMay('administer')
  const [dialog, setDialog] = useState<SettingQuestion | null>(null)
  return (
    <Shell page="settings" title={t('settings.title')} intro={t('settings.intro')}>
      <FilterBar filters={filters} />
      {mayEdit ? null : <p className="hint">{t('shell.requires.admin')}</p>}
      <Loaded resource={resource}>
        {(scopes) =>
          scopes.length === 0 ? (
            <Empty title={t('settings.none')} filters={filters} />
          ) : (
            scopes.map((scope) => (
              <section key={scope.manufacturer} className="scope">
                <h2>{scopeName(scope.manufacturer)}</h2>
                <DataTable
                  caption={t('settings.caption', { scope: scopeName(scope.manufacturer) })}
                  columns={settingColumns(mayEdit ? setDialog : null, mayReset)}
                  rows={rowsOf(scope)}
                  idOf={({ key }) => key}
                />
              </section>
            ))
          )
        }
      </Loaded>
      {dialog === null ? null : (
        <SettingDialog question={dialog} onDone={resource.reload} onClose={() => setDialog(null)} />
      )}
    </Shell>
  )
}
