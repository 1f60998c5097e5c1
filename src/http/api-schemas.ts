/** What the answers look like, for the interface document. Nothing is checked against them but the tests. */

import Type, { type TSchema } from 'typebox'
import type { Acknowledged } from '../actions/acknowledge-store.ts'
import { auditResults, roles } from '../model/access.ts'
import { type AlertBody, alertStates } from '../model/alert.ts'
import type * as api from '../model/api.ts'
import { type ConnectionBody, connectionStatuses, transports } from '../model/connection.ts'
import * as details from '../model/details.ts'
import { conflictTypes, queueStatuses } from '../model/discovery.ts'
import type * as discovery from '../model/discovery-api.ts'
import type { ErrorBody } from '../model/errors.ts'
import * as hardware from '../model/hardware.ts'
import type { ManufacturerHealth } from '../model/health.ts'
import type * as places from '../model/location.ts'
import type { ConnectionTest, ManufacturerBody, PluginBody } from '../model/manufacturer-api.ts'
import type { NodesBody } from '../model/node.ts'
import type * as people from '../model/people.ts'
import type { Settings, SettingsBody } from '../model/settings.ts'
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

const id = whole('Of the record.')
const manufacturer = text('Code of the manufacturer.')
const ip = text('IPv4 address; empty where it is not known.')

export const Failure = schemaOf<ErrorBody>()(
  named('Error', 'Why a request was refused.', {
    error: text('A sentence for people.'),
    status: whole('The same as the HTTP status.'),
    details: Type.Optional(text('Which field or parameter, and what was expected there.')),
  }),
)

/** What a list answers to `page` or `page_size`. */
export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      count: whole('How many there are in all.'),
      next: textOrNull('Path and query of the next page.'),
      previous: textOrNull('Path and query of the page before.'),
      results: listOf(item, 'This page.'),
    },
    { description: 'With `page` or `page_size`.' },
  )

/** A list that is an object even where it is not paged. */
export const countedOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    count: whole('How many there are in all.'),
    next: Type.Optional(textOrNull('Path and query of the next page; only when paged.')),
    previous: Type.Optional(textOrNull('Path and query of the page before; only when paged.')),
    results: listOf(item, 'All of them, or this page.'),
  })

// --- Receivers --------------------------------------------------------------------------------------------------------

const levels = {
  name: textOrNull('As shown on the device.'),
  frequency: textOrNull('MHz, three decimals: `470.300`.'),
  audio_level: wholeOrNull('dBFS.'),
  rf_level: wholeOrNull('dBm.'),
}

const flagOrNull = (description: string) => orNull(flag(description), description)

const ChannelDetails = schemaOf<details.ChannelDetails>()(
  named('ChannelDetails', 'What some gear tells of a channel besides; what it never told is absent.', {
    rf_a: Type.Optional(wholeOrNull('dBm at antenna A.')),
    rf_b: Type.Optional(wholeOrNull('dBm at antenna B.')),
    rf_c: Type.Optional(wholeOrNull('dBm at antenna C.')),
    rf_d: Type.Optional(wholeOrNull('dBm at antenna D.')),
    rf_percent: Type.Optional(wholeOrNull("Percent of the gear's own scale, where it tells no dBm.")),
    antennas: Type.Optional(textOrNull('Letters of the antennas in use: `A`, `AB`, or nothing.')),
    audio_peak: Type.Optional(wholeOrNull('dBFS.')),
    audio_rms: Type.Optional(wholeOrNull('dBFS.')),
    audio_activity: Type.Optional(
      orNull(oneOf(details.audioActivities, 'How loud it is.'), 'How loud it is, where the gear tells no dBFS.'),
    ),
    quality: Type.Optional(wholeOrNull('Of the link, in percent.')),
    interference: Type.Optional(flagOrNull('True while another signal disturbs it.')),
    muted: Type.Optional(flagOrNull("The receiver's output.")),
    encryption: Type.Optional(orNull(oneOf(details.encryptions, 'Of the link.'), 'Of the link.')),
    gain_db: Type.Optional(wholeOrNull("dB, of the receiver's output.")),
  }),
)

