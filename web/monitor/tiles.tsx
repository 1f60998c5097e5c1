import { GripVertical, Pencil, Plus, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { formatTarget, type Target, type Thing, thingIn } from '../app/arrangement.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { t } from '../app/i18n.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { useRegion } from '../parts/use-region.ts'
import type { TileDrag } from './use-tile-drag.ts'

export type SlotContent =
  | { readonly kind: 'channel'; readonly id: number; readonly card: ChannelFacts }
  | { readonly kind: 'placeholder'; readonly id: number; readonly title: string; readonly placeholder: PlaceholderBody }

export interface TileSelection {
  /** In their current slots, in the displayed order. */
  readonly selected: readonly SelectedTile[]
  readonly dragged: readonly SelectedTile[]
  readonly drag: TileDrag
  /** A press selects another tile instead of moving those that are selected. */
  readonly isSelecting: boolean
  nameOf(slot: number): string
  /** True if a drop puts this channel on the placeholder in the slot. */
  isMerge(thing: Thing, slot: number): boolean
  select(thing: Thing | null, how: SelectionChange): void
  /** The Shift key chooses the other way of placing them. */
  drop(tiles: readonly SelectedTile[], target: Target, isShiftPressed: boolean): void
  editPlaceholder(slot: number): void
}

/** `range`: everything from the tile that was selected last. */
export type SelectionChange = 'only' | 'toggle' | 'range'

export interface SelectedTile {
  readonly thing: Thing
  readonly slot: number
}

/** The name of a tile, or the number of tiles. */
export function namesOf([first, ...others]: readonly SelectedTile[], nameOf: TileSelection['nameOf']): string {
  if (first === undefined) return ''
  return others.length === 0 ? nameOf(first.slot) : t('arrange.tiles', { count: others.length + 1 })
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
  const { selected, dragged, drag, isSelecting, nameOf, isMerge, select, drop, editPlaceholder } = tileSelection
  const isSelected = selected.some((tile) => tile.slot === slot)
  const isDragged = dragged.some((tile) => tile.slot === slot)
  const [moved, ...others] = dragged.length > 0 ? dragged : selected
  const isMerged =
    slot !== null && target !== null && moved !== undefined && others.length === 0 && isMerge(moved.thing, slot)
  const merged = isMerged ? moved : null
  const key = target === null ? null : formatTarget(target)
  const thing = isMovable && slot !== null ? thingIn(slot, content) : null
  const press = ({ shiftKey, ctrlKey, metaKey, detail }: MouseEvent) => {
    // The keyboard has no other way to choose the way of placing.
    const isRange = shiftKey && detail > 0
    if (thing !== null && (isRange || isSelecting || ctrlKey || metaKey)) select(thing, isRange ? 'range' : 'toggle')
    else if (isSelected) select(null, 'only')
    else if (selected.length > 0 && target !== null) drop(selected, target, shiftKey)
    else if (thing !== null) select(thing, 'only')
    else if (selected.length === 0 && slot !== null && content === null) editPlaceholder(slot)
  }
  const pressKey = (event: KeyboardEvent<HTMLButtonElement>) => {
    if (event.key === ' ' && thing !== null) {
      event.preventDefault()
      select(thing, 'toggle')
      return
    }
    const next = event.shiftKey ? moveFocus(event) : null
    if (next !== null) select(next, 'range')
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
      data-dragged={isDragged || undefined}
      data-over={(dragged.length > 0 && !isDragged && drag.over === key) || undefined}
      data-target={(selected.length > 0 && !isSelected && target !== null) || undefined}
      data-merge={merged !== null || undefined}
      data-drop={key ?? undefined}
    >
      <button
        type="button"
        className="tile-button"
        aria-pressed={isMovable ? isSelected : undefined}
        data-thing={thing ?? undefined}
        onClick={(event) => press(event.nativeEvent)}
        onKeyDown={pressKey}
        onKeyUp={(event) => event.key === ' ' && thing !== null && event.preventDefault()}
        onPointerDown={thing === null ? undefined : (event) => drag.start(event, thing)}
      >
        {isMovable ? <GripVertical className="icon tile-handle" aria-hidden="true" /> : null}
        <span className="tile-slot">{slot}</span>
        {merged === null || slot === null ? (
          <TileText {...{ slot, content }} isInGroup={remove !== undefined} />
        ) : (
          <span className="tile-name">{t('arrange.putOn', { name: nameOf(merged.slot), target: nameOf(slot) })}</span>
        )}
        {merged !== null && merged === selected[0] ? null : (
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
  if (selected.length > 0) {
    const name = namesOf(selected, nameOf)
    return slot === null ? t('arrange.moveToEnd', { name }) : t('arrange.moveTo', { name, slot })
  }
  if (slot === null) return t('arrange.end')
  if (isMovable) return t('arrange.select', { name: nameOf(slot), slot })
  return content === null ? t('arrange.placeholder.addTo', { slot }) : t('card.slot', { slot })
}

/** For Shift and an arrow key: moves by one tile or row. Returns what is there; null if it cannot be moved. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>): Thing | null {
  const list = event.currentTarget.closest('.tiles')
  const columns = list === null ? 1 : getComputedStyle(list).gridTemplateColumns.split(' ').length
  const step = { ArrowRight: 1, ArrowDown: columns, ArrowLeft: -1, ArrowUp: -columns }[event.key]
  if (step === undefined) return null
  event.preventDefault()
  const all = [...document.querySelectorAll<HTMLButtonElement>('.arrange .tile-button')]
  const next = all[all.indexOf(event.currentTarget) + step]
  next?.focus()
  return next?.dataset.thing ?? null
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
  const region = useRegion<HTMLElement>()
  return (
    <nav className="group-tabs" ref={region} aria-label={t('arrange.groups')}>
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
            data-target={selected.length > 0 || undefined}
            data-over={(dragged.length > 0 && drag.over === key) || undefined}
            data-drop={key}
            onClick={() => (selected.length === 0 ? onShow(group.id) : drop(selected, target, false))}
          >
            <bdi>{group.title}</bdi> ({group.slots.length})
            {selected.length === 0 ? null : (
              <span className="visually-hidden">
                {' '}
                {t(shown === null ? 'arrange.addToGroup' : 'arrange.moveToGroup', {
                  name: namesOf(selected, nameOf),
                  group: group.title,
                })}
              </span>
            )}
          </button>
        )
      })}
    </nav>
  )
}
