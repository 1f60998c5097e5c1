/** The current view, and a function that changes it and updates the URL and local storage. */

import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { useServices } from './context.ts'
import { readLocal, writeLocal } from './local-storage.ts'
import { applyTheme } from './theme.ts'
import { memoryOf, searchOf, type View, viewOf } from './view.ts'

type LivePage = 'monitor' | 'wall'

const viewChanged = 'micwatch-view'
/** The monitor's view keeps the key of version 0.1.0 (`desk`), so that browsers still find the stored view. */
const storageKeys: Readonly<Record<LivePage, string>> = { monitor: 'micwatch.view.desk', wall: 'micwatch.view.wall' }

export function useView(page: LivePage): [View, (change: Partial<View>) => void] {
  const { manufacturer, painter } = useServices()
  const search = useSyncExternalStore(follow, () => location.search)
  const memory = useSyncExternalStore(follow, () => storedView(page))
  const view = { ...viewOf(search, memory), manufacturer }
  const change = useCallback(
    (patch: Partial<View>) => {
      const next = { ...viewOf(location.search, storedView(page)), manufacturer, ...patch }
      store(page, memoryOf(next))
      const address = location.pathname + searchOf(next, location.search)
      // A page loads the data of either one manufacturer or all of them, so a change requires a reload.
      if (next.manufacturer !== manufacturer) return location.assign(address)
      history.replaceState(null, '', address)
      window.dispatchEvent(new Event(viewChanged))
    },
    [page, manufacturer],
  )
  useEffect(() => {
    applyTheme(view.theme)
    painter.recolour()
  }, [view.theme, painter])
  return [view, change]
}

function follow(listener: () => void): () => void {
  for (const name of ['popstate', 'storage', viewChanged]) window.addEventListener(name, listener)
  return () => {
    for (const name of ['popstate', 'storage', viewChanged]) window.removeEventListener(name, listener)
  }
}

function storedView(page: LivePage): string {
  // Only the first `sort` in this query is used, so the appended one is the default on narrow screens.
  const narrow = page === 'monitor' && matchMedia('(max-width: 640px)').matches ? '&sort=problems' : ''
  return `${readLocal(storageKeys[page])}&theme=${readLocal('micwatch.theme')}${narrow}`
}

function store(page: LivePage, memory: string): void {
  const query = new URLSearchParams(memory)
  const theme = query.get('theme') ?? ''
  // All pages in this browser share the theme, so it has its own key.
  query.delete('theme')
  writeLocal('micwatch.theme', theme)
  writeLocal(storageKeys[page], query.toString())
}
