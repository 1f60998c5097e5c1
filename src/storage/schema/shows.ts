/** Shows, scenes, line checks and performers, and the import of casts. */

import type { Generated } from 'kysely'
import type { CheckResult, RecordedChange } from '../../contract/values.ts'
import type { PictureType } from '../../domain/equipment/picture.ts'
import type { Flag } from './flag.ts'

export interface ShowTables {
  shows: ShowRow
  scenes: SceneRow
  checks: CheckRow
  performers: PerformerRow
  pictures: PictureRow
  assignments: AssignmentRow
  undo_records: UndoRow
  changes: ChangeRow
  handovers: HandoverRow
  planning_center_token: PlanningCenterTokenRow
  planning_center_services: PlanningCenterServiceRow
}

interface ShowRow {
  id: Generated<number>
  title: string
  starts_at: number | null
  ends_at: number | null
  /** JSON. */
  group_ids: string
  notes: string
  started_at: number | null
  ended_at: number | null
  /** JSON; null until the show has ended. */
  channel_ids: string | null
  /** JSON: channel id -> frequency; null until the show has started. */
  start_frequencies: string | null
  /** The value of the counter of shows at the last change of its scenes. */
  scenes_revision: Generated<number>
  version: number
}

interface SceneRow {
  id: Generated<number>
  show_id: number
  title: string
  created_at: number
  /** The name of the person who stored it. */
  actor: string
  recalled_at: number | null
  version: number
  /** JSON: see `domain/scenes/arrangement.ts`. */
  arrangement: string
}

export interface CheckRow {
  id: Generated<number>
  show_id: number
  channel_id: number
  /** Null if only the result was entered. */
  began_at: number | null
  /** The following columns are null until the check has a result. */
  checked_at: number | null
  result: CheckResult | null
  note: string | null
  /** JSON: see `CheckedState` in `contract/checks.ts`; also null in rows from before the upgrade. */
  checked: string | null
  /** The user who began it, or who entered the result. */
  actor: string
  revision: number
}

interface PerformerRow {
  id: Generated<number>
  name: string
  notes: string
  picture: string | null
  version: number
}

interface PictureRow {
  id: string
  type: PictureType
  bytes: Uint8Array
}

interface AssignmentRow {
  id: Generated<number>
  performer: number
  wireless_unit: number
  role: string | null
  is_active: Flag
  started_at: number
  ended_at: number | null
}

interface UndoRow {
  id: Generated<number>
  created_at: number
  action: string
  /** JSON. */
  changes: string
  /** The name of the person. */
  actor: string
  /** JSON: the slots that the action concerned. */
  slots: string
  is_undone: Generated<Flag>
}

/** A change by a person, for handovers. */
interface ChangeRow {
  id: Generated<number>
  at: number
  actor: string
  what: RecordedChange
  /** JSON: an id, or the key of a setting. */
  target: string
  slot: number | null
  title: string | null
  /** JSON: the values before and after. */
  before: string
  after: string
}

interface HandoverRow {
  id: Generated<number>
  since: number
  until: number
  actor: string
  /** Empty without a note. */
  note: string
  /** JSON: see `HandoverContents` in `contract/handovers.ts`. */
  contents: string
}

/** The table has at most one row, with the id 1. */
interface PlanningCenterTokenRow {
  id: number
  sealed: string
}

interface PlanningCenterServiceRow {
  service_type: string
  name: string
  /** JSON: the slot of each position. */
  positions: string
  /** JSON: the plan that was loaded last; null if none was loaded. */
  plan: string | null
  loaded_at: number | null
}
