import { readLocal } from './local-storage.ts'
import { type Theme, viewOf } from './view.ts'

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
