/**
 * The English names of pages and buttons, for hints in messages. A test compares them with the catalogue of the pages.
 */

import type { PageName } from './pages.ts'

/** As shown in menus. */
export const pageNames = {
  alerts: 'Alerts',
  about: 'About',
  overview: 'Admin',
  connections: 'Admin → Connections',
  manufacturers: 'Admin → Manufacturers',
} as const satisfies Partial<Record<PageName, string>>

/** The buttons of the page Admin. */
export const buttonNames = { acknowledge: 'Acknowledge' } as const
