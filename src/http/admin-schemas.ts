/** What answers about what is administered look like, for the interface document. Only the tests hold them to it. */

import Type, { type TSchema } from 'typebox'
import type { Acknowledged } from '../actions/acknowledge-store.ts'
import { auditResults, permissionNames, roles } from '../model/access.ts'
import { transports } from '../model/connection.ts'
import { conflictTypes, queueStatuses } from '../model/discovery.ts'
import type * as discovery from '../model/discovery-api.ts'
import type * as places from '../model/location.ts'
import type { ConnectionTest, ManufacturerBody, PluginBody } from '../model/manufacturer-api.ts'
import type { NodesBody } from '../model/node.ts'
import type * as people from '../model/people.ts'
import type { SettingsBody } from '../model/settings.ts'
import {
  flag,
  listOf,
  named,
  oneOf,
  orNull,
  schemaOf,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from './described.ts'
import {
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
  whereHeard,
} from './live-schemas.ts'

// --- Discovery and review --------------------------------------------------------------------------------------------

export const Scan = schemaOf<discovery.ScanBody>()(
  named('Scan', 'What a scan found.', {
    discovered: whole('How many devices.'),
    devices: listOf(
      Type.Object({
        ip: text('IPv4 address.'),
        device_type: text('Model family.'),
        channels: whole('How many channels it has.'),
        ...whereHeard,
      }),
      'Devices inside the subnet.',
    ),
    errors: sourceErrors,
  }),
)

const queueFields = {
  id,
  manufacturer,
  status: oneOf(queueStatuses, 'Where it stands in the review.'),
  conflict_type: oneOf(conflictTypes, 'Why it has to be reviewed.'),
  is_duplicate: flag('It looks like a device that is known.'),
  is_ip_conflict: flag('Its address belongs to another receiver.'),
  existing_device: wholeOrNull('Id of the receiver it stands against, or became.'),
  discovered_at: time('When it was found.'),
}

export const Pending = schemaOf<discovery.PendingBody>()(
  named('PendingDevice', 'A device that waits for review.', {
    ...queueFields,
    serial_number: textOrNull('Serial number.'),
    ip,
    device_type: text('`receiver` or `transmitter`.'),
  }),
)

const ExistingDevice = schemaOf<discovery.ExistingDevice>()(
  named('ExistingDevice', 'The receiver an entry stands against.', {
    ...summaryFields,
    api_device_id: textOrNull("Id in the manufacturer's system."),
    model: textOrNull("The manufacturer's model."),
    serial_number: textOrNull('Serial number.'),
    mac_address: textOrNull('MAC address.'),
    ip,
    location,
  }),
)

export const QueueEntry = schemaOf<discovery.QueueEntryBody>()(
  named('QueueEntry', 'An entry of the review queue.', {
    ...queueFields,
    name: textOrNull('As shown on the device.'),
    model: textOrNull("The manufacturer's model."),
    api_device_id: text("Id in the manufacturer's system."),
    serial_number: textOrNull('Serial number.'),
    mac_address: textOrNull('MAC address.'),
    ip,
    device_type: oneOf(['receiver', 'transmitter'], 'What it is.'),
    reviewed_by: textOrNull('Name of whoever decided.'),
    reviewed_at: timeOrNull('When that was.'),
    metadata: Type.Unknown({ description: "What the manufacturer's system said of it." }),
    existing: orNull(ExistingDevice, 'The receiver it stands against, for comparing.'),
  }),
)

export const Movement = schemaOf<discovery.MovementBody>()(
  named('Movement', 'A receiver that was found at another address or place.', {
    id,
    manufacturer,
    device: Type.Object(
      { id, name: text('As shown on the device.'), serial_number: textOrNull('Serial number.') },
      { description: 'The receiver.' },
    ),
    old_ip: ip,
    new_ip: ip,
    old_location: orNull(LocationReference, 'Where it stood.'),
    new_location: orNull(LocationReference, 'Where it stands now.'),
    movement_type: oneOf(['ip_only', 'location_only', 'ip_and_location'], 'What changed.'),
    detected_at: time('When it was noticed.'),
    detected_by: oneOf(['sync', 'manual'], 'By a poll, or told by a person.'),
    reason: text('Why, where somebody said so.'),
    times_seen: whole('How often it was seen while it stood unacknowledged.'),
    acknowledged: flag('Whether somebody has taken note.'),
    acknowledged_by: textOrNull('Name of whoever has.'),
  }),
)

export const Review = schemaOf<discovery.ReviewBody>()(
  named('Review', 'What became of several records.', {
    message: text('A sentence.'),
    updated: whole('How many were changed.'),
    failed: listOf(Type.Object({ id, error: text('A sentence.') }), 'Those that were not, and why.'),
  }),
)

// --- Places ----------------------------------------------------------------------------------------------------------

const placeFields = { id, name: text('Name.'), description: text('Free text.') }

export const Location = schemaOf<places.Location>()(
  named('Location', 'A place.', { ...placeFields, parent: wholeOrNull('Id of the place it is part of.') }),
)

const LayoutReceiver = schemaOf<places.LayoutReceiver>()(
  named('LayoutReceiver', 'A receiver in the layout.', {
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
        slot: whole('Position on the wall.'),
        name: textOrNull('As shown on the device.'),
      }),
      'By number.',
    ),
    units: listOf(
      Type.Object({
        id,
        name: textOrNull('As last told.'),
        battery: wholeOrNull('Percent.'),
        is_online: flag('False while it is not heard of.'),
        details: orNull(TransmitterDetails, 'What some gear tells besides.'),
      }),
      'Packs it tells of without hearing them on a channel: docked in it, or only listening.',
    ),
  }),
)

