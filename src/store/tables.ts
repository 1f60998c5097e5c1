/** What a copy of the database holds. */

import type { Schema } from './schema.ts'

/**
 * Every table, those that others refer to before them. A restore leaves out what passes: who is signed in, who polls.
 * `own` belongs to the database and not to the house.
 */
const tableKinds = {
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

type Table = keyof typeof tableKinds

export const keptTables: readonly Table[] = tablesOf('kept')
export const transientTables: readonly Table[] = tablesOf('passing')

function tablesOf(fate: (typeof tableKinds)[Table]): Table[] {
  return (Object.keys(tableKinds) as Table[]).filter((table) => tableKinds[table] === fate)
}

/** Where there is anything in one of these, somebody has put it there. */
export const contentTables = ['receivers', 'manufacturers', 'groups', 'locations', 'performers', 'users'] as const
