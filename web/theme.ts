/** Theme of the page: the style sheet has one block per value of `data-theme`. */

import { readLocal } from './local-storage.ts'
import { type Theme, viewOf } from './view.ts'

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme === 'system' ? systemTheme() : theme
}

function systemTheme(): Exclude<Theme, 'system'> {
  if (matchMedia('(prefers-contrast: more)').matches) return 'contrast'
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
}

/** Reads the theme from the URL or from local storage, for use before the page is rendered. */
export function rememberedTheme(search: string): Theme {
  return viewOf(search, `theme=${readLocal('micwatch.theme')}`).theme
}
