import type { Group } from '../../src/contract/groups.ts'
import './arrange.css'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { PlaceholderInData } from '../../src/contract/placeholders.ts'
import type { SlotHolder } from '../../src/domain/equipment/slots.ts'
import {
  firstFreeSlot,
  type Placing,
  placeholderFor,
  planChange,
  planDrop,
  positionsToShow,
  slotOf,
  type Thing,
} from '../app/arrangement.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { placeholderTitle } from '../app/slot-records.ts'
import type { View } from '../app/view.ts'
import { ArrangeBar } from './arrange-bar.tsx'
import { PlaceholderDialog } from './placeholder-dialog.tsx'
import { GroupTargets, type SelectedTile, type SlotContent, Tile, type TileSelection } from './tiles.tsx'
import { type Edits, useEdits } from './use-edits.ts'
import { useTileDrag } from './use-tile-drag.ts'

interface ArrangeProps {
  readonly view: View
  change(view: Partial<View>): void
  onDone(): void
}

export function Arrange({ view, change, onDone }: ArrangeProps) {
  const contents = useSlotContents()
  const groups = useWatchState((watchState) => watchState.groups)
  const placeholders = useWatchState((watchState) => watchState.placeholders)
  const shown = groupShown(groups, view)
  const edits = useEdits()
  const [selected, select] = useState<Thing | null>(null)
  const [placing, setPlacing] = useState<Placing>('swap')
  const [edited, editPlaceholder] = useState<number | null>(null)
  const nameOf = (slot: number) => nameIn(contents, slot)

  const drop: TileSelection['drop'] = (thing, target, isShiftPressed) => {
    select(null)
    const other = placing === 'swap' ? 'insert' : 'swap'
    void edits.dispatch((arrangement) =>
      planDrop(
        { ...arrangement, shown: groupShown(arrangement.groups, view) },
        thing,
        target,
        isShiftPressed ? other : placing,
      ),
    )
  }
  const drag = useTileDrag(drop)
  const holders = [...contents].map(([slot, { kind, id }]) => ({ kind, id, slot }))
  const selectedTile = tileOf(selected, holders)
  const tileSelection: TileSelection = {
    ...{ drag, nameOf, select, drop, editPlaceholder },
    selected: selectedTile,
    dragged: tileOf(drag.thing, holders),
    isMerge: (thing, slot) =>
      shown === null && placing === 'swap' && placeholderFor(thing, placeholders, slot) !== undefined,
  }
  useArrangeKeys(edits, () => select(null))
  const addToShown = (slot: number) => {
    if (shown === null || shown.slots.includes(slot)) return
    void edits.dispatch(planChange(shown.id, ({ slots }) => ({ slots: [...slots, slot] })))
  }

  return (
    <section className="arrange" aria-label={t('arrange.title')} data-placing={placing}>
      <ArrangeBar
        {...{ shown, edits, change, placing, setPlacing, onDone }}
        onPlaceholder={() => editPlaceholder(firstFreeSlot(holders))}
      />
      <p className="arrange-intro" role="status">
        {selectedTile !== null
          ? t('arrange.selected', { name: nameOf(selectedTile.slot) })
          : shown === null
            ? t('arrange.intro')
            : t('arrange.introGroup')}
      </p>
      <GroupTargets groups={groups} shown={shown} tileSelection={tileSelection} onShow={(group) => change({ group })} />
      {shown === null ? (
        <Tiles slots={positionsToShow(holders)} {...{ contents, tileSelection }} label={t('arrange.slots')} />
      ) : (
        <GroupTiles {...{ shown, contents, tileSelection, edits }} />
      )}
      {tileSelection.dragged === null ? null : (
        <div className="tile-ghost" ref={drag.ghost} aria-hidden="true">
          <span className="tile-slot">{tileSelection.dragged.slot}</span> {nameOf(tileSelection.dragged.slot)}
        </div>
      )}
      {edited === null ? null : (
        <PlaceholderDialog
          slot={edited}
          {...{ contents, edits, nameOf }}
          onAdded={addToShown}
          onClose={() => editPlaceholder(null)}
        />
      )}
    </section>
  )
}

