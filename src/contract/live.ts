/** Response bodies of live data. */

import Type from 'typebox'
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
  alertStates,
  audioActivities,
  connectionStatuses,
  encryptions,
  faults,
  networkModes,
  onlineStates,
  severities,
  sourceStatuses,
  transports,
  unitTypes,
  upstreamStatuses,
} from './values.ts'

export const id = whole('Id of the record.')
export const manufacturer = text('Code of the manufacturer.')
export const ip = textOrNull('IPv4 address.')

// --- Receivers -------------------------------------------------------------------------------------------------------

const levels = {
  name: textOrNull('As shown on the device.'),
  frequency: textOrNull('Frequency in MHz with three decimal places, such as `470.300`.'),
  audio_level: wholeOrNull('Audio level in dBFS.'),
  rf_level: wholeOrNull('dBm.'),
}

const flagOrNull = (description: string) => orNull(flag(description), description)

export const ChannelDetails = named(
  'ChannelDetails',
  'Additional values that some equipment reports for a channel; values that were never reported are absent.',
  {
    rf_a: Type.Optional(wholeOrNull('RF level at antenna A in dBm.')),
    rf_b: Type.Optional(wholeOrNull('RF level at antenna B in dBm.')),
    rf_c: Type.Optional(wholeOrNull('RF level at antenna C in dBm.')),
    rf_d: Type.Optional(wholeOrNull('RF level at antenna D in dBm.')),
    rf_percent: Type.Optional(
      wholeOrNull("RF level in percent of the equipment's own scale, if the equipment does not report dBm."),
    ),
    antennas: Type.Optional(textOrNull('Letters of the antennas in use: `A`, `AB`, or empty.')),
    audio_peak: Type.Optional(wholeOrNull('Peak audio level in dBFS.')),
    audio_rms: Type.Optional(wholeOrNull('RMS audio level in dBFS.')),
    audio_activity: Type.Optional(
      orNull(oneOf(audioActivities, 'Audio level.'), 'Audio level, if the equipment does not report dBFS.'),
    ),
    quality: Type.Optional(wholeOrNull('Link quality in percent.')),
    rf_low: Type.Optional(
      flagOrNull('Warning by the equipment that the RF level is barely above the squelch threshold.'),
    ),
    overload: Type.Optional(flagOrNull('Warning by the equipment that the audio level is too high.')),
    interference: Type.Optional(flagOrNull('True while another signal interferes.')),
    second_frequency: Type.Optional(
      textOrNull('Frequency of the second carrier in MHz, if the channel uses frequency diversity.'),
    ),
    muted: Type.Optional(flagOrNull('Whether the output of the receiver is muted.')),
    encryption: Type.Optional(orNull(oneOf(encryptions, 'Encryption of the link.'), 'Encryption of the link.')),
    gain_db: Type.Optional(wholeOrNull('Output gain of the receiver in dB.')),
  },
)
export type ChannelDetails = Body<typeof ChannelDetails>

export const TransmitterDetails = named(
  'TransmitterDetails',
  'Additional values that some equipment reports for a transmitter; values that were never reported are absent.',
  {
    model: Type.Optional(textOrNull("The manufacturer's model.")),
    muted: Type.Optional(flagOrNull('Whether the transmitter is muted.')),
    gain_db: Type.Optional(wholeOrNull('Gain offset or trim in dB.')),
    power_mw: Type.Optional(wholeOrNull('Transmit power, mW.')),
    battery_bars: Type.Optional(wholeOrNull('Battery level from 0 to 5 bars, as on the display of the device.')),
    battery_minutes: Type.Optional(wholeOrNull('Remaining run time in minutes.')),
    battery_minutes_to_full: Type.Optional(wholeOrNull('Remaining charging time in minutes.')),
    battery_type: Type.Optional(textOrNull('Chemistry or type of the battery.')),
    battery_health: Type.Optional(wholeOrNull('Remaining capacity in percent of the original capacity.')),
    battery_cycles: Type.Optional(wholeOrNull('Number of charge cycles.')),
    battery_temperature_c: Type.Optional(wholeOrNull('°C.')),
    battery_is_estimate: Type.Optional(flag('True if `battery` is estimated from the bars.')),
    battery_low: Type.Optional(flagOrNull('Low-battery warning by the equipment.')),
    fault: Type.Optional(
      orNull(
        oneOf(faults, 'Fault of a pack in a charger.'),
        'Fault of a pack in a charger; null if there is no fault.',
      ),
    ),
  },
)
export type TransmitterDetails = Body<typeof TransmitterDetails>