const TransmitterDetails = schemaOf<details.TransmitterDetails>()(
  named('TransmitterDetails', 'What some gear tells of a transmitter besides; what it never told is absent.', {
    model: Type.Optional(textOrNull("The manufacturer's model.")),
    muted: Type.Optional(flagOrNull('The transmitter itself.')),
    gain_db: Type.Optional(wholeOrNull('dB, offset or trim.')),
    power_mw: Type.Optional(wholeOrNull('mW.')),
    battery_bars: Type.Optional(wholeOrNull('0 to 5, as the device shows it.')),
    battery_minutes: Type.Optional(wholeOrNull('How long it will last.')),
    battery_minutes_to_full: Type.Optional(wholeOrNull('How long it will charge.')),
    battery_type: Type.Optional(textOrNull('Chemistry or kind.')),
    battery_health: Type.Optional(wholeOrNull('Percent of what it held when it was new.')),
    battery_cycles: Type.Optional(wholeOrNull('How often it was charged.')),
    battery_temperature_c: Type.Optional(wholeOrNull('°C.')),
    battery_is_estimate: Type.Optional(flag('True where `battery` is worked out from the bars.')),
  }),
)

const Transmitter = schemaOf<api.TransmitterBody>()(
  named('Transmitter', 'What a channel hears.', {
    slot: whole('Position on the wall.'),
    upstream_slot: wholeOrNull("The slot by the manufacturer's system."),
    battery: wholeOrNull('Percent.'),
    ...levels,
    details: Type.Optional(TransmitterDetails),
  }),
)

export const Channel = schemaOf<api.ChannelBody>()(
  named('Channel', 'A channel of a receiver; what is unknown is null.', {
    id,
    channel: whole('Number of the channel on its receiver.'),
    slot: whole('Position on the wall.'),
    ...levels,
    transmitter: orNull(Transmitter, 'Null where none is heard.'),
    details: Type.Optional(ChannelDetails),
  }),
)

const summaryFields = {
  id,
  name: text('As shown on the device.'),
  device_type: text('Model family.'),
  ip,
  is_active: flag('False while it is offline.'),
  last_seen: time('When it was last heard of.'),
  manufacturer,
}

export const ReceiverSummary = schemaOf<api.ReceiverSummary>()(
  named('ReceiverSummary', 'A receiver in the list.', summaryFields),
)

const dataFields = {
  ...summaryFields,
  model: textOrNull("The manufacturer's model."),
  channels: listOf(Channel, 'By number.'),
}

const ReceiverInData = schemaOf<api.ReceiverInData>()(
  named('ReceiverInData', 'A receiver in the full data.', dataFields),
)

const LocationReference = schemaOf<places.LocationReference>()(
  named('LocationReference', 'A location in another record.', { id, name: text('Of the location.') }),
)
const location = orNull(LocationReference, 'Where it stands.')

/** What stays of a receiver besides its channels. */
const hardwareFields = {
  battery_health: oneOf(['good', 'fair', 'low', 'critical', 'unknown'], 'Of the weakest known battery.'),
  signal_quality: oneOf(['excellent', 'good', 'fair', 'poor', 'unknown'], 'Of the weakest known RF level.'),
  api_device_id: textOrNull("Id in the manufacturer's system."),
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  subnet_mask: textOrNull('Subnet mask.'),
  gateway: textOrNull('Gateway.'),
  network_mode: textOrNull('`auto`, `manual`, `dhcp` or `static`.'),
  interface_id: textOrNull('Version of the network interface.'),
  description: textOrNull('Free text.'),
  firmware_version: textOrNull('Firmware.'),
  hosted_firmware_version: textOrNull('Firmware it holds for transmitters.'),
  location,
}

export const detailFields = { ...dataFields, ...hardwareFields }

export const ReceiverDetail = schemaOf<api.ReceiverDetail>()(
  named('ReceiverDetail', 'Everything known of a receiver.', detailFields),
)

const whereHeard = {
  model: Type.Optional(text('Of a device that speaks for itself: what it is.')),
  address: Type.Optional(
    text('Where such a device is heard, as `devices` of a configuration names it; of a `system` its `api_base_url`.'),
  ),
}

