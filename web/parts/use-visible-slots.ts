/** The slots that a view displays, encoded as a string that changes only when they do. */

import { useMemo, useSyncExternalStore } from 'react'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useServices } from '../app/context.ts'
import type { View } from '../app/view.ts'
import { isByLevel } from './channel-order.ts'
import { encodeSlots, visibleSlots } from './visible-slots.ts'

export function useVisibleSlots(view: View): string {
  const { store } = useServices()
  const { manufacturer, site, group, q, state, sort } = view
  const read = useMemo(() => {
    let seen: readonly unknown[] = []
    let text = ''
    return () => {
      const cards = store.cards()
      const { groups, placeholders, now } = store.get()
      // Once per second, as the cards, so that channels do not jump.
      const read = [cards, groups, placeholders, isByLevel(sort) ? now : null]
      if (read.every((value, index) => value === seen[index])) return text
      seen = read
      const view = { manufacturer, site, group, q, state, sort }
      const levelsOf = ({ receiverId, channelId }: ChannelFacts) => store.levels(receiverId, channelId)
      text = encodeSlots(visibleSlots({ cards, placeholders, groups, view, levelsOf }))
      return text
    }
  }, [store, manufacturer, site, group, q, state, sort])
  return useSyncExternalStore(store.subscribe, read)
}
