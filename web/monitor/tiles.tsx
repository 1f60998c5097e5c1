import { GripVertical, Pencil, Plus, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { formatTarget, type Target } from '../app/arrangement.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import type { TileDrag } from './use-tile-drag.ts'

export type SlotContent =
  | { readonly kind: 'channel'; readonly card: ChannelFacts }
  | { readonly kind: 'placeholder'; readonly placeholder: PlaceholderBody }

export interface TileSelection {
  readonly selected: number | null
  readonly drag: TileDrag
  nameOf(slot: number): string
  select(slot: number | null): void
  /** The Shift key chooses the other way of placing them. */
  drop(slot: number, target: Target, isShiftPressed: boolean): void
  editPlaceholder(slot: number): void
}

interface TileProps {
  readonly target: Target | null
  /** Null for the tile at the end of a group. */
  readonly slot: number | null
  readonly content: SlotContent | null
  readonly isMovable: boolean
  readonly tileSelection: TileSelection
  remove?: ((slot: number) => void) | undefined
}

export function Tile({ target, slot, content, isMovable, tileSelection, remove }: TileProps) {
  const { selected, drag, nameOf, select, drop, editPlaceholder } = tileSelection
  const isSelected = slot !== null && selected === slot
  const key = target === null ? null : formatTarget(target)
  const press = (isShiftPressed: boolean) => {
    if (isSelected) select(null)
    else if (selected !== null && target !== null) drop(selected, target, isShiftPressed)
    else if (isMovable) select(slot)
    else if (selected === null && slot !== null && content === null) editPlaceholder(slot)
  }
  const condition = content?.kind === 'channel' ? content.card.condition : null
  return (
    <li
      className="tile"
      data-kind={content === null ? 'free' : content.kind === 'channel' ? 'channel' : content.placeholder.kind}
      data-state={content?.kind === 'channel' ? content.card.state : undefined}
      data-attention={condition?.attention || undefined}
      data-severity={condition?.attention ? condition.severity : undefined}
      data-selected={isSelected || undefined}
      data-dragged={(slot !== null && drag.slot === slot) || undefined}
      data-over={(drag.slot !== null && drag.slot !== slot && drag.over === key) || undefined}
      data-target={(selected !== null && !isSelected && target !== null) || undefined}
      data-drop={key ?? undefined}
    >
      <button
        type="button"
        className="tile-button"
        aria-pressed={isMovable ? isSelected : undefined}
        onClick={(event) => press(event.shiftKey)}
        onKeyDown={moveFocus}
        onPointerDown={isMovable && slot !== null ? (event) => drag.start(event, slot) : undefined}
      >
        {isMovable ? <GripVertical className="icon tile-handle" aria-hidden="true" /> : null}
        <span className="tile-slot">{slot}</span>
        <TileText {...{ slot, content }} isInGroup={remove !== undefined} />
        <span className="visually-hidden"> {labelOf({ slot, selected, isSelected, isMovable, content, nameOf })}</span>
      </button>
      {slot === null || content?.kind === 'channel' || (content === null && !isMovable) ? null : (
        <EditButton isNew={content === null} name={nameOf(slot)} {...{ slot, editPlaceholder }} />
      )}
      {remove === undefined || slot === null ? null : (
        <button type="button" className="tile-tool" onClick={() => remove(slot)} title={t('arrange.removeShort')}>
          <X className="icon" aria-hidden="true" />
          <span className="visually-hidden">{t('arrange.remove', { name: nameOf(slot) })}</span>
        </button>
      )}
    </li>
  )
}

function TileText({ slot, content, isInGroup }: Pick<TileProps, 'slot' | 'content'> & { isInGroup: boolean }) {
  if (slot === null) return <span className="tile-name">{t('arrange.end')}</span>
  if (content === null) return <span className="tile-name">{t(isInGroup ? 'arrange.planned' : 'arrange.free')}</span>
  if (content.kind === 'placeholder') {
    const { kind, name } = content.placeholder
    const title = t(`arrange.placeholder.kinds.${kind}`)
    return (
      <span className="tile-name">
        <bdi>{name === '' ? title : plainText(name)}</bdi>
        {name === '' ? null : <small>{title}</small>}
      </span>
    )
  }
  const { card } = content
  return (
    <>
      <span className="tile-name">
        <bdi>{card.title}</bdi>
        <small>{t(`states.${card.state}`)}</small>
      </span>
      <StateIcon state={card.state} />
    </>
  )
}

interface EditButtonProps extends Pick<TileSelection, 'editPlaceholder'> {
  readonly slot: number
  readonly name: string
  readonly isNew: boolean
}

function EditButton({ slot, name, isNew, editPlaceholder }: EditButtonProps) {
  const text = isNew ? t('arrange.placeholder.addTo', { slot }) : t('arrange.placeholder.editOf', { name, slot })
  const Icon = isNew ? Plus : Pencil
  return (
    <button type="button" className="tile-tool" onClick={() => editPlaceholder(slot)} title={text}>
      <Icon className="icon" aria-hidden="true" />
      <span className="visually-hidden">{text}</span>
    </button>
  )
}

interface Labelled extends Pick<TileSelection, 'selected' | 'nameOf'> {
  readonly slot: number | null
  readonly isSelected: boolean
  readonly isMovable: boolean
  readonly content: SlotContent | null
}

function labelOf({ slot, selected, isSelected, isMovable, content, nameOf }: Labelled): string {
  if (isSelected && slot !== null) return t('arrange.deselect', { name: nameOf(slot) })
  if (selected !== null) {
    return slot === null
      ? t('arrange.moveToEnd', { name: nameOf(selected) })
      : t('arrange.moveTo', { name: nameOf(selected), slot })
  }
  if (slot === null) return t('arrange.end')
  if (isMovable) return t('arrange.select', { name: nameOf(slot), slot })
  return content === null ? t('arrange.placeholder.addTo', { slot }) : t('card.slot', { slot })
}

/** Arrow keys move to the side by one tile, up and down by one row. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>) {
  const list = event.currentTarget.closest('.tiles')
  const columns = list === null ? 1 : getComputedStyle(list).gridTemplateColumns.split(' ').length
  const step = { ArrowRight: 1, ArrowDown: columns, ArrowLeft: -1, ArrowUp: -columns }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const all = [...document.querySelectorAll<HTMLButtonElement>('.arrange .tile-button')]
  all[all.indexOf(event.currentTarget) + step]?.focus()
}

interface GroupTargetsProps {
  readonly groups: readonly Group[]
  readonly shown: Group | null
  readonly tileSelection: TileSelection
  onShow(group: number | null): void
}

/** A click opens the group, or adds the selected slot to it. */
export function GroupTargets({ groups, shown, tileSelection, onShow }: GroupTargetsProps) {
  const { selected, drag, nameOf, drop } = tileSelection
  return (
    <nav className="group-tabs" aria-label={t('arrange.groups')}>
      <button type="button" className="choice" aria-pressed={shown === null} onClick={() => onShow(null)}>
        {t('live.toolbar.everything')}
      </button>
      {groups.map((group) => {
        const target = { kind: 'group', id: group.id } as const
        const key = formatTarget(target)
        return (
          <button
            key={group.id}
            type="button"
            className="choice"
            aria-pressed={shown?.id === group.id}
            data-target={selected !== null || undefined}
            data-over={(drag.slot !== null && drag.over === key) || undefined}
            data-drop={key}
            onClick={() => (selected === null ? onShow(group.id) : drop(selected, target, false))}
          >
            <bdi>{group.title}</bdi> ({group.slots.length})
            {selected === null ? null : (
              <span className="visually-hidden">
                {' '}
                {t('arrange.addToGroup', { name: nameOf(selected), group: group.title })}
              </span>
            )}
          </button>
        )
      })}
    </nav>
  )
}
