/** Columns of the group list. */

import { Link } from '@tanstack/react-router'
import type { Group } from '../../src/contract/resources/groups.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import type { Column } from '../parts/data-table.tsx'
import { formatSlots } from '../slots.ts'
import type { GroupQuestion } from './group-dialogs.tsx'

/** Returns the columns; `onAsk` is null if the user may not edit groups. */
export function groupColumns(onAsk: ((question: GroupQuestion) => void) | null): readonly Column<Group>[] {
  const shown: readonly Column<Group>[] = [
    {
      key: 'title',
      title: t('groups.columns.title'),
      sortBy: ({ title }) => title,
      cell: ({ title }) => <bdi>{plainText(title)}</bdi>,
    },
    {
      key: 'slots',
      title: t('groups.columns.slots'),
      sortBy: ({ slots }) => slots.length,
      cell: ({ slots }) => (
        <span>
          {slots.length === 0 ? t('groups.noSlots') : formatSlots(slots)}
          {slots.length < 3 ? null : ` (${t('groups.count', { count: slots.length })})`}
        </span>
      ),
    },
    {
      key: 'hide_charts',
      title: t('groups.columns.charts'),
      cell: (group) => (group.hide_charts ? t('groups.hidden') : t('groups.shown')),
    },
    {
      key: 'manufacturer',
      title: t('groups.columns.manufacturer'),
      sortBy: ({ manufacturer }) => manufacturer,
      cell: ({ manufacturer }) => manufacturer ?? t('groups.anyManufacturer'),
    },
    { key: 'open', title: t('groups.columns.open'), cell: (group) => <Links group={group} /> },
  ]
  if (onAsk === null) return shown
  return [
    ...shown,
    { key: 'actions', title: t('groups.columns.actions'), cell: (group) => <Actions group={group} onAsk={onAsk} /> },
  ]
}

function Links({ group: { id, title } }: { group: Group }) {
  const link = (page: 'wall' | 'monitor', text: string) => (
    <Link
      to={pathOf(page)}
      search={{ group: id }}
      aria-label={t('groups.openPage', { page: text, title: plainText(title) })}
    >
      {text}
    </Link>
  )
  return (
    <span className="row-actions">
      {link('wall', t('groups.wall'))}
      {link('monitor', t('groups.monitor'))}
    </span>
  )
}

function Actions({ group, onAsk }: { group: Group; onAsk: (question: GroupQuestion) => void }) {
  return (
    <div className="row-actions">
      {(['change', 'remove'] as const).map((kind) => (
        <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, group })}>
          {t(`groups.${kind}`)}
          <span className="visually-hidden"> {plainText(group.title)}</span>
        </button>
      ))}
    </div>
  )
}
