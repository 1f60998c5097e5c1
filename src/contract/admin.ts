/** Response bodies of discovery, review and administration. */

import Type, { type TSchema } from 'typebox'
import {
  type Body,
  flag,
  listOf,
  named,
  oneOf,
  orNull,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from './described.ts'
import {
  foundDeviceFields,
  id,
  ip,
  LocationReference,
  location,
  manufacturer,
  sourceErrors,
  summaryFields,
  TransmitterDetails,
  upstreamDetails,
  upstreamStatus,
} from './live.ts'
import {
  actorKinds,
  auditResults,
  conflictTypes,
  deviceTypes,
  permissionNames,
  queueStatuses,
  roles,
  transports,
} from './values.ts'

// --- Discovery and review --------------------------------------------------------------------------------------------

export const Scan = named('Scan', 'Result of a scan.', {
  discovered: whole('Number of devices.'),
  devices: listOf(
    Type.Object({
      ip: text('IPv4 address.'),
      device_type: text('Model family.'),
      channels: whole('Number of channels.'),
      ...foundDeviceFields,
    }),
    'Devices inside the subnet.',
  ),
  errors: sourceErrors,
})
export type ScanBody = Body<typeof Scan>

const queueFields = {
  id,
  manufacturer,
  status: oneOf(queueStatuses, 'Review status.'),
  conflict_type: oneOf(conflictTypes, 'Why a review is needed.'),
  is_duplicate: flag('True if it appears to be a known device.'),
  is_ip_conflict: flag('True if its IP address belongs to another receiver.'),
  existing_device: wholeOrNull('Id of the receiver with which the device conflicts or as which it was imported.'),
  discovered_at: time('When it was discovered.'),
}

export const Pending = named('PendingDevice', 'A device that is waiting for review.', {
  ...queueFields,
  serial_number: textOrNull('Serial number.'),
  ip,
  device_type: text('`receiver` or `transmitter`.'),
})
export type PendingBody = Body<typeof Pending>

const ExistingDevice = named('ExistingDevice', 'The receiver with which an entry conflicts.', {
  ...summaryFields,
  api_device_id: textOrNull("The device's id in the manufacturer's system."),
  model: textOrNull("The manufacturer's model."),
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  ip,
  location,
})
export type ExistingDevice = Body<typeof ExistingDevice>

export const QueueEntry = named('QueueEntry', 'An entry of the review queue.', {
  ...queueFields,
  name: textOrNull('As shown on the device.'),
  model: textOrNull("The manufacturer's model."),
  api_device_id: text("The device's id in the manufacturer's system."),
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  ip,
  device_type: oneOf(deviceTypes, 'Type of the device.'),
  reviewed_by: textOrNull('Name of the reviewer.'),
  reviewed_at: timeOrNull('When it was reviewed.'),
  metadata: Type.Unknown({ description: "Device data from the manufacturer's system." }),
  existing: orNull(ExistingDevice, 'The receiver with which the device conflicts, for comparison.'),
})
export type QueueEntryBody = Body<typeof QueueEntry>

export const Movement = named('Movement', "A change of a receiver's IP address or location.", {
  id,
  manufacturer,
  device: Type.Object(
    { id, name: text('As shown on the device.'), serial_number: textOrNull('Serial number.') },
    { description: 'The receiver.' },
  ),
  old_ip: ip,
  new_ip: ip,
  old_location: orNull(LocationReference, 'Previous location.'),
  new_location: orNull(LocationReference, 'New location.'),
  movement_type: oneOf(['ip_only', 'location_only', 'ip_and_location'], 'What changed.'),
  detected_at: time('When it was noticed.'),
  detected_by: oneOf(['sync', 'manual'], '`sync`: detected by a poll; `manual`: entered by a user.'),
  reason: text('Reason, if one was given.'),
  times_seen: whole('How often the movement was detected before it was acknowledged.'),
  acknowledged: flag('Whether it has been acknowledged.'),
  acknowledged_by: textOrNull('Name of the user who acknowledged it.'),
})
export type MovementBody = Body<typeof Movement>

export const Review = named('Review', 'Result of an action on several records.', {
  message: text('Message for users.'),
  updated: whole('Number of changed records.'),
  failed: listOf(Type.Object({ id, error: text('Why it was not changed.') }), 'Records that were not changed.'),
})
export type ReviewBody = Body<typeof Review>

// --- Locations -------------------------------------------------------------------------------------------------------

const locationFields = { id, name: text('Name.'), description: text('Free text.') }

export const Location = named('Location', 'A location.', {
  ...locationFields,
  parent: wholeOrNull('Id of the location that contains it.'),
})
export type Location = Body<typeof Location>

const LayoutReceiver = named('LayoutReceiver', 'A receiver in the layout.', {
  id,
  name: text('As shown on the device.'),
  manufacturer,
  device_type: text('Model family.'),
  model: textOrNull("The manufacturer's model."),
  ip: textOrNull('IPv4 address.'),
  is_active: flag('False while it is offline.'),
  channels: listOf(
    Type.Object({
      id,
      channel: whole('Number of the channel on its receiver.'),
      slot: whole('Slot.'),
      name: textOrNull('As shown on the device.'),
    }),
    'By number.',
  ),
  units: listOf(
    Type.Object({
      id,
      name: textOrNull('Last reported name.'),
      battery: wholeOrNull('Percent.'),
      is_online: flag('False while it is offline.'),
      details: orNull(TransmitterDetails, 'Additional values that some equipment reports.'),
    }),
    'Units that the device reports but does not receive on a channel: docked transmitters and in-ear packs.',
  ),
})
export type LayoutReceiver = Body<typeof LayoutReceiver>

const LayoutLocation = Type.Cyclic(
  {
    LayoutLocation: named('LayoutLocation', 'A location with its contents.', {
      ...locationFields,
      receivers: listOf(LayoutReceiver, 'Receivers in this location.'),
      locations: listOf(Type.Ref('LayoutLocation'), 'Locations inside this one.'),
    }),
  },
  'LayoutLocation',
)
export type LayoutLocation = Body<typeof LayoutLocation>

export const Layout = named('HardwareLayout', 'Locations with their receivers and channels.', {
  locations: listOf(LayoutLocation, 'Top-level locations.'),
  unplaced: listOf(LayoutReceiver, 'Receivers without a location.'),
})
export type HardwareLayout = Body<typeof Layout>

// --- People ----------------------------------------------------------------------------------------------------------

const role = oneOf(roles, 'Role.')

export const User = named('User', 'A user account.', {
  id,
  username: text('Name for signing in.'),
  role,
  is_active: flag('False if the user may not sign in.'),
  created_at: time('When the account was created.'),
  last_login_at: timeOrNull('When the user last signed in.'),
})
export type UserBody = Body<typeof User>

const csrf_token = text('Every write must send it in the header `X-CSRF-Token`.')

export const SignedIn = named('SignedIn', 'Response to a sign-in; the session is set as a cookie.', {
  user: User,
  csrf_token,
})
export type SignedInBody = Body<typeof SignedIn>

export const KioskOpen = named(
  'KioskOpen',
  'The API token of a kiosk screen; the response also sets it as an HttpOnly cookie.',
  {
    name: text('Name of the token.'),
    role,
    expires_at: timeOrNull('When the token and its cookie expire; null: never.'),
  },
)

export const Session = named('Session', 'The identity of the request.', {
  user: orNull(User, 'The signed-in user, or null.'),
  csrf_token: textOrNull('Every write must send it in the header `X-CSRF-Token`.'),
  kind: oneOf(actorKinds, 'How the request is authenticated.'),
  name: text('Name of the user or token.'),
  role,
  permissions: listOf(oneOf(permissionNames, 'A permission.'), 'What these credentials allow.'),
})
export type SessionBody = Body<typeof Session>

export const Setup = named('Setup', 'Whether the service needs its first administrator.', {
  needed: flag('True while there is no administrator.'),
  code_needed: flag('True if the setup code from the console is required.'),
})

const tokenFields = {
  id,
  name: text('Name of the token.'),
  role,
  created_by: wholeOrNull('Id of the user who created it.'),
  created_at: time('When it was created.'),
  expires_at: timeOrNull('When the token expires; null: never.'),
  last_used_at: timeOrNull('When the token was last used.'),
  last_used_address: textOrNull('Client address of the last use.'),
}

export const Token = named('Token', 'An API token.', tokenFields)
export type TokenBody = Body<typeof Token>

export const NewToken = named('NewToken', 'A token with its secret.', {
  ...tokenFields,
  token: text('The secret; no later response contains it.'),
})
export type NewTokenBody = Body<typeof NewToken>

export const Audit = named('AuditRecord', 'An action that was performed or attempted.', {
  id,
  at: time('Time of the action.'),
  actor: Type.Object(
    {
      kind: oneOf(actorKinds, 'How the actor was authenticated.'),
      id: wholeOrNull('Id of the user or token.'),
      name: text('Name of the user or token.'),
      address: textOrNull('Client address of the request.'),
    },
    { description: 'Who performed the action.' },
  ),
  action: text('Name of the action, such as `queue.approve`.'),
  target: text('The affected object.'),
  result: oneOf(auditResults, 'Result.'),
  request_id: textOrNull('Id of the request; an error response contains it in the header `X-Request-Id`.'),
  details: Type.Record(Type.String(), Type.Unknown(), { description: 'What changed, without secrets.' }),
})
export type AuditBody = Body<typeof Audit>

// --- Manufacturers, settings, processes ------------------------------------------------------------------------------

export const ManufacturerRecord = named('Manufacturer', 'A manufacturer whose systems are monitored.', {
  code: text('Code that identifies the manufacturer.'),
  name: text('Display name.'),
  plugin: text('Code of the plugin for its systems.'),
  api_enabled: flag('False while it is disabled.'),
  config: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Configuration of the plugin; `********` stands for a stored secret.',
  }),
  secrets_unreadable: flag('True if the stored secrets cannot be decrypted and must be entered again.'),
  status: upstreamStatus.status,
  error: upstreamDetails.error,
  sources: upstreamDetails.sources,
  device_errors: upstreamDetails.device_errors,
  more: upstreamDetails.more,
})
export type ManufacturerBody = Body<typeof ManufacturerRecord>

