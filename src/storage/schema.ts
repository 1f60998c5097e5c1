/**
 * The types of the tables, which `migrations/` creates; `schema/` has a file for each subject. On both engines times
 * are epoch milliseconds, booleans are 0 or 1, and JSON is text.
 */

import type { Generated } from 'kysely'
import type { AccessTables } from './schema/access.ts'
import type { AlertTables } from './schema/alerts.ts'
import type { AudioTables } from './schema/audio.ts'
import type { EquipmentTables } from './schema/equipment.ts'
import type { Flag } from './schema/flag.ts'
import type { HistoryTables } from './schema/history.ts'
import type { MonitoringTables } from './schema/monitoring.ts'
import type { ShowTables } from './schema/shows.ts'

export interface Schema
  extends AccessTables,
    AlertTables,
    AudioTables,
    EquipmentTables,
    HistoryTables,
    MonitoringTables,
    ShowTables {
  migrations: MigrationRow
  meta: MetaRow
  manufacturers: ManufacturerRow
  settings: SettingRow
  group_settings: GroupSettingRow
}

interface MigrationRow {
  name: string
  applied_at: number
}

interface MetaRow {
  key: string
  value: number
}

interface ManufacturerRow {
  code: string
  name: string
  plugin: string
  api_enabled: Flag
  /** JSON with encrypted secrets: see `secrets.ts`. */
  config: string
  version: number
}

interface SettingRow {
  id: Generated<number>
  manufacturer: string | null
  key: string
  value: string
}

interface GroupSettingRow {
  group_id: number
  key: string
  value: string
}

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
  measured_scans: 'kept',
  country_bands: 'kept',
  tv_stations: 'kept',
  frequency_plans: 'kept',
  audio_streams: 'kept',
  locations: 'kept',
  receivers: 'kept',
  receiver_sources: 'kept',
  channels: 'kept',
  channel_audio: 'kept',
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
  unit_removals: 'kept',
  pictures: 'kept',
  performers: 'kept',
  slot_entries: 'kept',
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
  changes: 'kept',
  handovers: 'kept',
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
  audio_clips: 'transient',
  audio_listeners: 'transient',
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
