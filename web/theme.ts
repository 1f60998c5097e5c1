/** The colours of the page: the style sheet has one block for each of `data-theme`. */

import { recall } from './memory.ts'
import { type Theme, viewOf } from './view.ts'

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme === 'system' ? systemTheme() : theme
}

function systemTheme(): Exclude<Theme, 'system'> {
  if (matchMedia('(prefers-contrast: more)').matches) return 'contrast'
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
}

/** What the address wants, or this device remembers, before a page says more. */
export function rememberedTheme(search: string): Theme {
  return viewOf(search, `theme=${recall('micwatch.theme')}`).theme
}
