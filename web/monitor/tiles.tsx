import { GripVertical, Pencil, Plus, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { formatTarget, type Target, type Thing, thingIn } from '../app/arrangement.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { t } from '../app/i18n.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import type { TileDrag } from './use-tile-drag.ts'

export type SlotContent =
  | { readonly kind: 'channel'; readonly id: number; readonly card: ChannelFacts }
  | { readonly kind: 'placeholder'; readonly id: number; readonly title: string; readonly placeholder: PlaceholderBody }

export interface TileSelection {
  /** Selected by a press, in its current slot. */
  readonly selected: SelectedTile | null
  readonly dragged: SelectedTile | null
  readonly drag: TileDrag
  nameOf(slot: number): string
  /** True if a drop puts this channel on the placeholder in the slot. */
  isMerge(thing: Thing, slot: number): boolean
  select(thing: Thing | null): void
  /** The Shift key chooses the other way of placing them. */
  drop(thing: Thing, target: Target, isShiftPressed: boolean): void
  editPlaceholder(slot: number): void
}

export interface SelectedTile {
  readonly thing: Thing
  readonly slot: number
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
  const { selected, dragged, drag, nameOf, isMerge, select, drop, editPlaceholder } = tileSelection
  const isSelected = slot !== null && selected?.slot === slot
  const moved = dragged ?? selected
  const merged = slot !== null && target !== null && moved !== null && isMerge(moved.thing, slot) ? moved : null
  const key = target === null ? null : formatTarget(target)
  const press = (isShiftPressed: boolean) => {
    if (isSelected) select(null)
    else if (selected !== null && target !== null) drop(selected.thing, target, isShiftPressed)
    else if (isMovable && slot !== null) select(thingIn(slot, content))
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
      data-dragged={(slot !== null && dragged?.slot === slot) || undefined}
      data-over={(dragged !== null && dragged.slot !== slot && drag.over === key) || undefined}
      data-target={(selected !== null && !isSelected && target !== null) || undefined}
      data-merge={merged !== null || undefined}
      data-drop={key ?? undefined}
    >
      <button
        type="button"
        className="tile-button"
        aria-pressed={isMovable ? isSelected : undefined}
        onClick={(event) => press(event.shiftKey)}
        onKeyDown={moveFocus}
        onPointerDown={isMovable && slot !== null ? (event) => drag.start(event, thingIn(slot, content)) : undefined}
      >
        {isMovable ? <GripVertical className="icon tile-handle" aria-hidden="true" /> : null}
        <span className="tile-slot">{slot}</span>
        {merged === null || slot === null ? (
          <TileText {...{ slot, content }} isInGroup={remove !== undefined} />
        ) : (
          <span className="tile-name">{t('arrange.putOn', { name: nameOf(merged.slot), target: nameOf(slot) })}</span>
        )}
        {merged !== null && merged === selected ? null : (
          <span className="visually-hidden">
            {' '}
            {labelOf({ slot, selected, isSelected, isMovable, content, nameOf })}
          </span>
        )}
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
    const { title, placeholder } = content
    const kind = t(`arrange.placeholder.kinds.${placeholder.kind}`)
    return (
      <span className="tile-name">
        <bdi>{title || kind}</bdi>
        {title === '' ? null : <small>{kind}</small>}
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
      ? t('arrange.moveToEnd', { name: nameOf(selected.slot) })
      : t('arrange.moveTo', { name: nameOf(selected.slot), slot })
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
  const { selected, dragged, drag, nameOf, drop } = tileSelection
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
            data-over={(dragged !== null && drag.over === key) || undefined}
            data-drop={key}
            onClick={() => (selected === null ? onShow(group.id) : drop(selected.thing, target, false))}
          >
            <bdi>{group.title}</bdi> ({group.slots.length})
            {selected === null ? null : (
              <span className="visually-hidden">
                {' '}
                {t('arrange.addToGroup', { name: nameOf(selected.slot), group: group.title })}
              </span>
            )}
          </button>
        )
      })}
    </nav>
  )
}
