import { Link } from '@tanstack/react-router'
import type { Group } from '../../../src/contract/groups.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { formatSlots } from '../../parts/channels/slots.ts'
import { useManufacturerNames } from '../../parts/equipment/manufacturer-names.tsx'
import { ChannelChip } from './channel-chip.tsx'
import { ProblemTags } from './problem-tags.tsx'
import '../../parts/boxes.css'
import { useSlotContents } from '../../parts/channels/slots.ts'
import type { GroupQuestion } from './group-dialogs.tsx'

interface GroupBoxProps {
  readonly group: Group
  /** Null if the user may not edit groups. */
  readonly onAsk: ((question: GroupQuestion) => void) | null
}

export function GroupBox({ group, onAsk }: GroupBoxProps) {
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
