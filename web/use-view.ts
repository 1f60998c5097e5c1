/** How this page is to be shown, and how to change that: the address follows, and the device remembers. */

import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { useSurroundings } from './context.ts'
import { keep, recall } from './memory.ts'
import { applyTheme } from './theme.ts'
import { memoryOf, searchOf, type View, viewOf } from './view.ts'

type Place = 'desk' | 'wall'

const moved = 'micwatch-view'

export function useView(place: Place): [View, (change: Partial<View>) => void] {
  const { manufacturer, painter } = useSurroundings()
  const search = useSyncExternalStore(follow, () => location.search)
  const memory = useSyncExternalStore(follow, () => memoryOfPlace(place))
  const view = { ...viewOf(search, memory), manufacturer }
  const change = useCallback(
    (wanted: Partial<View>) => {
      const next = { ...viewOf(location.search, memoryOfPlace(place)), manufacturer, ...wanted }
      remember(place, memoryOf(next))
      const address = location.pathname + searchOf(next, location.search)
      // Every page is loaded for one manufacturer, or for all of them.
      if (next.manufacturer !== manufacturer) return location.assign(address)
      history.replaceState(null, '', address)
      window.dispatchEvent(new Event(moved))
    },
    [place, manufacturer],
  )
  useEffect(() => {
    applyTheme(view.theme)
    painter.recolour()
  }, [view.theme, painter])
  return [view, change]
}

function follow(listener: () => void): () => void {
  for (const name of ['popstate', 'storage', moved]) window.addEventListener(name, listener)
  return () => {
    for (const name of ['popstate', 'storage', moved]) window.removeEventListener(name, listener)
  }
}

function memoryOfPlace(place: Place): string {
  // The first of each name holds: what nobody has chosen yet is problems first where there is room for few.
  const narrow = place === 'desk' && matchMedia('(max-width: 640px)').matches ? '&sort=problems' : ''
  return `${recall(`micwatch.view.${place}`)}&theme=${recall('micwatch.theme')}${narrow}`
}

function remember(place: Place, memory: string): void {
  const query = new URLSearchParams(memory)
  const theme = query.get('theme') ?? ''
  // One for all pages of this device.
  query.delete('theme')
  keep('micwatch.theme', theme)
  keep(`micwatch.view.${place}`, query.toString())
}
