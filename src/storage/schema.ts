/**
 * The types of the tables, which `migrations/` creates. On both engines times are epoch milliseconds, booleans are 0 or 1,
 * and JSON is text.
 */

import type { Generated } from 'kysely'
import type {
  CheckResult,
  DeliveryStatus,
  EventKind,
  NotificationChannelType,
  NotificationType,
  PlaceholderKind,
  ScanFormat,
  Severity,
} from '../contract/values.ts'
import type { Role } from '../domain/access/access.ts'
import type { AlertKind } from '../domain/alerts/alert.ts'
import type { Transport } from '../domain/equipment/connection.ts'
import type { PictureType } from '../domain/equipment/picture.ts'

export interface Schema {
  migrations: MigrationRow
  meta: MetaRow
  manufacturers: ManufacturerRow
  receivers: ReceiverRow
  channels: ChannelRow
  channel_conditions: ChannelConditionRow
  channel_states: ChannelStateRow
  followed_levels: FollowedLevelsRow
  discharges: DischargeRow
  discovery_queue: QueueRow
  movements: MovementRow
  connections: ConnectionRow
  site_connections: SiteConnectionRow
  settings: SettingRow
  group_settings: GroupSettingRow
  sources: SourceRow
  receiver_sources: ReceiverSourceRow
  leases: LeaseRow
  groups: GroupRow
  placeholders: PlaceholderRow
  frequency_profiles: FrequencyProfileRow
  shows: ShowRow
  scenes: SceneRow
  checks: CheckRow
  scans: ScanRow
  locations: LocationRow
  removals: RemovalRow
  discovered: DiscoveredRow
  units: UnitRow
  performers: PerformerRow
  pictures: PictureRow
  assignments: AssignmentRow
  undo_records: UndoRow
  planning_center_token: PlanningCenterTokenRow
  planning_center_services: PlanningCenterServiceRow
  audit: AuditRow
  alerts: AlertRow
  events: EventRow
  removed_events: RemovedEventRow
  silences: SilenceRow
  notification_channels: NotificationChannelRow
  notification_rules: NotificationRuleRow
  notification_deliveries: NotificationDeliveryRow
  notification_delivery_alerts: NotificationDeliveryAlertRow
  polls: PollRow
  users: UserRow
  sessions: SessionRow
  tokens: TokenRow
  known_browsers: KnownBrowserRow
  failed_tries: FailedTryRow
  oidc_logins: OidcLoginRow
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
  /** JSON with encrypted secrets: see `secrets.ts`. */
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
  location_id: number | null
  is_named_by_hand: Flag
  /** JSON: the last readings by channel number. */
  readings: string
  fault: string | null
  /**
   * JSON for a receiver that another installation monitors, otherwise null: its manufacturer, and `site` and `id` of its
   * `ReceiverOrigin`. `manufacturer` is the record with which that installation is followed.
   */
  origin: string | null
  revision: number
  /** The value of the manufacturer's counter of readings when nothing but readings was changed last. */
  reading_revision: Generated<number>
}

interface ChannelRow {
  id: Generated<number>
  receiver_id: number
  channel: number
  slot: number
  /** Id of a frequency profile. */
  profile: Generated<string | null>
}

interface ChannelConditionRow {
  channel_id: number
  /** JSON: see `domain/conditions/memory.ts`. */
  memory: string
  revision: number
}

interface ChannelStateRow {
  channel_id: number
  time: number
  /** JSON: see `domain/history/channel-state.ts`; null if the channel was removed. */
  state: string | null
}

