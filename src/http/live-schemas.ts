/** What answers about what is live look like, for the interface document. Only the tests hold them to it. */

import Type from 'typebox'
import { type AlertBody, alertStates } from '../model/alert.ts'
import type * as api from '../model/api.ts'
import { type ConnectionBody, connectionStatuses, transports } from '../model/connection.ts'
import * as details from '../model/details.ts'
import * as hardware from '../model/hardware.ts'
import type { ManufacturerHealth } from '../model/health.ts'
import type * as places from '../model/location.ts'
import { severities } from '../model/messages.ts'
import { networkModes } from '../model/network.ts'
import type { Settings } from '../model/settings.ts'
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

export const id = whole('Of the record.')
export const manufacturer = text('Code of the manufacturer.')
export const ip = textOrNull('IPv4 address.')

// --- Receivers -------------------------------------------------------------------------------------------------------

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
    rf_low: Type.Optional(flagOrNull("The equipment's own warning that RF is hardly above the squelch.")),
    overload: Type.Optional(flagOrNull("The equipment's own warning that audio is too loud.")),
    interference: Type.Optional(flagOrNull('True while another signal disturbs it.')),
    second_frequency: Type.Optional(textOrNull('MHz, of the second carrier with frequency diversity.')),
    muted: Type.Optional(flagOrNull("The receiver's output.")),
    encryption: Type.Optional(orNull(oneOf(details.encryptions, 'Of the link.'), 'Of the link.')),
    gain_db: Type.Optional(wholeOrNull("dB, of the receiver's output.")),
  }),
)

