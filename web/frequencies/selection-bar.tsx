import '../parts/tables/list.css'
import { ChevronDown, Sparkles } from 'lucide-react'
import type { ReactNode } from 'react'
import { useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Selection } from '../app/selection.ts'
import { Menu } from '../parts/toolbar/menu.tsx'
import type { ShownCarrier } from './carriers.ts'

interface SelectionBarProps {
  readonly carriers: readonly ShownCarrier[]
  readonly selection: Selection<string>
  readonly others: ReactNode
  onSuggest(): void
}

export function SelectionBar({ carriers, selection, others, onSuggest }: SelectionBarProps) {
  const { ids, shown, toggleAll, clear } = selection
  const isAll = ids.length === shown
  return (
    <section className="bulk-bar selection-bar screen-only" aria-label={t('frequencies.selection.label')}>
      <span role="status">
        {t(isAll ? 'parts.list.allSelected' : 'parts.list.selected', { count: ids.length, shown })}
      </span>
      <button type="button" className="choice" onClick={isAll ? clear : toggleAll}>
        {t(isAll ? 'frequencies.selection.none' : 'parts.list.selectAll')}
      </button>
      <GroupMenu {...{ carriers, selection }} />
      <span className="box-actions">
        <button type="button" className="choice" disabled={ids.length === 0} onClick={onSuggest}>
          <Sparkles className="icon" aria-hidden="true" />
          {ids.length === 0
            ? t('frequencies.whatIf.suggest')
            : t('parts.list.withCount', { action: t('frequencies.whatIf.suggest'), count: ids.length })}
        </button>
        {others}
      </span>
    </section>
  )
}

function GroupMenu({ carriers, selection }: Pick<SelectionBarProps, 'carriers' | 'selection'>) {
  const groups = useWatchState((watchState) => watchState.groups)
  if (groups.length === 0) return null
  return (
    <Menu
      button={
        <>
          {t('frequencies.selection.group')}
          <ChevronDown className="icon" aria-hidden="true" />
        </>
      }
    >
      {groups.map(({ id, title, slots }) => {
        const members = carriers.flatMap((carrier) => (slots.includes(carrier.slot) ? [carrier.id] : []))
        return (
          <button
            key={id}
            type="button"
            className="choice"
            aria-pressed={members.length > 0 && members.every(selection.has)}
            disabled={members.length === 0}
            onClick={() => selection.toggleEach(members)}
          >
            <bdi>{plainText(title)}</bdi>
            <span className="tab-count">{members.length}</span>
          </button>
        )
      })}
    </Menu>
  )
}
