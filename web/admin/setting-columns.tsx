/** Columns of the settings table. */

import { t } from '../i18n.ts'
import type { Column } from '../parts/data-table.tsx'
import type { SettingQuestion } from './setting-dialogs.tsx'
import { formatSetting, type SettingRow, settingDescription, settingTitle } from './setting-row.ts'

/** `onAsk` is null if the user may not edit. */
export function settingColumns(onAsk: ((question: SettingQuestion) => void) | null): readonly Column<SettingRow>[] {
  const shown: readonly Column<SettingRow>[] = [
    {
      key: 'setting',
      title: t('settings.columns.setting'),
      cell: ({ key }) => (
        <span className="stacked-cell">
          <span>{settingTitle(key)}</span>
          <small>{settingDescription(key)}</small>
        </span>
      ),
    },
    {
      key: 'value',
      title: t('settings.columns.value'),
      cell: ({ key, value }) => <strong>{formatSetting(key, value)}</strong>,
    },
    { key: 'source', title: t('settings.columns.source'), cell: ({ source }) => t(`settings.sources.${source}`) },
  ]
  if (onAsk === null) return shown
  const actions = (row: SettingRow) => <Actions {...{ row, onAsk }} />
  return [...shown, { key: 'actions', title: t('settings.columns.actions'), cell: actions }]
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
