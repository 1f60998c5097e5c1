/** What is picked up while arranging, and where it can be put down. */

import type { DragEvent, KeyboardEvent } from 'react'
import type { Group } from '../../src/model/api.ts'
import type { Target } from '../arrangement.ts'
import type { ChannelFacts } from '../channel-state.ts'
import { t } from '../i18n.ts'
import { isSpacer } from '../places.ts'
import { StateIcon } from './state-icon.tsx'

export interface Carry {
  /** The position of what is picked up. */
  readonly carried: number | null
  nameOf(slot: number): string
  pickUp(slot: number | null): void
  drop(slot: number, target: Target): void
}

interface TileProps {
  /** What dropping here means; null where nothing is dropped. */
  readonly target: Target | null
  /** Null for the end of a group. */
  readonly slot: number | null
  readonly card: ChannelFacts | null
  readonly isMovable: boolean
  readonly carry: Carry
  takeOut?: ((slot: number) => void) | undefined
}

export function Tile({ target, slot, card, isMovable, carry, takeOut }: TileProps) {
  const { carried, nameOf, pickUp, drop } = carry
  const isCarried = carried !== null && carried === slot
  const press = () => {
    if (isCarried) pickUp(null)
    else if (carried !== null && target !== null) drop(carried, target)
    else if (isMovable) pickUp(slot)
  }
  return (
    <li
      className="tile"
      data-kind={card !== null ? 'channel' : slot !== null && isSpacer(slot) ? 'spacer' : 'free'}
      data-state={card?.state}
      data-carried={isCarried || undefined}
      data-target={(carried !== null && !isCarried && target !== null) || undefined}
      {...(target === null ? {} : dropsOn(target, carry))}
    >
      <button
        type="button"
        className="tile-button"
        draggable={isMovable && slot !== null}
        aria-pressed={isCarried}
        onClick={press}
        onKeyDown={moveFocus}
        onDragStart={(event) => {
          event.dataTransfer.setData('text/plain', String(slot))
          event.dataTransfer.effectAllowed = 'move'
          pickUp(slot)
        }}
        onDragEnd={() => pickUp(null)}
      >
        <span className="tile-slot">{slot === null || isSpacer(slot) ? '' : slot}</span>
        <span className="tile-name">
          {card === null ? (slot === null ? t('arrange.end') : emptyName(slot, takeOut !== undefined)) : null}
          {card === null ? null : <bdi>{card.name ?? t('card.noName')}</bdi>}
        </span>
        {card === null ? null : <StateIcon state={card.state} />}
        <span className="for-listeners"> {labelOf({ slot, carried, isCarried, isMovable, nameOf })}</span>
      </button>
      {takeOut === undefined || slot === null ? null : (
        <button type="button" className="tile-out" onClick={() => takeOut(slot)} title={t('arrange.removeShort')}>
          <span aria-hidden="true">×</span>
          <span className="for-listeners">{t('arrange.remove', { name: nameOf(slot) })}</span>
        </button>
      )}
    </li>
  )
}

function emptyName(slot: number, isInGroup: boolean): string {
  if (isSpacer(slot)) return t('arrange.blank')
  return isInGroup ? t('arrange.planned') : t('arrange.free')
}

interface Labelled extends Pick<Carry, 'carried' | 'nameOf'> {
  readonly slot: number | null
  readonly isCarried: boolean
  readonly isMovable: boolean
}

function labelOf({ slot, carried, isCarried, isMovable, nameOf }: Labelled): string {
  if (isCarried && slot !== null) return t('arrange.deselect', { name: nameOf(slot) })
  if (carried !== null) {
    return slot === null
      ? t('arrange.moveToEnd', { name: nameOf(carried) })
      : t('arrange.moveTo', { name: nameOf(carried), slot })
  }
  if (slot === null) return t('arrange.end')
  return isMovable
    ? t('arrange.select', { name: nameOf(slot), slot })
    : `${t('card.slot', { slot })}, ${t('arrange.free')}`
}

/** The arrows go from tile to tile; what is done there is the button's business. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const all = [...document.querySelectorAll<HTMLButtonElement>('.arrange .tile-button')]
  all[all.indexOf(event.currentTarget) + step]?.focus()
}

function dropsOn(target: Target, { carried, drop }: Carry) {
  return {
    onDragOver(event: DragEvent) {
      if (carried !== null) event.preventDefault()
    },
    onDrop(event: DragEvent) {
      event.preventDefault()
      if (carried !== null) drop(carried, target)
    },
  }
}

interface GroupTargetsProps {
  readonly groups: readonly Group[]
  readonly shown: Group | null
  readonly carry: Carry
  onShow(group: number | null): void
}

/** Shows a group when nothing is picked up; takes what is. */
export function GroupTargets({ groups, shown, carry, onShow }: GroupTargetsProps) {
  const { carried, nameOf, drop } = carry
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
            data-target={carried !== null || undefined}
            onClick={() => (carried === null ? onShow(group.id) : drop(carried, target))}
            {...dropsOn(target, carry)}
          >
            <bdi>{group.title}</bdi> ({group.slots.length})
            {carried === null ? null : (
              <span className="for-listeners">
                {' '}
                {t('arrange.addToGroup', { name: nameOf(carried), group: group.title })}
              </span>
            )}
          </button>
        )
      })}
    </nav>
  )
}