const LayoutLocation = schemaOf<places.LayoutLocation>()(
  Type.Cyclic(
    {
      LayoutLocation: named('LayoutLocation', 'A place with what stands in it.', {
        ...placeFields,
        receivers: listOf(LayoutReceiver, 'What stands here.'),
        locations: listOf(Type.Ref('LayoutLocation'), 'Places inside this one.'),
      }),
    },
    'LayoutLocation',
  ),
)

export const Layout = schemaOf<places.HardwareLayout>()(
  named('HardwareLayout', 'Locations, their receivers, their channels.', {
    locations: listOf(LayoutLocation, 'Those that are part of no other.'),
    unplaced: listOf(LayoutReceiver, 'Receivers that stand nowhere yet.'),
  }),
)

// --- People ----------------------------------------------------------------------------------------------------------

const role = oneOf(roles, 'What they may do.')

export const User = schemaOf<people.UserBody>()(
  named('User', 'Somebody who can sign in.', {
    id,
    username: text('Name to sign in with.'),
    role,
    is_active: flag('False for one who may not sign in.'),
    created_at: time('When the account was made.'),
    last_login_at: timeOrNull('When they last signed in.'),
  }),
)

const csrf_token = text('To be sent as `X-CSRF-Token` with every write.')

export const SignedIn = schemaOf<people.SignedInBody>()(
  named('SignedIn', 'The answer to a sign-in; the session comes as a cookie.', { user: User, csrf_token }),
)

export const KioskOpen = schemaOf<people.KioskOpenBody>()(
  named('KioskOpen', 'Whose screen it is; the token comes back as a cookie that no script can read.', {
    name: text('Of the token.'),
    role,
    expires_at: timeOrNull('When the token ends, and with it the cookie; null for never.'),
  }),
)

export const Session = schemaOf<people.SessionBody>()(
  named('Session', 'Who asks.', {
    user: orNull(User, 'Null for whoever is not signed in.'),
    csrf_token: textOrNull('To be sent as `X-CSRF-Token` with every write.'),
    kind: oneOf(['user', 'token', 'local', 'guest', 'cli'], 'How they are known.'),
    name: text('Of the user or token.'),
    role,
    permissions: listOf(oneOf(permissionNames, 'A permission.'), 'What these credentials allow here.'),
  }),
)

export const Setup = schemaOf<people.SetupBody>()(
  named('Setup', 'Whether the service needs its first administrator.', {
    needed: flag('True as long as nobody can administer this service.'),
    code_needed: flag('True where the code from the console has to be given.'),
  }),
)

const tokenFields = {
  id,
  name: text('What it is for.'),
  role,
  created_by: wholeOrNull('Id of the user who made it.'),
  created_at: time('When it was made.'),
  expires_at: timeOrNull('When it ends.'),
  last_used_at: timeOrNull('When it was last used.'),
  last_used_address: textOrNull('Where it was last used from.'),
}

export const Token = schemaOf<people.TokenBody>()(named('Token', 'What a program signs in with.', tokenFields))

export const NewToken = schemaOf<people.TokenBody & { token: string }>()(
  named('NewToken', 'A token with its secret.', { ...tokenFields, token: text('The secret, shown this once.') }),
)

