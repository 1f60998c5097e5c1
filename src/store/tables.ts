/** What a copy of the database holds. */

import type { Schema } from './schema.ts'

/**
 * Every table, those that others refer to before them. A restore leaves out what passes: who is signed in, who polls.
 * `own` belongs to the database and not to the house.
 */
const fates = {
  migrations: 'own',
  leases: 'own',
  meta: 'kept',
  manufacturers: 'kept',
  settings: 'kept',
  sources: 'kept',
  groups: 'kept',
  locations: 'kept',
  receivers: 'kept',
  channels: 'kept',
  discovery_queue: 'kept',
  movements: 'kept',
  connections: 'kept',
  removals: 'kept',
  discovered: 'kept',
  units: 'kept',
  performers: 'kept',
  assignments: 'kept',
  alerts: 'kept',
  audit: 'kept',
  users: 'kept',
  tokens: 'kept',
  known_browsers: 'passing',
  sessions: 'passing',
  failed_tries: 'passing',
  polls: 'passing',
} as const satisfies Record<keyof Schema, 'own' | 'kept' | 'passing'>

type Table = keyof typeof fates

export const keptTables: readonly Table[] = tablesOf('kept')
export const passingTables: readonly Table[] = tablesOf('passing')

function tablesOf(fate: (typeof fates)[Table]): Table[] {
  return (Object.keys(fates) as Table[]).filter((table) => fates[table] === fate)
}

/** Where there is anything in one of these, somebody has put it there. */
export const tellingTables = ['receivers', 'manufacturers', 'groups', 'locations', 'performers', 'users'] as const
