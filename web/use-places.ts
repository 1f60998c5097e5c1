/** The positions a view shows, as one text that changes only when they do. */

import { useMemo, useSyncExternalStore } from 'react'
import { useSurroundings } from './context.ts'
import { encodePlaces, placesOf } from './places.ts'
import type { View } from './view.ts'

export function usePlaces(view: View): string {
  const { store } = useSurroundings()
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
      text = encodePlaces(placesOf({ cards, groups, view: { manufacturer, group, q, state, sort }, rfOf }))
      return text
    }
  }, [store, manufacturer, group, q, state, sort])
  return useSyncExternalStore(store.subscribe, read)
}