interface FollowedLevelsRow {
  channel_id: number
  /** Seconds per step. */
  step: number
  /** Start of the first step, in epoch seconds. */
  start: number
  /** Up to which time the levels are complete, in epoch seconds. */
  until: number
  /** When they were last received, in epoch milliseconds. */
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

export interface ConnectionRow {
  receiver: number
  manufacturer: string
  source: string | null
  status: 'connecting' | 'connected' | 'disconnected' | 'error' | 'stopped'
  transport: Transport
  connected_at: number | null
  disconnected_at: number | null
  last_message_at: number | null
  error_message: string | null
  error_count: number
  reconnect_attempts: number
  revision: number
}

export interface SiteConnectionRow extends Omit<ConnectionRow, 'receiver' | 'source'> {
  id: Generated<number>
  source: string
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

export interface SourceRow {
  source: string
  manufacturer: string
  consecutive_failures: number
  error: string | null
  hold_until: number
  last_success_at: number | null
  overruns: number
  warning: string | null
  /** JSON; null when no device has errors. */
  device_errors: string | null
}

export interface ReceiverSourceRow {
  receiver_id: number
  source: string
}

interface LeaseRow {
  source: string
  /** Null after the lease was released; the row stays, so that the epoch keeps increasing. */
  owner: string | null
  epoch: number
  expires_at: number
}

interface GroupRow {
  id: Generated<number>
  title: string
  slots: string
  hide_charts: Flag
  zone: string | null
  manufacturer: string | null
}

interface FrequencyProfileRow {
  id: string
  /** JSON: see `domain/frequencies/profile-changes.ts`. */
  change: string
}

interface PlaceholderRow {
  id: Generated<number>
  slot: number
  name: string
  kind: PlaceholderKind
  frequency: string | null
  note: string
  created_at: number
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
}

interface SceneRow {
  id: Generated<number>
  show_id: number
  title: string
  created_at: number
  /** The name of the person who stored it. */
  actor: string
  recalled_at: number | null
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
  /** Who began it, then who entered the result. */
  actor: string
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
  device_type: string
  battery: number | null
  /** JSON. */
  details: string | null
  is_online: Flag
  revision: number
}

interface PerformerRow {
  id: Generated<number>
  name: string
  notes: string
  picture: string | null
}

export interface ScanRow {
  id: Generated<number>
  name: string
  format: ScanFormat
  points: number
  from_khz: number
  to_khz: number
  /** Null if the file does not say so. */
  taken_at: number | null
  uploaded_at: number
  actor: string
  /** See `packLevels`. */
  levels: Uint8Array
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

interface LocationRow {
  id: Generated<number>
  name: string
  description: string
  zone: string | null
  parent: number | null
}

/** A removed receiver, with the revision of its removal. */
interface RemovalRow {
  receiver_id: number
  revision: number
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

export interface AuditRow {
  id: Generated<number>
  at: number
  actor_kind: string
  actor_id: number | null
  actor_name: string
  address: string | null
  action: string
  target: string
  result: string
  request_id: string | null
  /** JSON. */
  details: string
}

export interface UserRow {
  id: Generated<number>
  username: string
  username_key: string
  role: Role
  /** The argon2id string: parameters, salt and hash. Empty for a user who signs in through a provider. */
  password: string
  is_active: Flag
  created_at: number
  password_changed_at: number
  last_login_at: number | null
  /** The OpenID Connect provider, and the id of the user there; null for a local user. */
  issuer: string | null
  subject: string | null
}

interface SessionRow {
  /** SHA-256 of the cookie's value. */
  hash: string
  user_id: number
  created_at: number
  expires_at: number
  last_used_at: number
}

export interface TokenRow {
  id: Generated<number>
  name: string
  role: Role
  /** SHA-256 of the token. */
  hash: string
  created_by: number | null
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  last_used_address: string | null
}

interface KnownBrowserRow {
  /** SHA-256 of the cookie's value. */
  hash: string
  user_id: number
  last_used_at: number
}

/** A sign-in that was started and whose response from the provider is awaited. */
interface OidcLoginRow {
  /** SHA-256 of the secret in the cookie of the browser that started it. */
  hash: string
  /** The page to open afterwards. */
  next: string | null
  expires_at: number
}

interface FailedTryRow {
  id: Generated<number>
  /** Identifies the client: its network, or the browser if it is known. */
  stranger: string
  account: string
  at: number
}

export interface EventRow {
  id: Generated<number>
  time: number
  until: number | null
  /** `until`, else `time`; for an event that continues, `endOfTime` in `events.ts`. */
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
  created_revision: number
  revision: number
}

interface RemovedEventRow {
  id: number
  removed_at: number
  revision: number
}

export interface AlertRow {
  id: Generated<number>
  subject: string
  kind: AlertKind
  severity: 'info' | 'warning' | 'critical'
  message: string
  /** Empty for alerts about the service itself. */
  manufacturer: string
  receiver_id: number | null
  channel_id: number | null
  raised_at: number
  cleared_at: number | null
  /** JSON; null for alerts of older versions. */
  data: string | null
  acknowledged_by: string | null
  acknowledged_at: number | null
  note: string | null
  snoozed_by: string | null
  snoozed_at: number | null
  /** JSON: a time in epoch milliseconds, `cleared` or `show_end`. */
  snoozed_until: string | null
  revision: number
  /** See `domain/notifications/plan.ts`. */
  notification_round: Generated<number>
  /** Code and name of the site that has raised it; null for an alert of this installation. */
  site: Generated<string | null>
  site_name: Generated<string | null>
}

export interface SilenceRow {
  id: Generated<number>
  /** JSON: a list of ids. */
  channels: string
  /** JSON: a list of ids. */
  groups: string
  /** JSON: a list of kinds. */
  kinds: string
  until: number
  reason: string
  created_by: string
  created_at: number
}

export interface NotificationChannelRow {
  id: Generated<number>
  name: string
  type: NotificationChannelType
  enabled: Flag
  /** JSON: the configuration without its secrets. */
  config: string
  /** Encrypted JSON: the secrets of the configuration; null if it has none. */
  secrets: string | null
  /** Encrypted: the secret with which a webhook's messages are signed; null for other services. */
  signing_secret: string | null
  /** Encrypted: the secret with which they are also signed until `previous_until`. */
  previous_secret: string | null
  previous_until: number | null
}

interface NotificationRuleRow {
  id: Generated<number>
  name: string
  /** JSON: the rule without its id and name. */
  rule: string
}

export interface NotificationDeliveryRow {
  id: Generated<number>
  message_id: string
  /** Null if the notification channel was deleted. */
  notification_channel_id: number | null
  /** Null for a test, or if the rule was deleted. */
  rule_id: number | null
  type: NotificationType
  status: DeliveryStatus
  attempts: number
  last_error: string | null
  created_at: number
  last_attempt_at: number | null
  /** Null unless it is tried again. */
  next_attempt_at: number | null
  sent_at: number | null
}

/** An alert in a message, as it was when the message was queued. */
interface NotificationDeliveryAlertRow {
  delivery_id: number
  alert_id: number
  kind: AlertKind
  severity: Severity
  round: number
}

interface PollRow {
  source: string
  asked: number
  answered: number
  /** JSON. */
  outcome: string | null
}
