/**
 * The tables as the queries see them; `migrations/` makes them. On both engines times are epoch milliseconds, booleans
 * are 0 or 1, and JSON is text.
 */

import type { Generated } from 'kysely'

export interface Schema {
  migrations: MigrationRow
  meta: MetaRow
  manufacturers: ManufacturerRow
  receivers: ReceiverRow
  channels: ChannelRow
  discovery_queue: QueueRow
  movements: MovementRow
  connections: ConnectionRow
  settings: SettingRow
  sources: SourceRow
  leases: LeaseRow
  groups: GroupRow
}

type Flag = 0 | 1

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
  /** JSON with its secrets sealed: see `secrets.ts`. */
  config: string
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
  /** JSON: what the channels last read, by channel number. */
  readings: string
  revision: number
}

interface ChannelRow {
  id: Generated<number>
  receiver_id: number
  channel: number
  slot: number
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
  reviewed_by: number | null
  reviewed_at: number | null
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
  acknowledged_by: number | null
}

interface ConnectionRow {
  receiver: number
  manufacturer: string
  status: 'connecting' | 'connected' | 'disconnected' | 'error' | 'stopped'
  transport: 'websocket' | 'sse'
  connected_at: number | null
  disconnected_at: number | null
  last_message_at: number | null
  error_message: string | null
  error_count: number
  reconnect_attempts: number
}

interface SettingRow {
  id: Generated<number>
  manufacturer: string | null
  key: string
  value: string
}

interface SourceRow {
  source: string
  manufacturer: string
  consecutive_failures: number
  error: string | null
  hold_until: number
  last_success_at: number | null
}

interface LeaseRow {
  source: string
  /** Null once given back: the row stays, so that the epoch keeps rising. */
  owner: string | null
  epoch: number
  expires_at: number
}

interface GroupRow {
  id: Generated<number>
  title: string
  slots: string
  hide_charts: Flag
  manufacturer: string | null
}