export const Plugin = named('Plugin', "A plugin for a manufacturer's systems.", {
  code: text("Code to use as a manufacturer's `plugin`."),
  name: text('Display name.'),
  transport: orNull(
    oneOf(transports, 'Transport.'),
    'Transport of real-time updates; null if it only supports polling.',
  ),
  has_discovery_list: flag('True if the systems have a list of addresses that they search for devices.'),
})
export type PluginBody = Body<typeof Plugin>

export const Tested = named('ConnectionTest', 'Result of a connection test.', {
  status: oneOf(['healthy', 'degraded', 'unhealthy', 'unconfigured'], 'Overall status.'),
  sources: listOf(
    Type.Object({
      base_url: text('Address of the system or device.'),
      status: oneOf(['healthy', 'degraded', 'unhealthy'], 'Status of this system.'),
      error: textOrNull('What is wrong; null if this system is healthy.'),
      devices: wholeOrNull('Number of devices that this system lists; null if unknown.'),
    }),
    'Result for each system.',
  ),
})
export type ConnectionTest = Body<typeof Tested>

const sourced = <Value extends TSchema>(value: Value) =>
  Type.Object(
    { value, source: oneOf(['stored', 'global', 'configured', 'default'], 'Where the value comes from.') },
    { description: 'An effective value.' },
  )

