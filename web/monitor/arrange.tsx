import type { Group } from '../../src/contract/groups.ts'
import './arrange.css'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { firstFreeSlot, type Placing, planChange, planDrop, positionsToShow } from '../app/arrangement.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { View } from '../app/view.ts'
import { ArrangeBar } from './arrange-bar.tsx'
import { PlaceholderDialog } from './placeholder-dialog.tsx'
import { GroupTargets, type SlotContent, Tile, type TileSelection } from './tiles.tsx'
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
  const shown = groupShown(groups, view)
  const edits = useEdits()
  const [selected, select] = useState<number | null>(null)
  const [placing, setPlacing] = useState<Placing>('swap')
  const [edited, editPlaceholder] = useState<number | null>(null)
  const nameOf = (slot: number) => nameIn(contents, slot)

  const drop: TileSelection['drop'] = (slot, target, isShiftPressed) => {
    select(null)
    const other = placing === 'swap' ? 'insert' : 'swap'
    void edits.dispatch((arrangement) =>
      planDrop(
        { ...arrangement, shown: groupShown(arrangement.groups, view) },
        slot,
        target,
        isShiftPressed ? other : placing,
      ),
    )
  }
  const drag = useTileDrag(drop)
  const tileSelection: TileSelection = { selected, drag, nameOf, select, drop, editPlaceholder }
  useArrangeKeys(edits, () => select(null))
  const addToShown = (slot: number) => {
    if (shown === null || shown.slots.includes(slot)) return
    void edits.dispatch(planChange(shown.id, ({ slots }) => ({ slots: [...slots, slot] })))
  }
  const holders = [...contents.keys()].map((slot) => ({ slot }))

  return (
    <section className="arrange" aria-label={t('arrange.title')} data-placing={placing}>
      <ArrangeBar
        {...{ shown, edits, change, placing, setPlacing, onDone }}
        onPlaceholder={() => editPlaceholder(firstFreeSlot(holders))}
      />
      <p className="arrange-intro" role="status">
        {selected !== null
          ? t('arrange.selected', { name: nameOf(selected) })
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
      {drag.slot === null ? null : (
        <div className="tile-ghost" ref={drag.ghost} aria-hidden="true">
          <span className="tile-slot">{drag.slot}</span> {nameOf(drag.slot)}
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
  return useMemo(
    () =>
      new Map<number, SlotContent>([
        ...placeholders.map((placeholder) => [placeholder.slot, { kind: 'placeholder', placeholder }] as const),
        ...cards.map((card) => [card.slot, { kind: 'channel', card }] as const),
      ]),
    [cards, placeholders],
  )
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
  const { name, kind } = content.placeholder
  return name === '' ? t(`arrange.placeholder.kinds.${kind}`) : plainText(name)
}
