import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { useServices, useWatchState } from './context.ts'
import { readLocal, writeLocal } from './local-storage.ts'
import { narrow } from './use-media.ts'
import { addressOf, changeView, memoryOf, parseView, type Theme, type View, viewOf, withMemory } from './view.ts'

type LivePage = 'monitor' | 'wall'

const viewChanged = 'micwatch-view'
/** `desk` is the monitor's key in version 0.1.0, so that browsers still find the stored view. */
const storageKeys: Readonly<Record<LivePage, string>> = { monitor: 'micwatch.view.desk', wall: 'micwatch.view.wall' }

export function useView(page: LivePage): [View, (change: Partial<View>) => void] {
  const { painter } = useServices()
  const navigate = useNavigate()
  const inAddress = useSearch({ strict: false })
  const memory = useSyncExternalStore(follow, () => storedView(page))
  const parsed = withMemory(parseView(inAddress), memory)
  // An unknown manufacturer is ignored, like every unknown value in the URL.
  const isKnown = useWatchState(
    ({ health }) => health?.manufacturers.some(({ code }) => code === parsed.manufacturer) ?? true,
  )
  const view = isKnown ? parsed : { ...parsed, manufacturer: null }
  const change = useCallback(
    (patch: Partial<View>) => {
      const search = (before: object) => {
        const remembered = storedView(page)
        const next = changeView(parseView({ ...before }), patch, remembered)
        watch(page, memoryOf(next, remembered))
        return addressOf(next)
      }
      void navigate({ to: '.', search, replace: true, resetScroll: false })
      window.dispatchEvent(new Event(viewChanged))
    },
    [page, navigate],
  )
  useEffect(() => {
    applyTheme(view.theme)
    painter.recolour()
  }, [view.theme, painter])
  return [view, change]
}

function follow(listener: () => void): () => void {
  for (const name of ['storage', viewChanged]) window.addEventListener(name, listener)
  return () => {
    for (const name of ['storage', viewChanged]) window.removeEventListener(name, listener)
  }
}

function storedView(page: LivePage): string {
  // Only the first `sort` in this query is used, so the appended one is the default on narrow screens.
  const sort = page === 'monitor' && matchMedia(narrow).matches ? '&sort=problems' : ''
  return `${readLocal(storageKeys[page])}&theme=${readLocal('micwatch.theme')}${sort}`
}

function watch(page: LivePage, memory: string): void {
  const query = new URLSearchParams(memory)
  const theme = query.get('theme') ?? ''
  // All pages in this browser share the theme, so it has its own key.
  query.delete('theme')
  writeLocal('micwatch.theme', theme)
  writeLocal(storageKeys[page], query.toString())
}

export function applyTheme(theme: Theme): void {
  const root = document.documentElement
  root.dataset.theme = theme === 'system' ? systemTheme() : theme
  // The title bar of the installed app has the colour of the header.
  const colour = getComputedStyle(root).getPropertyValue('--surface-bar').trim()
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', colour)
}

function systemTheme(): Exclude<Theme, 'system'> {
  if (matchMedia('(prefers-contrast: more)').matches) return 'contrast'
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
}

export function rememberedTheme(search: string): Theme {
  return viewOf(search, `theme=${readLocal('micwatch.theme')}`).theme
}
