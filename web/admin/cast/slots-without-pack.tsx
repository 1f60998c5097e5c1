import { useState } from 'react'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useResource } from '../../app/resource.ts'
import { ShowMore, useFirstPart } from '../../parts/channels/show-more.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { SlotDialog } from '../../parts/slots/dialogs.ts'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'

const topics = ['slot_records'] as const

/** The slots whose pack is not known yet. */
export function SlotsWithoutPack() {
  const resource = useResource('/api/slots/', 'list', topics)
  return <Loaded resource={resource}>{(slots) => <List slots={slots} />}</Loaded>
}

function List({ slots }: { slots: readonly SlotRecord[] }) {
  const waiting = slots.filter(({ kind, unit_id }) => unit_id === null && (kind === 'wireless' || kind === 'iem'))
  const { shown, hidden, showMore } = useFirstPart(waiting, 'slots-without-pack')
  const [edited, edit] = useState<number | null>(null)
  if (slots.length === 0) {
    return (
      <Empty title={t('cast.withoutPack.noSlots')}>
        <p>{t('cast.withoutPack.noSlotsNext')}</p>
      </Empty>
    )
  }
  if (waiting.length === 0) return <p className="hint">{t('cast.withoutPack.none')}</p>
  return (
    <section className="cast-slots">
      <h2>{t('cast.withoutPack.title', { count: waiting.length })}</h2>
      <DataTable caption={t('cast.withoutPack.list')} columns={columns(edit)} rows={shown} idOf={({ slot }) => slot} />
      <ShowMore hidden={hidden} onShow={showMore} />
      {edited === null ? null : <SlotDialog slot={edited} onClose={() => edit(null)} />}
    </section>
  )
}

function columns(edit: (slot: number) => void): readonly Column<SlotRecord>[] {
  return [
    { key: 'slot', title: t('cast.column.slot'), cell: ({ slot }) => slot },
    {
      key: 'name',
      title: t('cast.column.name'),
      cell: ({ title }) =>
        title === null ? <span className="unknown">{t('cast.nobody')}</span> : <bdi>{plainText(title)}</bdi>,
    },
    {
      key: 'role',
      title: t('cast.column.role'),
      cell: ({ role }) => (role === null ? '' : <bdi>{plainText(role)}</bdi>),
    },
    {
      key: 'equipment',
      title: t('cast.column.pack'),
      cell: ({ channel_id }) => t(channel_id === null ? 'cast.withoutPack.noReceiver' : 'cast.withoutPack.noPack'),
    },
    {
      key: 'actions',
      title: t('performers.columns.actions'),
      cell: ({ slot, title }) => (
        <button type="button" className="choice" onClick={() => edit(slot)}>
          {t('performers.assign')}
          <span className="visually-hidden">
            {' '}
            {t('slot.title', { slot })} {plainText(title ?? '')}
          </span>
        </button>
      ),
    },
  ]
}
