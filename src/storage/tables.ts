import type { Schema } from './schema.ts'

/**
 * All tables, with referenced tables before those that refer to them. A backup contains those that are `kept`. A
 * restore skips `transient` ones. `internal` ones belong to the database and not to the installation's data.
 */
const tableKinds = {
  migrations: 'internal',
  leases: 'internal',
  meta: 'kept',
  manufacturers: 'kept',
  settings: 'kept',
  sources: 'kept',
  groups: 'kept',
  group_settings: 'kept',
  placeholders: 'kept',
  frequency_profiles: 'kept',
  shows: 'kept',
  scenes: 'kept',
  checks: 'kept',
  scans: 'kept',
  locations: 'kept',
  receivers: 'kept',
  receiver_sources: 'kept',
  channels: 'kept',
  channel_conditions: 'kept',
  channel_states: 'kept',
  discharges: 'kept',
  discovery_queue: 'kept',
  movements: 'kept',
  connections: 'kept',
  site_connections: 'kept',
  removals: 'kept',
  discovered: 'kept',
  units: 'kept',
  pictures: 'kept',
  performers: 'kept',
  assignments: 'kept',
  alerts: 'kept',
  events: 'kept',
  silences: 'kept',
  notification_channels: 'kept',
  notification_rules: 'kept',
  notification_deliveries: 'kept',
  notification_delivery_alerts: 'kept',
  planning_center_token: 'kept',
  planning_center_services: 'kept',
  audit: 'kept',
  users: 'kept',
  tokens: 'kept',
  known_browsers: 'transient',
  sessions: 'transient',
  failed_tries: 'transient',
  oidc_logins: 'transient',
  polls: 'transient',
  undo_records: 'transient',
  removed_events: 'transient',
  followed_levels: 'transient',
} as const satisfies Record<keyof Schema, 'internal' | 'kept' | 'transient'>

type Table = keyof typeof tableKinds

export const keptTables: readonly Table[] = tablesOf('kept')
export const transientTables: readonly Table[] = tablesOf('transient')

function tablesOf(kind: (typeof tableKinds)[Table]): Table[] {
  return (Object.keys(tableKinds) as Table[]).filter((table) => tableKinds[table] === kind)
}

/** Tables that are empty in a new installation: any row in them was added by a user or a device. */
export const contentTables = [
  'receivers',
  'manufacturers',
  'groups',
  'placeholders',
  'shows',
  'locations',
  'performers',
  'users',
] as const
