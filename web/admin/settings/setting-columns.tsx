import { defaultSettings } from '../../../src/contract/settings.ts'
import { t } from '../../app/i18n.ts'
import type { Column } from '../../parts/tables/data-table.tsx'
import type { SettingQuestion } from './setting-dialogs.tsx'
import {
  type AlertRow,
  alertAspects,
  formatSetting,
  hasKnownDefault,
  isChanged,
  type SettingRow,
  settingDescription,
  settingTitle,
} from './setting-row.ts'

type Ask = ((question: SettingQuestion) => void) | null

export function settingColumns(onAsk: Ask): readonly Column<SettingRow>[] {
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

export function alertColumns(onAsk: Ask): readonly Column<AlertRow>[] {
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
