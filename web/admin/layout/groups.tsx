import { useState } from 'react'
import { filterValues, queryOf, useSearch } from '../../app/query.ts'
import { useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { FilterBar } from '../../parts/tables/filter-bar.tsx'
import '../../parts/tables/records.css'
import { Link } from '@tanstack/react-router'
import type { Group } from '../../../src/contract/groups.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { formatSlots, useSlotContents } from '../../parts/channels/slots.ts'
import { useManufacturerNames } from '../../parts/equipment/manufacturer-names.tsx'
import { useManufacturerFilter } from '../filters.ts'
import { ChannelChip, ProblemTags } from './chips.tsx'
import { GroupDialog, type GroupQuestion } from './group-dialogs.tsx'
import '../../parts/boxes.css'

const topics = ['groups'] as const

export function Groups() {
  const filters = [useManufacturerFilter()]
  const [search] = useSearch()
  const values = filterValues(filters, search)
  const resource = useResource(`/api/groups/?${queryOf(filters, values)}`, 'list', topics)
  const mayOperate = useMay('operate')
  const [dialog, setDialog] = useState<GroupQuestion | null>(null)
  return (
    <Shell title={t('groups.title')} intro={t('groups.intro')}>
      <FilterBar filters={filters} />
      <Loaded resource={resource}>
        {(groups) => (
          <>
            <div className="list-actions">
              <button
                type="button"
                className="choice"
                data-tone="usual"
                disabled={!mayOperate}
                onClick={() => setDialog({ kind: 'add' })}
              >
                {t('groups.add')}
              </button>
              {mayOperate ? null : <span className="hint">{t('shell.requires.operator')}</span>}
            </div>
            {groups.length === 0 ? (
              <Empty title={Object.keys(values).length > 0 ? t('groups.noMatch') : t('groups.none')} filters={filters}>
                <p>{t('groups.noneNext')}</p>
              </Empty>
            ) : (
              groups.map((group) => <GroupBox key={group.id} group={group} onAsk={mayOperate ? setDialog : null} />)
            )}
          </>
        )}
      </Loaded>
      {dialog === null ? null : (
        <GroupDialog question={dialog} onDone={resource.reload} onClose={() => setDialog(null)} />
      )}
    </Shell>
  )
}

interface GroupBoxProps {
  readonly group: Group
  /** Null if the user may not edit groups. */
  readonly onAsk: ((question: GroupQuestion) => void) | null
}

function GroupBox({ group, onAsk }: GroupBoxProps) {
  const title = plainText(group.title)
  const nameOf = useManufacturerNames()
  const contents = useSlotContents(group.slots)
  const channels = contents.flatMap(({ facts }) => facts ?? [])
  const attention = channels.filter(({ needsAttention }) => needsAttention).length
  return (
    <section className="box" aria-label={title}>
      <header className="box-head">
        <h2>
          <bdi>{title}</bdi>
        </h2>
        <span className="box-note">{notesOf(group, nameOf).join(' · ')}</span>
        {channels.length === 0 ? null : <ProblemTags offline={null} attention={attention} fine={t('summary.allOk')} />}
        <Actions group={group} onAsk={onAsk} />
      </header>
      {contents.length === 0 ? (
        <p className="box-note">{t('groups.empty')}</p>
      ) : (
        <ul className="chips" aria-label={t('groups.slotsOf', { title })}>
          {contents.map(({ slot, name, facts }) => (
            <li key={slot}>
              {facts === null ? (
                <span className="chip" data-away={true}>
                  <small>{slot}</small> <bdi>{name}</bdi>
                </span>
              ) : (
                <ChannelChip channelId={facts.channelId} {...{ slot, name, facts }} />
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function notesOf(group: Group, nameOf: (manufacturer: string) => string): readonly string[] {
  const { slots, hide_charts, manufacturer } = group
  return [
    ...(slots.length === 0 ? [] : [t('groups.slots', { count: slots.length, slots: formatSlots(slots) })]),
    ...(hide_charts ? [t('groups.chartsHidden')] : []),
    ...(manufacturer === null ? [] : [nameOf(manufacturer)]),
  ]
}

function Actions({ group, onAsk }: GroupBoxProps) {
  const name = plainText(group.title)
  const link = (page: 'wall' | 'monitor', text: string) => (
    <Link
      className="choice"
      to={pathOf(page)}
      search={{ group: group.id }}
      aria-label={t('groups.openPage', { page: text, title: name })}
    >
      {text}
    </Link>
  )
  return (
    <span className="box-actions">
      {link('monitor', t('groups.monitor'))}
      {link('wall', t('groups.wall'))}
      {onAsk === null
        ? null
        : (['change', 'remove'] as const).map((kind) => (
            <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, group })}>
              {t(`groups.${kind}`)}
              <span className="visually-hidden"> {name}</span>
            </button>
          ))}
    </span>
  )
}