export const TransmitterDetails = schemaOf<details.TransmitterDetails>()(
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
    battery_low: Type.Optional(flagOrNull("The equipment's own warning.")),
    fault: Type.Optional(
      orNull(oneOf(details.faults, 'Of a pack in a charger.'), 'Of a pack in a charger; null: none.'),
    ),
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

export const summaryFields = {
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

export const LocationReference = schemaOf<places.LocationReference>()(
  named('LocationReference', 'A location in another record.', { id, name: text('Of the location.') }),
)

export const location = orNull(LocationReference, 'Where it stands.')

const ReceiverDetails = schemaOf<details.ReceiverDetails>()(
  named('ReceiverDetails', 'What some equipment reports of itself; absent while there is no fault.', {
    fault: Type.Optional(orNull(oneOf(details.faults, 'A fault of its own.'), 'A fault of its own; null: none.')),
  }),
)

/** What stays of a receiver besides its channels. */
const hardwareFields = {
  battery_health: oneOf(['good', 'fair', 'low', 'critical', 'unknown'], 'Of the weakest known battery.'),
  signal_quality: oneOf(
    ['excellent', 'good', 'fair', 'poor', 'unknown'],
    'Of the weakest known RF level of channels with a transmitter.',
  ),
  api_device_id: textOrNull("Id in the manufacturer's system."),
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  subnet_mask: textOrNull('Subnet mask.'),
  gateway: textOrNull('Gateway.'),
  network_mode: orNull(oneOf(networkModes, 'How it gets its address.'), 'How it gets its address.'),
  interface_id: textOrNull('Version of the network interface.'),
  description: textOrNull('Free text.'),
  firmware_version: textOrNull('Firmware.'),
  hosted_firmware_version: textOrNull('Firmware it holds for transmitters.'),
  location,
  details: Type.Optional(ReceiverDetails),
}

export const detailFields = { ...dataFields, ...hardwareFields }

export const ReceiverDetail = schemaOf<api.ReceiverDetail>()(
  named('ReceiverDetail', 'Everything known of a receiver.', detailFields),
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

// --- The whole picture -----------------------------------------------------------------------------------------------

export const whereHeard = {
  model: Type.Optional(text('Of a device that speaks for itself: what it is.')),
  address: Type.Optional(
    text('Where such a device is heard, as `devices` of a configuration names it; of a `system` its `api_base_url`.'),
  ),
}

const DiscoveredDevice = schemaOf<api.DiscoveredDevice>()(
  named('DiscoveredDevice', 'Found by a scan, and not a receiver yet.', {
    id,
    ip: text('IPv4 address.'),
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

export const Data = schemaOf<api.DataBody>()(
  named('Data', 'The whole picture.', {
    receivers: listOf(ReceiverInData, 'By id.'),
    discovered: listOf(DiscoveredDevice, 'Found by a scan in the last 24 hours.'),
    config: Configuration,
    groups: listOf(Group, 'By id.'),
  }),
)

// --- Health and alerts -----------------------------------------------------------------------------------------------

export const upstreamStatus = {
  status: oneOf(
    ['healthy', 'unknown', 'degraded', 'unhealthy', 'disabled', 'unconfigured'],
    'Of its systems; `unknown` while none has answered, or not for a day.',
  ),
  base_url: text('Address of its system, as configured.'),
  consecutive_failures: whole('Failed cycles in a row, of its best source.'),
}

export const upstreamDetails = {
  error: textOrNull('A sentence for whoever can mend it.'),
  overruns: whole('Cycles that outlasted their interval.'),
  details: listOf(Type.String(), 'What is not as it should be without deciding the status, a sentence each.'),
  sources: listOf(
    Type.Object({
      source: text('Address of the system or device.'),
      status: oneOf(['healthy', 'unknown', 'degraded', 'unhealthy'], 'Of this one.'),
      consecutive_failures: whole('Failed cycles in a row.'),
      error: textOrNull('A sentence; null while it is healthy.'),
    }),
    'Each system, and each device that is asked by itself.',
  ),
  device_errors: listOf(
    Type.Object({
      device: text('Its id, or its place in the list of its system.'),
      error: text('A sentence.'),
    }),
    'Devices that its systems list and that cannot be read; at most 100.',
  ),
  more: whole('How many failing devices are not among `device_errors`.'),
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

/** `errors` of an answer. */
export const sourceErrors = Type.Optional(
  listOf(
    Type.Object({
      manufacturer,
      source: text('Address of the system or device.'),
      error: text('A sentence.'),
    }),
    'Every source that failed; absent where none did.',
  ),
)

export const Refresh = schemaOf<api.RefreshBody>()(
  named('Refresh', 'What a poll brought.', {
    status: oneOf(['success', 'partial'], '`partial` where some manufacturer failed.'),
    receivers_updated: whole('Receivers seen in this poll.'),
    timestamp: time('Of this answer.'),
    errors: sourceErrors,
  }),
)

export const Alert = schemaOf<AlertBody>()(
  named('Alert', 'Something that somebody should look after.', {
    id,
    manufacturer: textOrNull('Code of the manufacturer.'),
    kind: text('`battery_low`, `receiver_offline`, `upstream_failing`, `link_lost`, `charger_fault` …'),
    state: oneOf(alertStates, 'Whether it still stands.'),
    severity: oneOf(severities, 'How bad it is.'),
    message: text('A sentence.'),
    channel_id: wholeOrNull('Id of the channel it is about.'),
    receiver_id: wholeOrNull('Id of the receiver it is about.'),
    raised_at: time('When it was raised.'),
    cleared_at: timeOrNull('When it was cleared.'),
  }),
)

// --- Hardware --------------------------------------------------------------------------------------------------------

const presence = oneOf(hardware.onlineStates, '`unknown` while its system cannot be asked.')

export const Chassis = schemaOf<hardware.ChassisBody>()(
  named('Chassis', 'A receiver seen as hardware.', {
    id,
    name: text('As shown on the device.'),
    model: textOrNull("The manufacturer's model."),
    manufacturer,
    serial_number: textOrNull('Serial number.'),
    mac_address: textOrNull('MAC address.'),
    ip,
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