const DiscoveredDevice = schemaOf<api.DiscoveredDevice>()(
  named('DiscoveredDevice', 'Found by a scan, and not a receiver yet.', {
    id,
    ip,
    device_type: text('Model family.'),
    channels: whole('How many channels it has.'),
    manufacturer,
    discovered_at: time('When it was first found.'),
    ...whereHeard,
  }),
)

export const Group = schemaOf<api.Group>()(
  named('Group', 'Positions of the wall that are shown together.', {
    id,
    title: text('Heading.'),
    slots: listOf(Type.Integer(), 'Positions on the wall.'),
    hide_charts: flag('True where charts are left out.'),
    manufacturer: textOrNull('Code of the manufacturer it belongs to.'),
  }),
)

export const Configuration = schemaOf<Settings>()(
  named('Config', 'The values in force.', {
    polling_interval: whole('Seconds between two polls.'),
    alert_battery_threshold: whole('Percent at or under which a battery raises an alert.'),
    enable_websocket: flag('False while real-time updates are switched off.'),
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

export const Data = schemaOf<api.DataBody>()(
  named('Data', 'The whole picture.', {
    receivers: listOf(ReceiverInData, 'By id.'),
    discovered: listOf(DiscoveredDevice, 'Found by a scan in the last 24 hours.'),
    config: Configuration,
    groups: listOf(Group, 'By id.'),
  }),
)

// --- Health and work --------------------------------------------------------------------------------------------------

const upstreamStatus = {
  status: oneOf(['healthy', 'degraded', 'unhealthy', 'disabled', 'unconfigured'], 'Of its systems.'),
  base_url: text('Address of its system, as configured.'),
  consecutive_failures: whole('Failed cycles in a row, of its best source.'),
}
const upstreamDetails = {
  error: textOrNull('A sentence for whoever can mend it.'),
  overruns: whole('Cycles that outlasted their interval.'),
  details: listOf(Type.String(), 'What is not as it should be without deciding the status, a sentence each.'),
}

const ManufacturerFares = schemaOf<ManufacturerHealth>()(
  named('ManufacturerHealth', 'How one manufacturer fares.', {
    code: text('Code of the manufacturer.'),
    ...upstreamStatus,
    ...upstreamDetails,
  }),
)

export const Health = schemaOf<api.HealthBody & { version: string }>()(
  named('Health', 'How the service and its upstreams fare.', {
    status: oneOf(['healthy', 'degraded', 'unhealthy'], 'Of the whole service.'),
    vendor_api: Type.Object(
      { ...upstreamStatus, ...Type.Partial(Type.Object(upstreamDetails)).properties },
      { description: 'The manufacturer asked for, or the one in the worst state.' },
    ),
    manufacturers: listOf(ManufacturerFares, 'All of them.'),
    details: listOf(text('A sentence.'), 'What is not well beside the upstreams.'),
    store: Type.Object(
      {
        status: oneOf(['healthy', 'restored', 'not_writable', 'damaged', 'unreachable'], 'Of the database.'),
        details: textOrNull('A sentence for whoever can mend it.'),
      },
      { description: 'The database.' },
    ),
    timestamp: time('Of this answer.'),
    version: text('Of the service.'),
  }),
)

const errors = Type.Optional(
  listOf(Type.Object({ manufacturer, error: text('A sentence.') }), 'Manufacturers that could not be reached.'),
)

export const Refresh = schemaOf<api.RefreshBody>()(
  named('Refresh', 'What a poll brought.', {
    status: oneOf(['success', 'partial'], '`partial` where some manufacturer failed.'),
    receivers_updated: whole('Receivers seen in this poll.'),
    timestamp: time('Of this answer.'),
    errors,
  }),
)

export const Scan = schemaOf<discovery.ScanBody>()(
  named('Scan', 'What a scan found.', {
    discovered: whole('How many devices.'),
    devices: listOf(
      Type.Object({
        ip,
        device_type: text('Model family.'),
        channels: whole('How many channels it has.'),
        ...whereHeard,
      }),
      'Devices inside the subnet.',
    ),
    errors,
  }),
)

export const Alert = schemaOf<AlertBody>()(
  named('Alert', 'Something that somebody should look after.', {
    id,
    manufacturer: textOrNull('Code of the manufacturer.'),
    kind: text('`battery_low`, `receiver_offline`, `upstream_failing`, `link_lost` …'),
    state: oneOf(alertStates, 'Whether it still stands.'),
    severity: oneOf(['info', 'warning', 'critical'], 'How bad it is.'),
    message: text('A sentence.'),
    channel_id: wholeOrNull('Id of the channel it is about.'),
    receiver_id: wholeOrNull('Id of the receiver it is about.'),
    raised_at: time('When it was raised.'),
    cleared_at: timeOrNull('When it was cleared.'),
  }),
)

// --- Review -----------------------------------------------------------------------------------------------------------

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
    serial_number: text('Empty where it is not known.'),
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
    ip: textOrNull('IPv4 address.'),
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
    ip: textOrNull('IPv4 address.'),
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
      { id, name: text('As shown on the device.'), serial_number: text('Empty where it is not known.') },
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

export const RealtimeConnection = schemaOf<ConnectionBody>()(
  named('RealtimeConnection', "How a receiver's real-time subscription fares.", {
    id: whole("The receiver's: it has one connection."),
    receiver: whole('Id of the receiver.'),
    receiver_name: textOrNull('Its name.'),
    manufacturer,
    status: oneOf(connectionStatuses, 'State of the subscription.'),
    transport: oneOf(transports, 'What it runs over.'),
    connected_at: timeOrNull('When it was last connected.'),
    disconnected_at: timeOrNull('When it was lost.'),
    last_message_at: timeOrNull('When it last said something.'),
    error_message: textOrNull('What went wrong.'),
    error_count: whole('How often something did.'),
    reconnect_attempts: whole('Since it was lost.'),
    duration_seconds: wholeOrNull('Of the connection that is, or of the last that was.'),
  }),
)

// --- Hardware ---------------------------------------------------------------------------------------------------------

const presence = oneOf(hardware.presences, '`unknown` while its system cannot be asked.')

export const Chassis = schemaOf<hardware.ChassisBody>()(
  named('Chassis', 'A receiver seen as hardware.', {
    id,
    name: text('As shown on the device.'),
    model: textOrNull("The manufacturer's model."),
    manufacturer,
    serial_number: textOrNull('Serial number.'),
    mac_address: textOrNull('MAC address.'),
    ip: textOrNull('IPv4 address.'),
    status: presence,
    firmware_version: textOrNull('Firmware.'),
    location,
  }),
)

export const Unit = schemaOf<hardware.UnitBody>()(
  named('Unit', 'A transmitter or an in-ear pack.', {
    id,
    name: textOrNull('As last told.'),
    device_type: oneOf(hardware.unitTypes, 'What it is.'),
    model: textOrNull("The manufacturer's model."),
    manufacturer,
    battery_percentage: wholeOrNull('Percent.'),
    base_chassis: wholeOrNull('Id of the chassis it is heard on, or docked in.'),
    channel: wholeOrNull('Number of the channel there.'),
    slot: wholeOrNull('Position on the wall.'),
    status: presence,
    details: Type.Optional(TransmitterDetails),
  }),
)

export const Performer = schemaOf<hardware.Performer>()(
  named('Performer', 'Somebody who goes on stage.', {
    id,
    name: text('Name.'),
    notes: text('Free text.'),
    picture: textOrNull("A picture's address or data, as it was given."),
  }),
)

type AssignmentBody = Omit<hardware.Assignment, 'started_at' | 'ended_at'> & {
  started_at: string
  ended_at: string | null
  performer_name?: string
  performer_picture_tag?: string | null
}
export const Assignment = schemaOf<AssignmentBody>()(
  named('Assignment', 'Who wears which unit.', {
    id,
    performer: whole('Id of the performer.'),
    wireless_unit: whole('Id of the unit.'),
    is_active: flag('At most one of a unit is.'),
    started_at: time('When it began.'),
    ended_at: timeOrNull('When it ended.'),
    performer_name: Type.Optional(text("The performer's name, where `names` asks for it.")),
    performer_picture_tag: Type.Optional(textOrNull('With the name: another text when the picture is another one.')),
  }),
)

// --- Places -----------------------------------------------------------------------------------------------------------

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

// --- Administration ---------------------------------------------------------------------------------------------------

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
    error: textOrNull('A sentence for whoever can mend it.'),
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
