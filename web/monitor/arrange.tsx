import type { Group } from '../../src/contract/groups.ts'
import './arrange.css'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { PlaceholderInData } from '../../src/contract/placeholders.ts'
import {
  firstFreeSlot,
  type Placing,
  type Plan,
  placeholderFor,
  planChange,
  planDrop,
  positionsToShow,
  slotOf,
  slotsOf,
  type Thing,
  thingIn,
} from '../app/arrangement.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { placeholderTitle } from '../app/slot-records.ts'
import type { View } from '../app/view.ts'
import { useRegion } from '../parts/use-region.ts'
import { ArrangeBar } from './arrange-bar.tsx'
import { PlaceholderDialog } from './placeholder-dialog.tsx'
import { GroupTargets, namesOf, type SelectionChange, type SlotContent, Tile, type TileSelection } from './tiles.tsx'
import { arrangementOf, type Edits, useEdits } from './use-edits.ts'
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
  const { watch } = useServices()
  const [{ things }, setSelection] = useState<Selection>(nothingSelected)
  const [isSelecting, setSelecting] = useState(false)
  const [placing, setPlacing] = useState<Placing>('swap')
  const [edited, editPlaceholder] = useState<number | null>(null)
  const nameOf = (slot: number) => nameIn(contents, slot)

  const holders = [...contents].map(([slot, { kind, id }]) => ({ kind, id, slot }))
  const tilesOf = (things: readonly Thing[]) => {
    const slots = slotsOf(things, holders, shown)
    return slots.map((slot) => ({ slot, thing: things.find((thing) => slotOf(thing, holders) === slot) ?? '' }))
  }
  const drop: TileSelection['drop'] = (tiles, target, isShiftPressed) => {
    setSelection(nothingSelected)
    setSelecting(false)
    const other = placing === 'swap' ? 'insert' : 'swap'
    const things = tiles.map(({ thing }) => thing)
    const plan: Plan = (arrangement) =>
      planDrop(
        { ...arrangement, shown: groupShown(arrangement.groups, view) },
        things,
        target,
        isShiftPressed ? other : placing,
      )
    const moved = edits.dispatch(plan, { expected: plan(arrangementOf(watch.get())) })
    const left = new Set(shown?.slots.filter((slot) => tiles.some((tile) => tile.slot === slot)))
    if (target.kind !== 'group' || shown === null || target.id === shown.id || left.size === 0) return
    const leave = planChange(shown.id, ({ slots }) => ({ slots: slots.filter((slot) => !left.has(slot)) }))
    void moved.then((hasMoved) => hasMoved && edits.dispatch(leave, { isJoined: true }))
  }
  const selected = tilesOf(things)
  const isInSelection = (thing: Thing) => selected.some((tile) => tile.thing === thing)
  const drag = useTileDrag((thing, ...to) => drop(isInSelection(thing) ? selected : tilesOf([thing]), ...to))
  const select: TileSelection['select'] = (thing, how) => {
    if (thing === null) return setSelection(nothingSelected)
    setSelection((before) => changeSelection(before, thing, how, inOrder(contents, shown)))
  }
  const tileSelection: TileSelection = {
    ...{ drag, nameOf, select, drop, editPlaceholder, selected, isSelecting },
    dragged: drag.thing === null ? [] : isInSelection(drag.thing) ? selected : tilesOf([drag.thing]),
    isMerge: (thing, slot) =>
      shown === null && placing === 'swap' && placeholderFor(thing, placeholders, slot) !== undefined,
  }
  useArrangeKeys(edits, () => setSelection(nothingSelected))
  const addToShown = (slot: number) => {
    if (shown === null || shown.slots.includes(slot)) return
    void edits.dispatch(planChange(shown.id, ({ slots }) => ({ slots: [...slots, slot] })))
  }

  return (
    <section className="arrange" aria-label={t('arrange.title')} data-placing={placing}>
      <ArrangeBar
        {...{ shown, edits, change, placing, setPlacing, isSelecting, setSelecting, onDone }}
        onPlaceholder={() => editPlaceholder(firstFreeSlot(holders))}
      />
      <p className="arrange-intro" role="status">
        {selected.length > 0
          ? t('arrange.selected', { name: namesOf(selected, nameOf) })
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
      {tileSelection.dragged.length === 0 ? null : (
        <div className="tile-ghost" ref={drag.ghost} aria-hidden="true">
          <span className="tile-slot">{tileSelection.dragged[0]?.slot}</span> {namesOf(tileSelection.dragged, nameOf)}
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

interface Selection {
  readonly things: readonly Thing[]
  /** Where a range begins. */
  readonly anchor: Thing | null
}

const nothingSelected: Selection = { things: [], anchor: null }

function changeSelection(
  { things, anchor }: Selection,
  thing: Thing,
  how: SelectionChange,
  all: readonly Thing[],
): Selection {
  const start = anchor === null ? -1 : all.indexOf(anchor)
  if (how === 'range' && start >= 0) {
    const [from, to] = [start, all.indexOf(thing)].sort((a, b) => a - b)
    return { things: all.slice(from, (to ?? 0) + 1), anchor }
  }
  if (how === 'toggle' && things.includes(thing))
    return { things: things.filter((other) => other !== thing), anchor: thing }
  return { things: how === 'toggle' ? [...things, thing] : [thing], anchor: thing }
}

/** Lists everything that can be moved, in display order. */
function inOrder(contents: SlotContents, shown: Group | null): readonly Thing[] {
  const inGroup = shown?.slots ?? []
  const others = [...contents.keys()].filter((slot) => !inGroup.includes(slot)).toSorted((a, b) => a - b)
  return [...inGroup, ...others].map((slot) => thingIn(slot, contents.get(slot) ?? null))
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
  const region = useRegion<HTMLUListElement>()
  return (
    <ul className="tiles" ref={region} aria-label={label}>
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