export const ScopedSettings = named('ScopedSettings', 'The settings of one scope.', {
  manufacturer: textOrNull('Code of the manufacturer; null for the global settings.'),
  settings: Type.Object(
    {
      polling_interval: sourced(whole('Seconds between two polls.')),
      alert_battery_threshold: sourced(whole('Battery level in percent at or below which an alert is raised.')),
      enable_websocket: sourced(flag('False while real-time updates are disabled.')),
    },
    { description: 'By key.' },
  ),
})
export type SettingsBody = Body<typeof ScopedSettings>

const processFields = {
  owner: text('Id under which the process holds leases.'),
  host: text('Host name of the machine on which the process runs.'),
  pid: whole('Process id.'),
}

export const Nodes = named('Nodes', 'The processes that use this database, and the sources assigned to them.', {
  nodes: listOf(
    Type.Object({
      ...processFields,
      work: oneOf(
        ['polling', 'link'],
        '`polling`: the process polls the source; `link`: it runs the real-time subscription.',
      ),
      source: text('The source: code of the manufacturer, colon, address.'),
      manufacturer,
      epoch: whole('Incremented when another process takes over.'),
      seconds_left: whole('Seconds until the lease expires unless it is renewed.'),
    }),
    'The sources, each with the process that currently holds it.',
  ),
  processes: listOf(Type.Object(processFields), 'All running processes, with or without a source.'),
})
export type NodesBody = Body<typeof Nodes>

export const StoreAcknowledged = named('StoreAcknowledged', 'Whether there was an incident to acknowledge.', {
  acknowledged: flag('False if there was no incident.'),
  message: text('Message for users.'),
})
export type Acknowledged = Body<typeof StoreAcknowledged>
