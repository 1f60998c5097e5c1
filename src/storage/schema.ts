/**
 * The types of the tables, which `migrations/` creates; `schema/` has a file for each subject. On both engines times
 * are epoch milliseconds, booleans are 0 or 1, and JSON is text.
 */

import type { Generated } from 'kysely'
import type { AccessTables } from './schema/access.ts'
import type { AlertTables } from './schema/alerts.ts'
import type { EquipmentTables } from './schema/equipment.ts'
import type { Flag } from './schema/flag.ts'
import type { HistoryTables } from './schema/history.ts'
import type { MonitoringTables } from './schema/monitoring.ts'
import type { ShowTables } from './schema/shows.ts'

export interface Schema
  extends AccessTables,
    AlertTables,
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
