/** Arrange mode: shows the slots as tiles, which can be moved by drag and drop, keyboard or touch. */

import type { Group } from '../../src/contract/resources/groups.ts'
import '../styles/arrange.css'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { type Edit, planChange, planDrop, positionsToShow, type Target } from '../arrangement.ts'
import type { ChannelFacts } from '../channel-state.ts'
import { useServices, useWatchState } from '../context.ts'
import { t } from '../i18n.ts'
import { type Edits, useEdits } from '../use-edits.ts'
import type { View } from '../view.ts'
import { isSpacer } from '../visible-slots.ts'
import { ArrangeBar } from './arrange-bar.tsx'
import { Confirmation } from './dialog.tsx'
import { GroupTargets, Tile, type TileSelection } from './tiles.tsx'

interface ArrangeProps {
  readonly view: View
  change(view: Partial<View>): void
  onDone(): void
}

export function Arrange({ view, change, onDone }: ArrangeProps) {
  const { store } = useServices()
  const cards = useSyncExternalStore(store.subscribe, store.cards)
  const groups = useWatchState((watchState) => watchState.groups)
  const shown = groupShown(groups, view)
  const edits = useEdits()
  const [selected, setCarried] = useState<number | null>(null)
  const [swap, setSwap] = useState<Extract<Edit, { type: 'swap' }> | null>(null)
  const nameOf = (slot: number) => nameAt(cards, slot)

  const drop = (slot: number, target: Target) => {
    setCarried(null)
    const plan = (of: readonly Group[]) => planDrop({ cards, groups: of, shown: groupShown(of, view) }, slot, target)
    const edit = plan(groups)
    if (edit?.type === 'swap') setSwap(edit)
    else void edits.dispatch(plan)
  }
  const tileSelection: TileSelection = { selected, nameOf, select: setCarried, drop }
  useArrangeKeys(edits, () => setCarried(null))

  return (
    <section className="arrange" aria-label={t('arrange.title')}>
      <ArrangeBar {...{ shown, edits, change, onDone }} />
      <p className="arrange-intro" role="status">
        {selected !== null
          ? t('arrange.selected', { name: nameOf(selected) })
          : shown === null
            ? t('arrange.intro')
            : t('arrange.introGroup')}
      </p>
      <GroupTargets groups={groups} shown={shown} tileSelection={tileSelection} onShow={(group) => change({ group })} />
      {shown === null ? (
        <Tiles slots={positionsToShow(cards)} {...{ cards, tileSelection }} label={t('arrange.slots')} />
      ) : (
        <GroupTiles {...{ shown, cards, tileSelection, edits }} />
      )}
      {swap === null ? null : <SwapQuestion {...{ swap, nameOf, edits }} onClose={() => setSwap(null)} />}
    </section>
  )
}

function useArrangeKeys(edits: Edits, deselect: () => void) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape') deselect()
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea') !== null
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || isTyping) return
      event.preventDefault()
      void edits.undo()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}

function GroupTiles({
  shown,
  cards,
  tileSelection,
  edits,
}: {
  shown: Group
  cards: readonly ChannelFacts[]
  tileSelection: TileSelection
  edits: Edits
}) {
  const outside = cards.filter((card) => !shown.slots.includes(card.slot)).map((card) => card.slot)
  const remove = (slot: number) => {
    void edits.dispatch(planChange(shown.id, ({ slots }) => ({ slots: slots.filter((item) => item !== slot) })))
  }
  return (
    <>
      <Tiles slots={shown.slots} {...{ cards, tileSelection, remove }} label={shown.title} hasEnd={true} />
      {outside.length === 0 ? null : (
        <>
          <h2>{t('arrange.outside')}</h2>
          <Tiles slots={outside} {...{ cards, tileSelection }} label={t('arrange.outside')} isSource={true} />
        </>
      )}
    </>
  )
}

interface TilesProps {
  readonly slots: readonly number[]
  readonly cards: readonly ChannelFacts[]
  readonly tileSelection: TileSelection
  readonly label: string
  readonly hasEnd?: boolean
  /** Tiles can be dragged from this list but not dropped on it. */
  readonly isSource?: boolean
  remove?(slot: number): void
}

function Tiles({ slots, cards, tileSelection, label, hasEnd = false, isSource = false, remove }: TilesProps) {
  const bySlots = new Map(cards.map((card) => [card.slot, card]))
  return (
    <ul className="tiles" aria-label={label}>
      {slots.map((slot) => (
        <Tile
          key={slot}
          target={isSource ? null : { kind: 'place', slot }}
          slot={slot}
          card={bySlots.get(slot) ?? null}
          // Planned and blank slots can be moved only within a group.
          isMovable={bySlots.has(slot) || hasEnd}
          {...{ tileSelection, remove }}
        />
      ))}
      {hasEnd ? (
        <Tile target={{ kind: 'end' }} slot={null} card={null} isMovable={false} tileSelection={tileSelection} />
      ) : null}
    </ul>
  )
}

interface SwapQuestionProps {
  readonly swap: Extract<Edit, { type: 'swap' }>
  readonly edits: Edits
  nameOf(slot: number): string
  onClose(): void
}

function SwapQuestion({ swap, nameOf, edits, onClose }: SwapQuestionProps) {
  const holder = nameOf(swap.b.slot)
  const confirm = () => {
    onClose()
    void edits.dispatch(() => swap)
  }
  return (
    <Confirmation
      title={t('arrange.swapTitle', { slot: swap.b.slot, holder })}
      action={t('arrange.swap')}
      isSending={false}
      problem={null}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t('arrange.swapText', { name: nameOf(swap.a.slot), holder })}</p>
    </Confirmation>
  )
}

function groupShown(groups: readonly Group[], view: View): Group | null {
  return groups.find((group) => group.id === view.group) ?? null
}

function nameAt(cards: readonly ChannelFacts[], slot: number): string {
  const card = cards.find((card) => card.slot === slot)
  if (card !== undefined) return card.name ?? t('card.noName')
  return isSpacer(slot) ? t('arrange.blank') : t('arrange.planned')
}
