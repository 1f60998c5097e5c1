/** What the list of groups says of each, and what can be done with them. */

import type { Group } from '../../src/model/api.ts'
import { type PageName, pathOf } from '../../src/model/pages.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import type { Column } from '../parts/data-table.tsx'
import { formatSlots } from '../slots.ts'
import { words } from '../words.ts'
import type { GroupQuestion } from './group-dialogs.tsx'

const texts = words.groups

/** `onAsk`: null for somebody who may only look. */
export function groupColumns(onAsk: ((question: GroupQuestion) => void) | null): readonly Column<Group>[] {
  const { columns } = texts
  const shown: readonly Column<Group>[] = [
    {
      key: 'title',
      title: columns.title,
      sortBy: ({ title }) => title,
      cell: ({ title }) => <bdi>{plainText(title)}</bdi>,
    },
    {
      key: 'slots',
      title: columns.slots,
      sortBy: ({ slots }) => slots.length,
      cell: ({ slots }) => (
        <span>
          {slots.length === 0 ? texts.noSlots : formatSlots(slots)}
          {slots.length < 3 ? null : ` (${texts.count(slots.length)})`}
        </span>
      ),
    },
    { key: 'hide_charts', title: columns.charts, cell: (group) => (group.hide_charts ? texts.hidden : texts.shown) },
    {
      key: 'manufacturer',
      title: columns.manufacturer,
      sortBy: ({ manufacturer }) => manufacturer,
      cell: ({ manufacturer }) => manufacturer ?? texts.everyMaker,
    },
    { key: 'open', title: columns.open, cell: (group) => <Links group={group} /> },
  ]
  if (onAsk === null) return shown
  return [
    ...shown,
    { key: 'actions', title: columns.actions, cell: (group) => <Actions group={group} onAsk={onAsk} /> },
  ]
}

function Links({ group: { id, title } }: { group: Group }) {
  const { mount } = useSurroundings()
  const link = (page: PageName, text: string) => (
    <a href={`${mount}${pathOf(page)}?group=${id}`} aria-label={texts.opens(text, plainText(title))}>
      {text}
    </a>
  )
  return (
    <span className="row-actions">
      {link('wall', texts.wall)}
      {link('desk', texts.desk)}
    </span>
  )
}

function Actions({ group, onAsk }: { group: Group; onAsk: (question: GroupQuestion) => void }) {
  return (
    <div className="row-actions">
      {(['change', 'remove'] as const).map((kind) => (
        <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, group })}>
          {texts[kind]}
          <span className="for-listeners"> {plainText(group.title)}</span>
        </button>
      ))}
    </div>
  )
}