const Transmitter = named('Transmitter', 'The transmitter that a channel receives.', {
  slot: whole('Slot.'),
  upstream_slot: wholeOrNull("Slot in the manufacturer's system."),
  battery: wholeOrNull('Percent.'),
  ...levels,
  details: Type.Optional(TransmitterDetails),
})
export type TransmitterBody = Body<typeof Transmitter>

export const Channel = named('Channel', 'A channel of a receiver; unknown values are null.', {
  id,
  channel: whole('Number of the channel on its receiver.'),
  slot: whole('Slot.'),
  ...levels,
  transmitter: orNull(Transmitter, 'Null if no transmitter is received.'),
  details: Type.Optional(ChannelDetails),
})
export type ChannelBody = Body<typeof Channel>

/** A channel in `GET /api/channels/`. */
export const ListedChannel = named('ListedChannel', 'A channel, with its receiver.', {
  ...Channel.properties,
  receiver_id: whole('Id of the receiver.'),
  manufacturer,
})
export type ListedChannel = Body<typeof ListedChannel>

export const summaryFields = {
  id,
  name: text('As shown on the device.'),
  device_type: text('Model family.'),
  ip,
  is_active: flag('False while it is offline.'),
  last_seen: time('When it last responded.'),
  manufacturer,
}

export const ReceiverSummary = named('ReceiverSummary', 'A receiver in the list.', summaryFields)
export type ReceiverSummary = Body<typeof ReceiverSummary>

// Without `last_seen`, so that the response of an idle installation does not change.
const { last_seen, ...dataSummaryFields } = summaryFields

const dataFields = {
  ...dataSummaryFields,
  model: textOrNull("The manufacturer's model."),
  channels: listOf(Channel, 'By number.'),
}

export const ReceiverInData = named('ReceiverInData', 'A receiver in `GET /api/data.json`.', dataFields)
export type ReceiverInData = Body<typeof ReceiverInData>

export const LocationReference = named('LocationReference', 'A location in another record.', {
  id,
  name: text('Name of the location.'),
})
export type LocationReference = Body<typeof LocationReference>

export const location = orNull(LocationReference, 'Its location.')

const ReceiverDetails = named(
  'ReceiverDetails',
  'Faults that some equipment reports about itself; absent while there is no fault.',
  {
    fault: Type.Optional(
      orNull(oneOf(faults, 'Fault of the receiver.'), 'Fault of the receiver; null if there is no fault.'),
    ),
  },
)
export type ReceiverDetails = Body<typeof ReceiverDetails>

/** Receiver fields that `GET /api/data.json` does not contain. */
const hardwareFields = {
  battery_health: oneOf(['good', 'fair', 'low', 'critical', 'unknown'], 'State of the weakest known battery.'),
  signal_quality: oneOf(
    ['excellent', 'good', 'fair', 'poor', 'unknown'],
    'Based on the lowest known RF level of the channels with a transmitter.',
  ),
  api_device_id: textOrNull("The device's id in the manufacturer's system."),
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  subnet_mask: textOrNull('Subnet mask.'),
  gateway: textOrNull('Gateway.'),
  network_mode: orNull(oneOf(networkModes, 'How the IP address is assigned.'), 'How the IP address is assigned.'),
  interface_id: textOrNull('Version of the network interface.'),
  description: textOrNull('Free text.'),
  firmware_version: textOrNull('Firmware.'),
  hosted_firmware_version: textOrNull('Version of the transmitter firmware that the receiver stores.'),
  location,
  details: Type.Optional(ReceiverDetails),
}

export const detailFields = { ...dataFields, last_seen, ...hardwareFields }

export const ReceiverDetail = named('ReceiverDetail', 'A receiver with all known details.', detailFields)
export type ReceiverDetail = Body<typeof ReceiverDetail>

export const RealtimeConnection = named('RealtimeConnection', "State of a receiver's real-time subscription.", {
  id: whole("Id of the connection; the same as the receiver's id, because each receiver has exactly one connection."),
  receiver: whole('Id of the receiver.'),
  receiver_name: textOrNull('Name of the receiver.'),
  manufacturer,
  status: oneOf(connectionStatuses, 'State of the subscription.'),
  transport: oneOf(transports, 'Transport of the subscription.'),
  connected_at: timeOrNull('When it was last connected.'),
  disconnected_at: timeOrNull('When it was last disconnected.'),
  last_message_at: timeOrNull('When the last message arrived.'),
  error_message: textOrNull('Last error.'),
  error_count: whole('Number of errors.'),
  reconnect_attempts: whole('Attempts since the connection was lost.'),
  duration_seconds: wholeOrNull('Duration of the current or last connection in seconds.'),
})
export type ConnectionBody = Body<typeof RealtimeConnection>