type SlotContents = ReadonlyMap<number, SlotContent>

function useSlotContents(): SlotContents {
  const { watch } = useServices()
  const cards = useSyncExternalStore(watch.subscribe, watch.cards)
  const placeholders = useWatchState((watchState) => watchState.placeholders)
  const slotRecords = useWatchState((watchState) => watchState.slotRecords)
  return useMemo(() => {
    const ofPlaceholder = (placeholder: PlaceholderInData): SlotContent => {
      const title = placeholderTitle(slotRecords, placeholder)
      return { kind: 'placeholder', id: placeholder.id, title, placeholder }
    }
    return new Map<number, SlotContent>([
      ...placeholders.map((placeholder) => [placeholder.slot, ofPlaceholder(placeholder)] as const),
      ...cards.map((card) => [card.slot, { kind: 'channel', id: card.channelId, card }] as const),
    ])
  }, [cards, placeholders, slotRecords])
}

/** Null if the channel or placeholder is gone. */
function tileOf(thing: Thing | null, holders: readonly SlotHolder[]): SelectedTile | null {
  const slot = thing === null ? null : slotOf(thing, holders)
  return thing === null || slot === null ? null : { thing, slot }
}

function useArrangeKeys(edits: Edits, deselect: () => void) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape') deselect()
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, dialog') !== null
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || isTyping) return
      event.preventDefault()
      void edits.undo()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}

interface GroupTilesProps extends Pick<TilesProps, 'contents' | 'tileSelection'> {
  readonly shown: Group
  readonly edits: Edits
}

function GroupTiles({ shown, contents, tileSelection, edits }: GroupTilesProps) {
  const outside = [...contents.keys()].filter((slot) => !shown.slots.includes(slot)).toSorted((a, b) => a - b)
  const remove = (slot: number) => {
    void edits.dispatch(planChange(shown.id, ({ slots }) => ({ slots: slots.filter((item) => item !== slot) })))
  }
  return (
    <>
      <Tiles slots={shown.slots} {...{ contents, tileSelection, remove }} label={shown.title} isGroup={true} />
      {outside.length === 0 ? null : (
        <>
          <h2>{t('arrange.outside')}</h2>
          <Tiles slots={outside} {...{ contents, tileSelection }} label={t('arrange.outside')} isSource={true} />
        </>
      )}
    </>
  )
}

interface TilesProps {
  readonly slots: readonly number[]
  readonly contents: SlotContents
  readonly tileSelection: TileSelection
  readonly label: string
  readonly isGroup?: boolean
  /** Tiles can be dragged from this list but not dropped on it. */
  readonly isSource?: boolean
  remove?(slot: number): void
}

function Tiles({ slots, contents, tileSelection, label, isGroup = false, isSource = false, remove }: TilesProps) {
  return (
    <ul className="tiles" aria-label={label}>
      {slots.map((slot) => (
        <Tile
          key={slot}
          target={isSource ? null : { kind: 'slot', slot }}
          slot={slot}
          content={contents.get(slot) ?? null}
          // An empty slot can be moved only within a group.
          isMovable={contents.has(slot) || isGroup}
          {...{ tileSelection, remove }}
        />
      ))}
      {isGroup ? (
        <Tile target={{ kind: 'end' }} slot={null} content={null} isMovable={false} tileSelection={tileSelection} />
      ) : null}
    </ul>
  )
}

function groupShown(groups: readonly Group[], view: View): Group | null {
  return groups.find((group) => group.id === view.group) ?? null
}

function nameIn(contents: SlotContents, slot: number): string {
  const content = contents.get(slot)
  if (content === undefined) return t('arrange.planned')
  if (content.kind === 'channel') return content.card.title
  return content.title || t(`arrange.placeholder.kinds.${content.placeholder.kind}`)
}