export const Audit = schemaOf<people.AuditBody>()(
  named('AuditRecord', 'Something that was done, or tried.', {
    id,
    at: time('When.'),
    actor: Type.Object(
      {
        kind: oneOf(['user', 'token', 'local', 'guest', 'cli'], 'How they were known.'),
        id: wholeOrNull('Of the user or token.'),
        name: text('Of the user or token.'),
        address: textOrNull('Where the request came from.'),
      },
      { description: 'Who.' },
    ),
    action: text('Dotted, noun first: `queue.approve`.'),
    target: text('What it was done to.'),
    result: oneOf([...auditResults], 'What came of it.'),
    request_id: textOrNull('The request it was done by; an error answer has it as `X-Request-Id`.'),
    details: Type.Record(Type.String(), Type.Unknown(), { description: 'What changed; never a secret.' }),
  }),
)

// --- Manufacturers, settings, processes ------------------------------------------------------------------------------

export const ManufacturerRecord = schemaOf<ManufacturerBody>()(
  named('Manufacturer', 'A manufacturer whose systems are watched.', {
    code: text('What it is called everywhere else.'),
    name: text('For people.'),
    plugin: text('Code of the plugin that speaks to its systems.'),
    api_enabled: flag('False while it is not polled.'),
    config: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Settings of the plugin; secrets are shown as `********`.',
    }),
    secrets_unreadable: flag('True while its secrets have to be entered again.'),
    status: upstreamStatus.status,
    error: upstreamDetails.error,
    sources: upstreamDetails.sources,
    device_errors: upstreamDetails.device_errors,
    more: upstreamDetails.more,
  }),
)

export const Plugin = schemaOf<PluginBody>()(
  named('Plugin', 'What speaks to the systems of a manufacturer.', {
    code: text('What a manufacturer’s `plugin` names.'),
    name: text('For people.'),
    transport: orNull(oneOf(transports, 'Its form.'), 'How changes arrive by themselves.'),
    has_discovery_list: flag('True where its systems keep a list of addresses to search.'),
  }),
)

export const Tested = schemaOf<ConnectionTest>()(
  named('ConnectionTest', 'What its systems answered just now.', {
    status: oneOf(['healthy', 'degraded', 'unhealthy', 'unconfigured'], 'Of all of them.'),
    sources: listOf(
      Type.Object({
        base_url: text('Address of the system.'),
        status: oneOf(['healthy', 'degraded', 'unhealthy'], 'Of this one.'),
        error: textOrNull('A sentence.'),
        devices: wholeOrNull('How many devices it lists; null where it did not say.'),
      }),
      'Each of them.',
    ),
  }),
)

const sourced = <Value extends TSchema>(value: Value) =>
  Type.Object(
    { value, source: oneOf(['stored', 'global', 'configured', 'default'], 'Where it comes from.') },
    { description: 'A value in force.' },
  )

export const ScopedSettings = schemaOf<SettingsBody>()(
  named('ScopedSettings', 'The settings of one scope.', {
    manufacturer: textOrNull('Code of the manufacturer; null: global.'),
    settings: Type.Object(
      {
        polling_interval: sourced(whole('Seconds between two polls.')),
        alert_battery_threshold: sourced(whole('Percent at or under which a battery raises an alert.')),
        enable_websocket: sourced(flag('False while real-time updates are switched off.')),
      },
      { description: 'By key.' },
    ),
  }),
)

const processFields = {
  owner: text('Names the process in leases.'),
  host: text('The machine it runs on.'),
  pid: whole('Its number there.'),
}

export const Nodes = schemaOf<NodesBody>()(
  named('Nodes', 'The processes on this database, and which source each has taken.', {
    nodes: listOf(
      Type.Object({
        ...processFields,
        work: oneOf(['polling', 'link'], 'Polling it, or keeping its real-time link.'),
        source: text('Code of the manufacturer and address.'),
        manufacturer,
        epoch: whole('Rises with every change of hands.'),
        seconds_left: whole('Until it is free, unless it is prolonged.'),
      }),
      'Sources that somebody has taken.',
    ),
    processes: listOf(Type.Object(processFields), 'All that run, with or without a source.'),
  }),
)

export const StoreAcknowledged = schemaOf<Acknowledged>()(
  named('StoreAcknowledged', 'Whether there was something to take note of.', {
    acknowledged: flag('False where nothing had happened.'),
    message: text('A sentence.'),
  }),
)
