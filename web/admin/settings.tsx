/** Settings that can be changed at run time, for all manufacturers, for one, or for a group. */

import { useId, useState } from 'react'
import type { SettingsBody } from '../../src/contract/resources/settings.ts'
import type { SettingScope } from '../../src/domain/settings.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Shell } from '../parts/shell.tsx'
import { useSearch } from '../query.ts'
import { useResource } from '../resource.ts'
import { useMay } from '../session.ts'
import '../styles/list.css'
import '../styles/records.css'
import { t } from '../i18n.ts'
import { settingColumns } from './setting-columns.tsx'
import { SettingDialog, type SettingQuestion } from './setting-dialogs.tsx'
import { rowsOf, scopeKey, settingSubjects } from './setting-row.ts'

const topics = ['settings', 'groups'] as const

export function SettingsPage() {
  const [search] = useSearch()
  const resource = useResource('/api/admin/settings/', 'list', topics)
  const nameOf = useScopeNames()
  const mayEdit = useMay('configure')
  const [dialog, setDialog] = useState<SettingQuestion | null>(null)
  const selected = new URLSearchParams(search).get('scope') ?? ''
  return (
    <Shell title={t('settings.title')} intro={t('settings.intro')}>
      {mayEdit ? null : <p className="hint">{t('shell.requires.admin')}</p>}
      <Loaded resource={resource}>
        {(scopes) => (
          <>
            <ScopeFilter {...{ scopes, selected, nameOf }} />
            {scopes
              .filter((scope) => scopeKey(scope) === selected)
              .map((scope) => (
                <Tables key={selected} scope={scope} name={nameOf(scope)} onAsk={mayEdit ? setDialog : null} />
              ))}
          </>
        )}
      </Loaded>
      {dialog === null ? null : (
        <SettingDialog question={dialog} onDone={resource.reload} onClose={() => setDialog(null)} />
      )}
    </Shell>
  )
}

/** Returns a function that returns the name of a scope. */
function useScopeNames(): (scope: SettingScope) => string {
  const { body: groups } = useResource('/api/groups/', 'list', topics)
  return ({ manufacturer, group }) => {
    if (group !== null) {
      const title = groups?.find(({ id }) => id === group)?.title ?? String(group)
      return t('settings.oneGroup', { title })
    }
    return manufacturer === null
      ? t('settings.allManufacturers')
      : t('settings.oneManufacturer', { code: manufacturer })
  }
}

interface ScopeFilterProps {
  readonly scopes: readonly SettingsBody[]
  readonly selected: string
  nameOf(scope: SettingScope): string
}

function ScopeFilter({ scopes, selected, nameOf }: ScopeFilterProps) {
  const id = useId()
  const [, change] = useSearch()
  return (
    <search className="filter-bar" data-open>
      <div className="filter">
        <label htmlFor={id}>{t('settings.scope')}</label>
        <select
          id={id}
          className="choice"
          value={selected}
          onChange={({ target }) => change({ scope: target.value === '' ? null : target.value })}
        >
          {scopes.map((scope) => (
            <option key={scopeKey(scope)} value={scopeKey(scope)}>
              {nameOf(scope)}
            </option>
          ))}
        </select>
      </div>
    </search>
  )
}

interface TablesProps {
  readonly scope: SettingsBody
  readonly name: string
  readonly onAsk: ((question: SettingQuestion) => void) | null
}

/** The settings of one scope, by subject. */
function Tables({ scope, name, onAsk }: TablesProps) {
  return settingSubjects.map((subject) => {
    const rows = rowsOf(scope, name, subject)
    if (rows.length === 0) return null
    const title = t(`settings.subjects.${subject}`)
    return (
      <section key={subject} className="scope">
        <h2>{title}</h2>
        <DataTable
          caption={t('settings.caption', { subject: title, scope: name })}
          columns={settingColumns(onAsk)}
          rows={rows}
          idOf={({ key }) => key}
        />
      </section>
    )
  })
}
