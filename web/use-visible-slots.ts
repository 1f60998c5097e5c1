/** The slots that a view displays, encoded as a string that changes only when they do. */

import { useMemo, useSyncExternalStore } from 'react'
import { useServices } from './context.ts'
import type { View } from './view.ts'
import { encodeSlots, visibleSlots } from './visible-slots.ts'

export function useVisibleSlots(view: View): string {
  const { store } = useServices()
  const { manufacturer, group, q, state, sort } = view
  const read = useMemo(() => {
    let seen: readonly unknown[] = []
    let text = ''
    return () => {
      const cards = store.cards()
      const { groups } = store.get()
      if (seen[0] === cards && seen[1] === groups) return text
      seen = [cards, groups]
      const rfOf = ({ receiverId, channelId }: (typeof cards)[number]) => store.levels(receiverId, channelId).rf
      text = encodeSlots(visibleSlots({ cards, groups, view: { manufacturer, group, q, state, sort }, rfOf }))
      return text
    }
  }, [store, manufacturer, group, q, state, sort])
  return useSyncExternalStore(store.subscribe, read)
}
