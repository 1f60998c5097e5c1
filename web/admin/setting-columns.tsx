/** What the page of settings says of each, and what can be done with it. */

import type { Column } from '../parts/data-table.tsx'
import { words } from '../words.ts'
import type { SettingQuestion } from './setting-dialogs.tsx'
import { type SettingRow, scopeName } from './setting-row.ts'

const texts = words.settings

/** `onAsk`: null for somebody who may only look. `mayRemove`: whether a stored value may be removed too. */
export function settingColumns(
  onAsk: ((question: SettingQuestion) => void) | null,
  mayRemove: boolean,
): readonly Column<SettingRow>[] {
  const { columns } = texts
  const shown: readonly Column<SettingRow>[] = [
    {
      key: 'setting',
      title: columns.setting,
      cell: ({ key }) => (
        <span className="stacked-cell">
          <span>{texts.keys[key].title}</span>
          <small>{texts.keys[key].says}</small>
        </span>
      ),
    },
    {
      key: 'value',
      title: columns.value,
      cell: ({ key, value }) => <strong>{texts.value(value, texts.keys[key].unit)}</strong>,
    },
    { key: 'source', title: columns.source, cell: ({ source }) => texts.sources[source] },
  ]
  if (onAsk === null) return shown
  const actions = (row: SettingRow) => <Actions {...{ row, onAsk, mayRemove }} />
  return [...shown, { key: 'actions', title: columns.actions, cell: actions }]
}

interface ActionsProps {
  readonly row: SettingRow
  readonly mayRemove: boolean
  onAsk(question: SettingQuestion): void
}

function Actions({ row, onAsk, mayRemove }: ActionsProps) {
  const kinds = mayRemove && row.source === 'stored' ? (['change', 'forget'] as const) : (['change'] as const)
  return (
    <div className="row-actions">
      {kinds.map((kind) => (
        <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, row })}>
          {texts[kind]}
          <span className="for-listeners">
            {' '}
            {texts.keys[row.key].title}, {scopeName(row.manufacturer)}
          </span>
        </button>
      ))}
    </div>
  )
}
