/** Arranging: positions as tiles that are dragged, or picked up and put down with a key or a finger. */

import '../styles/arrange.css'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Group } from '../../src/model/api.ts'
import { type Deed, planChange, planDrop, positionsToShow, type Target } from '../arrangement.ts'
import type { ChannelFacts } from '../channel-state.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { t } from '../i18n.ts'
import { isSpacer } from '../places.ts'
import { type Deeds, useDeeds } from '../use-deeds.ts'
import type { View } from '../view.ts'
import { ArrangeBar } from './arrange-bar.tsx'
import { Confirmation } from './dialog.tsx'
import { type Carry, GroupTargets, Tile } from './tiles.tsx'

interface ArrangeProps {
  readonly view: View
  change(view: Partial<View>): void
  onDone(): void
}

export function Arrange({ view, change, onDone }: ArrangeProps) {
  const { store } = useSurroundings()
  const cards = useSyncExternalStore(store.subscribe, store.cards)
  const groups = useHouse((house) => house.groups)
  const shown = groupShown(groups, view)
  const deeds = useDeeds()
  const [carried, setCarried] = useState<number | null>(null)
  const [swap, setSwap] = useState<Extract<Deed, { type: 'swap' }> | null>(null)
  const nameOf = (slot: number) => nameAt(cards, slot)

  const drop = (slot: number, target: Target) => {
    setCarried(null)
    const plan = (of: readonly Group[]) => planDrop({ cards, groups: of, shown: groupShown(of, view) }, slot, target)
    const deed = plan(groups)
    if (deed?.type === 'swap') setSwap(deed)
    else void deeds.dispatch(plan)
  }
  const carry: Carry = { carried, nameOf, pickUp: setCarried, drop }
  useArrangeKeys(deeds, () => setCarried(null))

  return (
    <section className="arrange" aria-label={t('arrange.title')}>
      <ArrangeBar {...{ shown, deeds, change, onDone }} />
      <p className="arrange-intro" role="status">
        {carried !== null
          ? t('arrange.selected', { name: nameOf(carried) })
          : shown === null
            ? t('arrange.intro')
            : t('arrange.introGroup')}
      </p>
      <GroupTargets groups={groups} shown={shown} carry={carry} onShow={(group) => change({ group })} />
      {shown === null ? (
        <Tiles slots={positionsToShow(cards)} {...{ cards, carry }} label={t('arrange.slots')} />
      ) : (
        <GroupTiles {...{ shown, cards, carry, deeds }} />
      )}
      {swap === null ? null : <SwapQuestion {...{ swap, nameOf, deeds }} onClose={() => setSwap(null)} />}
    </section>
  )
}

function useArrangeKeys(deeds: Deeds, putBack: () => void) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape') putBack()
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea') !== null
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || isTyping) return
      event.preventDefault()
      void deeds.undo()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}

function GroupTiles({
  shown,
  cards,
  carry,
  deeds,
}: {
  shown: Group
  cards: readonly ChannelFacts[]
  carry: Carry
  deeds: Deeds
}) {
  const outside = cards.filter((card) => !shown.slots.includes(card.slot)).map((card) => card.slot)
  const takeOut = (slot: number) => {
    void deeds.dispatch(planChange(shown.id, ({ slots }) => ({ slots: slots.filter((one) => one !== slot) })))
  }
  return (
    <>
      <Tiles slots={shown.slots} {...{ cards, carry, takeOut }} label={shown.title} hasEnd={true} />
      {outside.length === 0 ? null : (
        <>
          <h2>{t('arrange.outside')}</h2>
          <Tiles slots={outside} {...{ cards, carry }} label={t('arrange.outside')} isSource={true} />
        </>
      )}
    </>
  )
}

interface TilesProps {
  readonly slots: readonly number[]
  readonly cards: readonly ChannelFacts[]
  readonly carry: Carry
  readonly label: string
  readonly hasEnd?: boolean
  /** Things are taken from here, and put nowhere here. */
  readonly isSource?: boolean
  takeOut?(slot: number): void
}

function Tiles({ slots, cards, carry, label, hasEnd = false, isSource = false, takeOut }: TilesProps) {
  const bySlots = new Map(cards.map((card) => [card.slot, card]))
  return (
    <ul className="tiles" aria-label={label}>
      {slots.map((slot) => (
        <Tile
          key={slot}
          target={isSource ? null : { kind: 'place', slot }}
          slot={slot}
          card={bySlots.get(slot) ?? null}
          // In a group a planned or blank place can be moved too; elsewhere it is only a place to go to.
          isMovable={bySlots.has(slot) || hasEnd}
          {...{ carry, takeOut }}
        />
      ))}
      {hasEnd ? <Tile target={{ kind: 'end' }} slot={null} card={null} isMovable={false} carry={carry} /> : null}
    </ul>
  )
}

interface SwapQuestionProps {
  readonly swap: Extract<Deed, { type: 'swap' }>
  readonly deeds: Deeds
  nameOf(slot: number): string
  onClose(): void
}

function SwapQuestion({ swap, nameOf, deeds, onClose }: SwapQuestionProps) {
  const holder = nameOf(swap.b.slot)
  const confirm = () => {
    onClose()
    void deeds.dispatch(() => swap)
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
  return groups.find((one) => one.id === view.group) ?? null
}

function nameAt(cards: readonly ChannelFacts[], slot: number): string {
  const card = cards.find((one) => one.slot === slot)
  if (card !== undefined) return card.name ?? t('card.noName')
  return isSpacer(slot) ? t('arrange.blank') : t('arrange.planned')
}
