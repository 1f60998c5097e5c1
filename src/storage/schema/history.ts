/** The history: events, states of channels, levels of sites, and battery discharges. */

import type { Generated } from 'kysely'
import type { EventKind } from '../../contract/values.ts'
import type { Flag } from './flag.ts'

export interface HistoryTables {
  events: EventRow
  removed_events: RemovedEventRow
  channel_states: ChannelStateRow
  followed_levels: FollowedLevelsRow
  discharges: DischargeRow
  audio_clips: AudioClipRow
}

export interface EventRow {
  id: Generated<number>
  time: number
  until: number | null
  /** `until`, else `time`; for an event that continues, `endOfTime` in `storage/events.ts`. */
  ends_at: number
  is_open: Flag
  kind: EventKind
  severity: 'info' | 'warning' | 'critical'
  channel_id: number | null
  receiver_id: number | null
  manufacturer: string | null
  text: string
  /** JSON. */
  data: string
  actor: string | null
  subject: string | null
  /** Code and name of the site that has recorded it; null for an event of this installation. */
  site: Generated<string | null>
  site_name: Generated<string | null>
  /** Null except for markers of this installation. */
  version: Generated<number | null>
  created_revision: number
  revision: number
}

interface RemovedEventRow {
  id: number
  removed_at: number
  revision: number
}

interface ChannelStateRow {
  channel_id: number
  time: number
  /** JSON: see `domain/history/channel-state.ts`; null if the channel was removed. */
  state: string | null
}

export interface AudioClipRow {
  id: Generated<number>
  /** The channel may have been removed since. */
  channel_id: number
  /** JSON. */
  event_ids: string
  /** Epoch ms. */
  began_at: number
  ended_at: number
  size: number
  /** JSON. */
  faults: string
  lost_packets: number
  file: string
}

interface FollowedLevelsRow {
  channel_id: number
  /** Seconds per step. */
  step: number
  /** Start of the first step, in epoch seconds. */
  start: number
  /** The levels are complete until then, in epoch seconds. */
  until: number
  /** The time of the last reception, in epoch milliseconds. */
  kept_at: number
  /** See `encodeSteps`; null if the other installation has no steps of this length. */
  levels: Uint8Array | null
}

interface DischargeRow {
  channel_id: number
  started_at: number
  /** Null while the battery is in use. */
  ended_at: number | null
  /** Text of the manufacturer, the model and the type of the battery: see `domain/forecast/discharge.ts`. */
  kind: string
  /** JSON: see `domain/forecast/discharge.ts`. */
  discharge: string
  saved_at: number
}
