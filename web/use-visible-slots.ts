/** The slots that a view displays, encoded as a string that changes only when they do. */

import { useMemo, useSyncExternalStore } from 'react'
import type { ChannelFacts } from './channel-state.ts'
import { useServices } from './context.ts'
import type { View } from './view.ts'
import { encodeSlots, visibleSlots } from './visible-slots.ts'

export function useVisibleSlots(view: View): string {
  const { store } = useServices()
  const { manufacturer, site, group, q, state, sort } = view
  const read = useMemo(() => {
    let seen: readonly unknown[] = []
    let text = ''
    return () => {
      const cards = store.cards()
      const { groups, placeholders } = store.get()
      if (seen[0] === cards && seen[1] === groups && seen[2] === placeholders) return text
      seen = [cards, groups, placeholders]
      const view = { manufacturer, site, group, q, state, sort }
      const levelsOf = ({ receiverId, channelId }: ChannelFacts) => store.levels(receiverId, channelId)
      text = encodeSlots(visibleSlots({ cards, placeholders, groups, view, levelsOf }))
      return text
    }
  }, [store, manufacturer, site, group, q, state, sort])
  return useSyncExternalStore(store.subscribe, read)
}
