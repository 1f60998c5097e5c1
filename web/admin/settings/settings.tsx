import { useId, useState } from 'react'
import type { SettingsBody } from '../../../src/contract/configuration.ts'
import { defaultSettings, type SettingSubject, settingSubjects } from '../../../src/contract/settings.ts'
import type { SettingScope } from '../../../src/domain/settings.ts'
import { useSearch } from '../../app/query.ts'
import { useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Empty } from '../../parts/empty.tsx'
import { useManufacturerNames } from '../../parts/equipment/manufacturer-names.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import '../../parts/tables/list.css'
import '../../parts/tables/records.css'
import { t } from '../../app/i18n.ts'
import { SettingDialog, type SettingQuestion } from './setting-dialogs.tsx'
import {
  type AlertRow,
  alertAspects,
  alertRowsOf,
  formatSetting,
  hasKnownDefault,
  isChanged,
  rowsOf,
  type SettingRow,
  scopeKey,
  settingDescription,
  settingTitle,
  settingTopics,
} from './setting-row.ts'

export function SettingsPage() {
  const [search] = useSearch()
  const resource = useResource('/api/admin/settings/', 'list', settingTopics)
  const nameOf = useScopeNames()
  const mayEdit = useMay('configure')
  const mayEditHistory = useMay('administer')
  const [dialog, setDialog] = useState<SettingQuestion | null>(null)
  const query = new URLSearchParams(search)
  const selected = query.get('scope') ?? ''
  const isChangedOnly = query.has('changed')
  return (
    <Shell title={t('settings.title')} intro={t('settings.intro')}>
      {mayEdit ? null : <p className="hint">{t('shell.requires.admin')}</p>}
      <Loaded resource={resource}>
        {(scopes) => (
          <>
            <ScopeFilter {...{ scopes, selected, isChangedOnly, nameOf }} />
            {scopes
              .filter((scope) => scopeKey(scope) === selected)
              .map((scope) => (
                <Tables
                  key={selected}
                  scope={scope}
                  name={nameOf(scope)}
                  isChangedOnly={isChangedOnly}
                  askFor={(subject) => ((subject === 'history' ? mayEditHistory : mayEdit) ? setDialog : null)}
                />
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

function useScopeNames(): (scope: SettingScope) => string {
  const { body: groups } = useResource('/api/groups/', 'list', settingTopics)
  const manufacturerName = useManufacturerNames()
  return ({ manufacturer, group }) => {
    if (group !== null) {
      const title = groups?.find(({ id }) => id === group)?.title ?? String(group)
      return t('settings.oneGroup', { title })
    }
    return manufacturer === null
      ? t('settings.allManufacturers')
      : t('settings.oneManufacturer', { name: manufacturerName(manufacturer) })
  }
}

interface ScopeFilterProps {
  readonly scopes: readonly SettingsBody[]
  readonly selected: string
  readonly isChangedOnly: boolean
  nameOf(scope: SettingScope): string
}

function ScopeFilter({ scopes, selected, isChangedOnly, nameOf }: ScopeFilterProps) {
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
      <label className="tick filter-tick">
        <input
          type="checkbox"
          checked={isChangedOnly}
          onChange={({ target }) => change({ changed: target.checked ? 'true' : null })}
        />
        {t('settings.onlyChanged')}
      </label>
    </search>
  )
}

interface TablesProps {
  readonly scope: SettingsBody
  readonly name: string
  readonly isChangedOnly: boolean
  /** Null if the user may not edit the settings of this subject. */
  askFor(subject: SettingSubject): ((question: SettingQuestion) => void) | null
}

function Tables({ scope, name, isChangedOnly, askFor }: TablesProps) {
  const isShown = (row: SettingRow) => !isChangedOnly || row.source !== 'default' || isChanged(row)
  const tables = settingSubjects
    .map((subject) => ({ subject, rows: rowsOf(scope, name, subject) }))
    .filter(({ rows }) => rows.some(isShown))
  if (tables.length === 0) return <Empty title={t('settings.noneChanged')} />
  return tables.map(({ subject, rows }) => {
    const onAsk = askFor(subject)
    const title = t(`settings.subjects.${subject}`)
    const caption = t('settings.caption', { subject: title, scope: name })
    return (
      <section key={subject} className="scope">
        <h2>{title}</h2>
        {subject === 'alerts' ? (
          <>
            <p className="hint">{t('settings.alertsHint')}</p>
            <DataTable
              caption={caption}
              columns={alertColumns(onAsk)}
              rows={alertRowsOf(rows).filter(({ settings }) => Object.values(settings).some(isShown))}
              idOf={({ kind }) => kind}
            />
          </>
        ) : (
          <DataTable
            caption={caption}
            columns={settingColumns(onAsk)}
            rows={rows.filter(isShown)}
            idOf={({ key }) => key}
          />
        )}
      </section>
    )
  })
}

type Ask = ((question: SettingQuestion) => void) | null

function settingColumns(onAsk: Ask): readonly Column<SettingRow>[] {
  return [
    {
      key: 'setting',
      title: t('settings.columns.setting'),
      cell: ({ key }) => (
        <span className="stacked">
          <span>{settingTitle(key)}</span>
          <small>{settingDescription(key)}</small>
        </span>
      ),
    },
    { key: 'value', title: t('settings.columns.value'), cell: (row) => <Value {...{ row, onAsk }} /> },
  ]
}

function alertColumns(onAsk: Ask): readonly Column<AlertRow>[] {
  return [
    { key: 'alert', title: t('settings.columns.alert'), cell: ({ kind }) => t(`alerts.kinds.${kind}`) },
    ...alertAspects.map(
      (aspect): Column<AlertRow> => ({
        key: aspect,
        title: t(`settings.columns.${aspect}`),
        cell: ({ settings }) => <Value row={settings[aspect]} onAsk={onAsk} />,
      }),
    ),
  ]
}

function Value({ row, onAsk }: { readonly row: SettingRow; readonly onAsk: Ask }) {
  const { key, value, source } = row
  const notes = [
    ...(source === 'default' ? [] : [t(`settings.sources.${source}`)]),
    ...(isChanged(row) && hasKnownDefault(key)
      ? [t('settings.default', { value: formatSetting(key, defaultSettings[key]) })]
      : []),
  ]
  return (
    <div className="setting">
      <span className="stacked">
        <span className="setting-value" data-changed={isChanged(row) || undefined}>
          {formatSetting(key, value)}
        </span>
        {notes.length === 0 ? null : <small>{notes.join(' · ')}</small>}
      </span>
      {onAsk === null ? null : <Actions {...{ row, onAsk }} />}
    </div>
  )
}

interface ActionsProps {
  readonly row: SettingRow
  onAsk(question: SettingQuestion): void
}

function Actions({ row, onAsk }: ActionsProps) {
  const kinds = row.source === 'stored' ? (['change', 'reset'] as const) : (['change'] as const)
  return (
    <div className="row-actions">
      {kinds.map((kind) => (
        <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, row })}>
          {t(`settings.${kind}`)}
          <span className="visually-hidden">
            {' '}
            {settingTitle(row.key)}, {row.scopeName}
          </span>
        </button>
      ))}
    </div>
  )
}
