/** Tiles of the arrange mode, which can be selected, dragged and dropped. */

import type { DragEvent, KeyboardEvent } from 'react'
import type { Group } from '../../src/contract/resources/groups.ts'
import type { Target } from '../arrangement.ts'
import type { ChannelFacts } from '../channel-state.ts'
import { t } from '../i18n.ts'
import { isSpacer } from '../visible-slots.ts'
import { StateIcon } from './state-icon.tsx'

export interface TileSelection {
  /** The selected slot. */
  readonly selected: number | null
  nameOf(slot: number): string
  select(slot: number | null): void
  drop(slot: number, target: Target): void
}

interface TileProps {
  /** The drop target; null when nothing can be dropped here. */
  readonly target: Target | null
  /** The slot that the tile shows; null for the tile at the end of a group. */
  readonly slot: number | null
  readonly card: ChannelFacts | null
  readonly isMovable: boolean
  readonly tileSelection: TileSelection
  remove?: ((slot: number) => void) | undefined
}

export function Tile({ target, slot, card, isMovable, tileSelection, remove }: TileProps) {
  const { selected, nameOf, select, drop } = tileSelection
  const isSelected = selected !== null && selected === slot
  const press = () => {
    if (isSelected) select(null)
    else if (selected !== null && target !== null) drop(selected, target)
    else if (isMovable) select(slot)
  }
  return (
    <li
      className="tile"
      data-kind={card !== null ? 'channel' : slot !== null && isSpacer(slot) ? 'spacer' : 'free'}
      data-state={card?.state}
      data-selected={isSelected || undefined}
      data-target={(selected !== null && !isSelected && target !== null) || undefined}
      {...(target === null ? {} : dropsOn(target, tileSelection))}
    >
      <button
        type="button"
        className="tile-button"
        draggable={isMovable && slot !== null}
        aria-pressed={isSelected}
        onClick={press}
        onKeyDown={moveFocus}
        onDragStart={(event) => {
          event.dataTransfer.setData('text/plain', String(slot))
          event.dataTransfer.effectAllowed = 'move'
          select(slot)
        }}
        onDragEnd={() => select(null)}
      >
        <span className="tile-slot">{slot === null || isSpacer(slot) ? '' : slot}</span>
        <span className="tile-name">
          {card === null ? (slot === null ? t('arrange.end') : emptyName(slot, remove !== undefined)) : null}
          {card === null ? null : <bdi>{card.name ?? t('card.noName')}</bdi>}
        </span>
        {card === null ? null : <StateIcon state={card.state} />}
        <span className="visually-hidden"> {labelOf({ slot, selected, isSelected, isMovable, nameOf })}</span>
      </button>
      {remove === undefined || slot === null ? null : (
        <button type="button" className="tile-remove" onClick={() => remove(slot)} title={t('arrange.removeShort')}>
          <span aria-hidden="true">×</span>
          <span className="visually-hidden">{t('arrange.remove', { name: nameOf(slot) })}</span>
        </button>
      )}
    </li>
  )
}

function emptyName(slot: number, isInGroup: boolean): string {
  if (isSpacer(slot)) return t('arrange.blank')
  return isInGroup ? t('arrange.planned') : t('arrange.free')
}

interface Labelled extends Pick<TileSelection, 'selected' | 'nameOf'> {
  readonly slot: number | null
  readonly isSelected: boolean
  readonly isMovable: boolean
}

function labelOf({ slot, selected, isSelected, isMovable, nameOf }: Labelled): string {
  if (isSelected && slot !== null) return t('arrange.deselect', { name: nameOf(slot) })
  if (selected !== null) {
    return slot === null
      ? t('arrange.moveToEnd', { name: nameOf(selected) })
      : t('arrange.moveTo', { name: nameOf(selected), slot })
  }
  if (slot === null) return t('arrange.end')
  return isMovable
    ? t('arrange.select', { name: nameOf(slot), slot })
    : `${t('card.slot', { slot })}, ${t('arrange.free')}`
}

/** Arrow keys move the focus between tiles. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const all = [...document.querySelectorAll<HTMLButtonElement>('.arrange .tile-button')]
  all[all.indexOf(event.currentTarget) + step]?.focus()
}

function dropsOn(target: Target, { selected, drop }: TileSelection) {
  return {
    onDragOver(event: DragEvent) {
      if (selected !== null) event.preventDefault()
    },
    onDrop(event: DragEvent) {
      event.preventDefault()
      if (selected !== null) drop(selected, target)
    },
  }
}

interface GroupTargetsProps {
  readonly groups: readonly Group[]
  readonly shown: Group | null
  readonly tileSelection: TileSelection
  onShow(group: number | null): void
}

/** A click opens the group, or adds the selected channel to it. */
export function GroupTargets({ groups, shown, tileSelection, onShow }: GroupTargetsProps) {
  const { selected, nameOf, drop } = tileSelection
  return (
    <nav className="group-tabs" aria-label={t('arrange.groups')}>
      <button type="button" className="choice" aria-pressed={shown === null} onClick={() => onShow(null)}>
        {t('live.toolbar.everything')}
      </button>
      {groups.map((group) => {
        const target = { kind: 'group', id: group.id } as const
        return (
          <button
            key={group.id}
            type="button"
            className="choice"
            aria-pressed={shown?.id === group.id}
            data-target={selected !== null || undefined}
            onClick={() => (selected === null ? onShow(group.id) : drop(selected, target))}
            {...dropsOn(target, tileSelection)}
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
