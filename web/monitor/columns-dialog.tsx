import { ArrowDown, ArrowUp } from 'lucide-react'
import { allColumns, type Column, chosenColumns } from '../app/columns.ts'
import { t } from '../app/i18n.ts'
import { listColumns, type View } from '../app/view.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'

interface ColumnsDialogProps {
  readonly view: Pick<View, 'columns'>
  change(view: Partial<View>): void
  onClose(): void
}

export function ColumnsDialog({ view, change, onClose }: ColumnsDialogProps) {
  const chosen = chosenColumns(listColumns(view.columns))
  const rest = allColumns.filter((column) => !chosen.includes(column))
  const choose = (columns: readonly Column[]) => change({ columns: columns.join() })
  const move = (index: number, by: number) => {
    const column = chosen[index]
    if (column !== undefined) choose(chosen.toSpliced(index, 1).toSpliced(index + by, 0, column))
  }
  const toggle = (column: Column) =>
    choose(chosen.includes(column) ? chosen.filter((other) => other !== column) : [...chosen, column])
  return (
    <Dialog title={t('live.columns.title')} onClose={onClose}>
      <p className="dialog-text">{t('live.columns.intro')}</p>
      <ul className="column-list">
        {[...chosen, ...rest].map((column, index) => {
          const name = t(`live.table.columns.${column}`)
          const isChosen = index < chosen.length
          return (
            <li key={column}>
              <label>
                <input
                  type="checkbox"
                  checked={isChosen}
                  disabled={column === 'name'}
                  onChange={() => toggle(column)}
                />
                {name}
              </label>
              {isChosen ? (
                <>
                  <button
                    type="button"
                    className="choice"
                    data-tone="quiet"
                    aria-label={t('live.columns.up', { name })}
                    disabled={index === 0}
                    onClick={() => move(index, -1)}
                  >
                    <ArrowUp className="icon" aria-hidden="true" />
                  </button>
                  <button
                    type="button"
                    className="choice"
                    data-tone="quiet"
                    aria-label={t('live.columns.down', { name })}
                    disabled={index === chosen.length - 1}
                    onClick={() => move(index, 1)}
                  >
                    <ArrowDown className="icon" aria-hidden="true" />
                  </button>
                </>
              ) : null}
            </li>
          )
        })}
      </ul>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={() => change({ columns: '' })}>
          {t('live.columns.reset')}
        </button>
        <button type="button" className="choice" data-tone="usual" onClick={onClose}>
          {t('parts.dialog.close')}
        </button>
      </div>
    </Dialog>
  )
}
