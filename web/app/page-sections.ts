/** The sections of the catalogues that are loaded with the pages that use them. All others are loaded at the start. */
export const pageSections = [
  'about',
  'audit',
  'cast',
  'connections',
  'frequencies',
  'layout',
  'manufacturers',
  'movements',
  'nodes',
  'notifications',
  'people',
  'planningCenter',
  'queue',
  'settings',
  'tokens',
  'undo',
] as const

export type PageSection = (typeof pageSections)[number]
