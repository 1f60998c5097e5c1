/** Receivers, channels, units and slots, locations, frequencies and discovered devices. */

import type { Generated } from 'kysely'
import type { PlaceholderKind, Region, ScanFormat, SlotColor } from '../../contract/values.ts'
import type { Flag } from './flag.ts'

export interface EquipmentTables {
  receivers: ReceiverRow
  channels: ChannelRow
  channel_audio: ChannelAudioRow
  removals: RemovalRow
  units: UnitRow
  unit_removals: UnitRemovalRow
  locations: LocationRow
  groups: GroupRow
  placeholders: PlaceholderRow
  slot_entries: SlotEntryRow
  frequency_profiles: FrequencyProfileRow
  scans: ScanRow
  measured_scans: MeasuredScansRow
  country_bands: CountryBandsRow
  tv_stations: TvStationsRow
  frequency_plans: FrequencyPlanRow
  discovered: DiscoveredRow
  discovery_queue: QueueRow
  movements: MovementRow
}

export interface ReceiverRow {
  id: Generated<number>
  manufacturer: string
  api_device_id: string | null
  name: string
  device_type: string
  model: string | null
  serial_number: string | null
  serial_key: string | null
  mac_address: string | null
  mac_key: string | null
  ip: string | null
  subnet_mask: string | null
  gateway: string | null
  network_mode: string | null
  interface_id: string | null
  description: string | null
  firmware_version: string | null
  hosted_firmware_version: string | null
  is_active: Flag
  last_seen: number
  location_id: number | null
  is_named_by_hand: Flag
  is_spare: Flag
  /** JSON: the last readings by channel number. */
  readings: string
  fault: string | null
  /** JSON: the other details that the receiver reports about itself. */
  details: string | null
  /**
   * JSON for a receiver that another installation monitors, otherwise null: its manufacturer, and `site` and `id` of its
   * `ReceiverOrigin`. `manufacturer` is the record with which that installation is followed.
   */
  origin: string | null
  revision: number
  /** The value of the manufacturer's counter at the last change that was only to readings. */
  reading_revision: Generated<number>
  /** Null before the first edit. */
  version: Generated<number | null>
}

interface ChannelRow {
  id: Generated<number>
  receiver_id: number
  channel: number
  slot: number
  /** Id of a frequency profile. */
  profile: Generated<string | null>
  /** JSON: `NotNow` of the domain. */
  not_now: Generated<string | null>
}

/** The channel of an audio stream that carries the sound of a channel. */
interface ChannelAudioRow {
  channel_id: number
  stream_id: number
  channel: number
  label: string | null
}

/** A removed receiver, with the revision of its removal. */
interface RemovalRow {
  receiver_id: number
  revision: number
}

interface UnitRemovalRow {
  unit_id: number
  revision: number
}

export interface UnitRow {
  id: Generated<number>
  manufacturer: string
  channel_id: number | null
  receiver_id: number | null
  api_device_id: string | null
  name: string | null
  model: string | null
  serial_number: string | null
  upstream_slot: number | null
  device_type: string
  battery: number | null
  /** JSON. */
  details: string | null
  is_online: Flag
  revision: number
}

export interface LocationRow {
  id: Generated<number>
  name: string
  description: string
  zone: string | null
  country: string | null
  /** Degrees as text, because numeric columns hold whole numbers. */
  latitude: string | null
  longitude: string | null
  parent: number | null
  version: number
}

interface GroupRow {
  id: Generated<number>
  title: string
  slots: string
  hide_charts: Flag
  zone: string | null
  manufacturer: string | null
  version: number
}

interface PlaceholderRow {
  id: Generated<number>
  slot: number
  kind: PlaceholderKind
  created_at: number
}

/** Either `channel_id` or `placeholder_id` is null. */
export interface SlotEntryRow {
  id: Generated<number>
  channel_id: number | null
  placeholder_id: number | null
  label: string | null
  color: SlotColor | null
  performer: number | null
  role: string | null
  note: string | null
  planned_frequency: string | null
  planned_profile: string | null
  planned_transmitter: string | null
  /** JSON: slots. */
  spares: string
  version: number
}

interface FrequencyProfileRow {
  id: string
  /** JSON: see `domain/frequencies/profile-changes.ts`; empty for a built-in profile that was reset. */
  change: string
  version: number
}

export interface ScanRow {
  id: Generated<number>
  name: string
  format: ScanFormat
  points: number
  from_khz: number
  to_khz: number
  /** Null if the file does not contain it. */
  taken_at: number | null
  uploaded_at: number
  actor: string
  /** Null in scans of versions that did not store it, as is the step. */
  unit: string | null
  is_calibrated: Flag
  step_hz: number | null
  version: number
  /** See `packLevels`. */
  levels: Uint8Array
}

interface CountryBandsRow {
  country: string
  /** JSON. */
  bands: string
  edited_at: number
  actor: string
}

/** The imported list, which is one row. */
interface TvStationsRow {
  id: number
  /** JSON. */
  stations: string
  imported_at: number
}

/** A single row, with the id 1. */
interface MeasuredScansRow {
  id: number
  /** JSON: `MeasuredBody` without the version. */
  options: string
  version: number
}

export interface FrequencyPlanRow {
  id: Generated<number>
  title: string
  show_id: number | null
  region: Region
  /** JSON, as are the following three columns. */
  carriers: string
  spares: string
  /** The settings of the coordination. */
  options: string
  conflicts: string
  conflict_count: number
  /** The name of the person who stored it. */
  actor: string
  created_at: number
  /** Of the plan in force, when it was used. */
  used_at: number | null
  version: number
}

interface DiscoveredRow {
  id: Generated<number>
  manufacturer: string
  api_device_id: string
  serial_number: string | null
  mac_address: string | null
  ip: string
  device_type: string
  channels: number
  discovered_at: number
  last_seen: number
  model: string | null
  address: string | null
}

export interface QueueRow {
  id: Generated<number>
  manufacturer: string
  identity_key: string
  api_device_id: string
  serial_number: string | null
  mac_address: string | null
  ip: string | null
  device_type: 'receiver' | 'transmitter'
  status: 'pending' | 'approved' | 'rejected' | 'imported' | 'duplicate'
  conflict_type: 'ip_changed' | 'ip_conflict' | 'hardware_changed' | 'manufacturer_mismatch'
  is_duplicate: Flag
  is_ip_conflict: Flag
  existing_device: number | null
  discovered_at: number
  metadata: string
  /** The id of the user who reviewed the entry; `reviewer` is that user's name. */
  reviewed_by: number | null
  reviewed_at: number | null
  reviewer: string | null
  /** JSON: the device report behind the entry, without its metadata. */
  seen: string | null
  revision: number
}

export interface MovementRow {
  id: Generated<number>
  device: number
  old_ip: string | null
  new_ip: string | null
  old_location: number | null
  new_location: number | null
  movement_type: 'ip_only' | 'location_only' | 'ip_and_location'
  detected_at: number
  detected_by: 'sync' | 'manual'
  reason: string
  times_seen: number
  acknowledged: Flag
  /** The id of the user who acknowledged the movement; `acknowledger` is that user's name. */
  acknowledged_by: number | null
  acknowledger: string | null
}
