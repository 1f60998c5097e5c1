/** What is in slots: channels, placeholders, or nothing yet. */

import { useSyncExternalStore } from 'react'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'

export interface SlotContent {
  readonly slot: number
  readonly name: string
  /** Null if no channel is in the slot. */
  readonly facts: ChannelFacts | null
}

/** Returns the contents of the slots, in the order of the slots. */
export function useSlotContents(slots: readonly number[]): readonly SlotContent[] {
  const { store } = useServices()
  const cards = useSyncExternalStore(store.subscribe, store.cards)
  const placeholders = useWatchState((watchState) => watchState.placeholders)
  const cardBySlot = new Map(cards.map((card) => [card.slot, card]))
  const nameBySlot = new Map(placeholders.map(({ slot, name }) => [slot, plainText(name)]))
  return slots.map((slot) => {
    const facts = cardBySlot.get(slot)
    if (facts === undefined) return { slot, name: nameBySlot.get(slot) ?? t('card.planned'), facts: null }
    return { slot, name: facts.name ?? t('card.noName'), facts }
  })
}