// --- GET /api/data.json ---------------------------------------------------------------------------------------------

export const foundDeviceFields = {
  model: Type.Optional(text('Model; only present for devices that can be monitored individually.')),
  address: Type.Optional(
    text('Address to enter under `devices` in the configuration or, for a `system`, as `api_base_url`.'),
  ),
}

const DiscoveredDevice = named('DiscoveredDevice', 'A device that a scan found and that is not a receiver yet.', {
  id,
  ip: text('IPv4 address.'),
  device_type: text('Model family.'),
  channels: whole('Number of channels.'),
  manufacturer,
  discovered_at: time('When it was first found.'),
  ...foundDeviceFields,
})
export type DiscoveredDevice = Body<typeof DiscoveredDevice>

export const Group = named('Group', 'Slots that are shown together.', {
  id,
  title: text('Heading.'),
  slots: listOf(Type.Integer(), 'Slots in the group.'),
  hide_charts: flag('True if charts are hidden.'),
  manufacturer: textOrNull('Code of the manufacturer to which the group belongs.'),
})
export type Group = Body<typeof Group>

export const Configuration = named('Config', 'Effective settings.', {
  polling_interval: whole('Seconds between two polls.'),
  alert_battery_threshold: whole('Battery level in percent at or below which an alert is raised.'),
  enable_websocket: flag('False while real-time updates are disabled.'),
})
export type Settings = Body<typeof Configuration>

export const ChannelAssignment = named(
  'ChannelAssignment',
  'The performer who wears the unit that a channel receives.',
  {
    channel_id: wholeOrNull('Id of the channel that receives the unit.'),
    wireless_unit: whole('Id of the unit.'),
    performer: Type.Object({ id, name: text('Name.') }, { description: 'The performer.' }),
  },
)
export type ChannelAssignment = Body<typeof ChannelAssignment>

export const Data = named('Data', 'All receivers with their channels, discovered devices, settings and groups.', {
  receivers: listOf(ReceiverInData, 'By id.'),
  discovered: listOf(DiscoveredDevice, 'Devices that a scan has found in the last 24 hours.'),
  config: Configuration,
  groups: listOf(Group, 'By id.'),
  assignments: listOf(ChannelAssignment, 'All active assignments.'),
  placeholders: Type.Array(Type.Unknown(), { description: 'Equipment without telemetry.' }),
})
export type DataBody = Body<typeof Data>

// --- Health and alerts -----------------------------------------------------------------------------------------------

export const upstreamStatus = {
  status: oneOf(
    upstreamStatuses,
    "Status of the manufacturer's systems; `unknown` if no poll has succeeded yet, or none within the last day.",
  ),
  base_url: text("The configured address of the manufacturer's system."),
  consecutive_failures: whole('Consecutive failed poll cycles of the source with the fewest.'),
}

export const upstreamDetails = {
  error: textOrNull('What is wrong and how to fix it; null while there is no error.'),
  overruns: whole('Poll cycles that took longer than the interval.'),
  details: listOf(Type.String(), 'Problems that do not affect the status, one sentence each.'),
  sources: listOf(
    Type.Object({
      source: text('Address of the system or device.'),
      status: oneOf(sourceStatuses, 'Status of this source.'),
      consecutive_failures: whole('Consecutive failed poll cycles.'),
      error: textOrNull('What is wrong; null while it is healthy.'),
    }),
    'Every monitored system and every individually monitored device.',
  ),
  device_errors: listOf(
    Type.Object({
      device: text('Id of the device, or its index in the list if it has no id.'),
      error: text('What is wrong.'),
    }),
    'Devices that are listed but whose data cannot be read; at most 100.',
  ),
  more: whole('Number of such devices that are not in `device_errors`.'),
}

const ManufacturerStatus = named('ManufacturerHealth', 'Health of a manufacturer.', {
  code: text('Code of the manufacturer.'),
  ...upstreamStatus,
  ...upstreamDetails,
})
export type ManufacturerHealth = Body<typeof ManufacturerStatus>

export const Health = named('Health', 'Health of the service and its upstreams.', {
  status: oneOf(['healthy', 'degraded', 'unhealthy'], 'Status of the service.'),
  vendor_api: Type.Object(
    { ...upstreamStatus, ...Type.Partial(Type.Object(upstreamDetails)).properties },
    { description: 'The requested manufacturer; by default the one with the worst status.' },
  ),
  manufacturers: listOf(ManufacturerStatus, 'All manufacturers.'),
  details: listOf(text('A sentence.'), 'Problems of the service itself, one sentence each.'),
  store: Type.Object(
    {
      status: oneOf(['healthy', 'restored', 'not_writable', 'damaged', 'unreachable'], 'Status of the database.'),
      details: textOrNull('What is wrong and how to fix it; null while there is no problem.'),
    },
    { description: 'The database.' },
  ),
  timestamp: time('Time of this response.'),
  version: text('Version of the service.'),
})
export type HealthBody = Body<typeof Health>

export const Probe = named('Probe', 'The result of a probe.', {
  status: oneOf(['ok', 'unavailable'], '`unavailable` while the service is unhealthy.'),
})

/** The field `errors` of a response. */
export const sourceErrors = Type.Optional(
  listOf(
    Type.Object({
      manufacturer,
      source: text('Address of the system or device.'),
      error: text('What is wrong.'),
    }),
    'Sources that failed; absent if all succeeded.',
  ),
)

export const Refresh = named('Refresh', 'Result of a poll.', {
  status: oneOf(['success', 'partial'], '`partial` if a source failed.'),
  receivers_updated: whole('Number of receivers that were reported.'),
  timestamp: time('Time of this response.'),
  errors: sourceErrors,
})
export type RefreshBody = Body<typeof Refresh>

export const Alert = named('Alert', 'A condition that needs attention.', {
  id,
  manufacturer: textOrNull('Code of the manufacturer.'),
  kind: text('`battery_low`, `receiver_offline`, `upstream_failing`, `link_lost`, `charger_fault` …'),
  state: oneOf(alertStates, 'Whether it is still active.'),
  severity: oneOf(severities, 'Severity.'),
  message: text('Message for users.'),
  channel_id: wholeOrNull('Id of the affected channel.'),
  receiver_id: wholeOrNull('Id of the affected receiver.'),
  raised_at: time('When it was raised.'),
  cleared_at: timeOrNull('When it was cleared.'),
})
export type AlertBody = Body<typeof Alert>

// --- Hardware --------------------------------------------------------------------------------------------------------

const onlineState = oneOf(onlineStates, "`unknown` while the manufacturer's systems cannot be reached.")

export const Chassis = named('Chassis', 'A receiver as a physical unit.', {
  id,
  name: text('As shown on the device.'),
  model: textOrNull("The manufacturer's model."),
  manufacturer,
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  ip,
  status: onlineState,
  firmware_version: textOrNull('Firmware.'),
  location,
})
export type ChassisBody = Body<typeof Chassis>

export const Unit = named('Unit', 'A transmitter or an in-ear pack.', {
  id,
  name: textOrNull('Last reported name.'),
  device_type: oneOf(unitTypes, 'Type of the unit.'),
  model: textOrNull("The manufacturer's model."),
  manufacturer,
  battery_percentage: wholeOrNull('Percent.'),
  base_chassis: wholeOrNull('Id of the chassis that receives the unit or in which it is docked.'),
  channel: wholeOrNull('Number of the channel on that chassis.'),
  slot: wholeOrNull('Slot.'),
  status: onlineState,
  details: Type.Optional(TransmitterDetails),
})
export type UnitBody = Body<typeof Unit>

export const Performer = named('Performer', 'A performer.', {
  id,
  name: text('Name.'),
  notes: text('Free text.'),
  picture: textOrNull('URL or data URL of a picture, as it was entered.'),
})
export type Performer = Body<typeof Performer>

export const Assignment = named('Assignment', 'The assignment of a unit to a performer.', {
  id,
  performer: whole('Id of the performer.'),
  wireless_unit: whole('Id of the unit.'),
  is_active: flag('At most one assignment of a unit is active.'),
  started_at: time('When it began.'),
  ended_at: timeOrNull('When it ended.'),
  performer_name: Type.Optional(text("The performer's name; only with `names`.")),
  performer_picture_tag: Type.Optional(textOrNull('Changes when the picture changes; only with `names`.')),
})
export type AssignmentBody = Body<typeof Assignment>
