/** Channels, their transmitters, the levels of both, and their slots. */

import Type from 'typebox'
import { faultWords } from './alert-data.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { faults } from './faults.ts'
import {
  type Body,
  ById,
  body,
  EquipmentList,
  flag,
  flagOrNull,
  id,
  listOf,
  manufacturer,
  named,
  nullable,
  oneOf,
  optional,
  orNull,
  pagedOf,
  recordId,
  Scope,
  site,
  slot,
  text,
  textOrNull,
  time,
  timeOrNull,
  trueOrFalse,
  whole,
  wholeOrNull,
} from './schema.ts'
import {
  audioActivities,
  audioModes,
  chargingStates,
  conditionFlags,
  conditionSeverities,
  conditionStates,
  encryptions,
  forecastSources,
  frequencyDiversities,
  inputLevels,
  slotStatuses,
  transmissionModes,
  transmitterLocks,
} from './values.ts'

const levels = {
  name: textOrNull('As shown on the device.'),
  frequency: textOrNull('Frequency in MHz with three decimal places, such as `470.300`.'),
  audio_level: wholeOrNull('Audio level in dBFS.'),
  rf_level: wholeOrNull('dBm.'),
}

export const TransmitterSlot = named(
  'TransmitterSlot',
  'A transmitter that is linked or registered to a channel; values that were never reported are absent.',
  {
    slot: whole('Number of the slot.'),
    status: oneOf(
      slotStatuses,
      '`active`: linked and connected; `inactive`: linked, but switched off or out of range; `standard`: registered.',
    ),
    on_air: flag('Whether it is the transmitter that the channel receives.'),
    model: Type.Optional(textOrNull("The manufacturer's model.")),
    name: Type.Optional(textOrNull('As shown on the transmitter.')),
    rf_muted: Type.Optional(flagOrNull('Whether its RF output is muted.')),
    battery: Type.Optional(wholeOrNull('Percent.')),
    battery_bars: Type.Optional(wholeOrNull('Battery level from 0 to 5 bars.')),
    battery_minutes: Type.Optional(wholeOrNull('Remaining run time in minutes.')),
    battery_type: Type.Optional(textOrNull('Chemistry or type of the battery.')),
  },
)
export type TransmitterSlot = Body<typeof TransmitterSlot>

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
      flagOrNull('Warning from the equipment that the RF level is barely above the squelch threshold.'),
    ),
    rf_concealed: Type.Optional(flagOrNull('True while the receiver conceals errors of the link.')),
    rf_overload: Type.Optional(flagOrNull('Warning from the equipment that the RF level is too high.')),
    overload: Type.Optional(flagOrNull('Warning from the equipment that the audio level is too high.')),
    interference: Type.Optional(flagOrNull('True while another signal interferes.')),
    second_frequency: Type.Optional(
      textOrNull('Frequency of the second carrier in MHz, if the channel uses frequency diversity.'),
    ),
    frequency_diversity: Type.Optional(
      orNull(oneOf(frequencyDiversities, 'Frequency diversity.'), 'Frequency diversity, if the equipment has it.'),
    ),
    group_channel: Type.Optional(
      textOrNull('Group and channel, or bank and channel, such as `2,5`; null if the frequency belongs to none.'),
    ),
    charging: Type.Optional(
      orNull(
        oneOf(chargingStates, 'In its charger.'),
        'State of the transmitter of the channel in its charger; null while it is in none.',
      ),
    ),
    unregistered_transmitter: Type.Optional(
      flagOrNull('True while the channel receives a transmitter that is not registered to it.'),
    ),
    slots: Type.Optional(
      listOf(TransmitterSlot, 'All transmitters that are linked or registered to the channel, by slot.'),
    ),
    input_level: Type.Optional(orNull(oneOf(inputLevels, 'Input level.'), 'Input level of an in-ear transmitter.')),
    audio_mode: Type.Optional(orNull(oneOf(audioModes, 'Audio mode.'), 'Audio mode of an in-ear transmitter.')),
    band: Type.Optional(textOrNull('Band in which the receiver can be tuned, such as `G51`.')),
    transmission_mode: Type.Optional(
      orNull(oneOf(transmissionModes, 'Transmission mode.'), 'Transmission mode; the densest fits most channels.'),
    ),
    sync_result: Type.Optional(textOrNull('Result of the last infrared sync of a Digital 6000, such as `Timeout`.')),
    booster_feed: Type.Optional(flagOrNull('Whether the receiver supplies power to antenna boosters.')),
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
    capsule: Type.Optional(textOrNull("The manufacturer's model of the microphone capsule.")),
    muted: Type.Optional(flagOrNull('Whether the transmitter is muted.')),
    gain_db: Type.Optional(wholeOrNull('Gain offset or trim in dB.')),
    low_cut_hz: Type.Optional(wholeOrNull('Cut-off frequency of the low-cut filter in Hz; 0 while it is off.')),
    power_mw: Type.Optional(wholeOrNull('Transmit power, mW.')),
    lock: Type.Optional(orNull(oneOf(transmitterLocks, 'Lock.'), 'What is locked on the transmitter.')),
    talk_switch: Type.Optional(flagOrNull('Whether the talk switch or talk key is pressed or latched.')),
    link_quality: Type.Optional(
      wholeOrNull('Link quality of a belt pack as its station reports it; the manufacturer publishes no scale.'),
    ),
    rssi: Type.Optional(
      wholeOrNull('RF level of a belt pack as its station reports it; the manufacturer publishes no unit.'),
    ),
    rssi_2: Type.Optional(wholeOrNull('The second `rssi`.')),
    antenna: Type.Optional(wholeOrNull('Number of the antenna to which a belt pack is connected.')),
    test_tone: Type.Optional(flagOrNull('Whether a test tone replaces the microphone.')),
    version_mismatch: Type.Optional(flagOrNull('Whether its firmware differs from that of the base station.')),
    battery_bars: Type.Optional(wholeOrNull('Battery level from 0 to 5 bars, as on the display of the device.')),
    battery_minutes: Type.Optional(wholeOrNull('Remaining run time in minutes.')),
    battery_minutes_to_full: Type.Optional(wholeOrNull('Remaining charging time in minutes.')),
    battery_type: Type.Optional(textOrNull('Chemistry or type of the battery.')),
    battery_health: Type.Optional(wholeOrNull('Remaining capacity in percent of the original capacity.')),
    battery_cycles: Type.Optional(wholeOrNull('Number of charge cycles.')),
    battery_temperature_c: Type.Optional(wholeOrNull('°C.')),
    charging: Type.Optional(
      orNull(oneOf(chargingStates, 'In its charger.'), 'State in its charger; null while it is in none.'),
    ),
    battery_is_estimate: Type.Optional(flag('True if `battery` is estimated from the bars.')),
    battery_low: Type.Optional(flagOrNull('Low-battery warning from the equipment.')),
    fault: Type.Optional(
      orNull(
        oneOf(faults, 'Fault of a pack in a charger.'),
        'Fault of a pack in a charger; null if there is no fault.',
      ),
    ),
    faults: Type.Optional(faultWords),
  },
)
export type TransmitterDetails = Body<typeof TransmitterDetails>

export const Forecast = named('Forecast', 'How long the battery of a transmitter will last.', {
  minutes_left: whole('Remaining run time in minutes.'),
  source: oneOf(
    forecastSources,
    '`device`: reported by the equipment; `history`: from this discharge and earlier ones of comparable batteries.',
  ),
  low: whole('Minutes; 80% of comparable batteries lasted between `low` and `high`.'),
  high: whole('Minutes.'),
})

const Transmitter = named('Transmitter', 'The transmitter that a channel receives.', {
  slot: whole('Slot.'),
  upstream_slot: wholeOrNull("Slot in the manufacturer's system."),
  battery: wholeOrNull('Percent.'),
  forecast: orNull(Forecast, 'Null if there is no basis. Rounded to 5 minutes wherever several receivers are listed.'),
  ...levels,
  details: Type.Optional(TransmitterDetails),
})
export type TransmitterBody = Body<typeof Transmitter>

export const Condition = named(
  'Condition',
  'The state of a channel, as evaluated by the service; the same for every client.',
  {
    state: oneOf(conditionStates, 'The first row of the table of conditions that is true.'),
    severity: oneOf(conditionSeverities, 'How severe the state is.'),
    attention: flag('Whether an operator should attend to the channel.'),
    since: time('Start of the current `state`.'),
    since_known: flag('False if the beginning of the state was not seen: `since` is then the earliest time known.'),
    values_at: Type.Optional(
      time('When the values of a channel that is stale or offline were last received; absent while they are current.'),
    ),
    flags: listOf(
      oneOf(conditionFlags, 'Name of a row.'),
      'The other rows that are true, in the order of the table; then `rf_fair` and `rf_concealed`.',
    ),
  },
)

export const LastTransmitter = named('LastTransmitter', 'The transmitter that the channel last received.', {
  name: textOrNull('Name.'),
  battery: wholeOrNull('Battery level in percent, as last reported.'),
  minutes_left: wholeOrNull('Remaining run time in minutes, as last reported.'),
  last_seen: time('When it was last received.'),
})

const NotNow = named('NotNow', 'The sound of the channel is neither played nor kept at the moment.', {
  by: text('Name of the person or token that asked for it.'),
  since: time('When it began.'),
  until: timeOrNull('When it ends; null: when an operator ends it.'),
})
export type NotNow = Body<typeof NotNow>

export const Channel = named('Channel', 'A channel of a receiver; unknown values are null.', {
  id,
  channel: whole('Number of the channel on its receiver.'),
  slot: whole('Slot.'),
  origin_slot: Type.Optional(whole('Slot at the site that monitors the channel; absent if this installation does.')),
  ...levels,
  transmitter: orNull(Transmitter, 'Null if no transmitter is received.'),
  details: Type.Optional(ChannelDetails),
  profile: Type.Optional(text('Id of the frequency profile; absent if it follows from the model.')),
  condition: Condition,
  not_now: orNull(NotNow, '"Not now": null while the sound of the channel may be played and kept.'),
  last_transmitter: Type.Optional(LastTransmitter),
})
export type ChannelBody = Body<typeof Channel>

export const ListedChannel = named('ListedChannel', 'A channel, with its receiver.', {
  ...Channel.properties,
  receiver_id: whole('Id of the receiver.'),
  manufacturer,
  site,
})
export type ListedChannel = Body<typeof ListedChannel>

export const SlotMove = named('SlotMove', 'A channel or a placeholder with its new slot.', {
  channel_id: Type.Optional(whole('Id of the channel.')),
  placeholder_id: Type.Optional(whole('Id of the placeholder.')),
  slot: whole('The new slot.'),
  from: Type.Optional(whole('The present slot; with another one, nothing is moved.')),
})
export type SlotMove = Body<typeof SlotMove>

const SlotMoves = named('SlotMoves', 'Moves that took place at once.', {
  moves: listOf(SlotMove, 'As in the request.'),
})

export const profileId = Type.String({
  pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
  description: 'a lower-case letter or digit, then up to 63 letters, digits, _ and -',
})

export const ChannelChange = body({
  slot: Type.Optional(slot),
  profile: Type.Optional(nullable(profileId, 'the id of a profile')),
})

const NotNowRequest = body({
  not_now: trueOrFalse,
  until: Type.Optional(nullable(Type.String({ format: 'date-time' }), 'a time such as 2030-12-31T22:00:00Z')),
})

const SlotMovesRequest = body({
  moves: Type.Array(body({ ...optional({ channel_id: recordId, placeholder_id: recordId, from: slot }), slot }), {
    maxItems: 1000,
    description: 'a list of at most 1000 moves',
  }),
})

export const channelOperations = operationsOf({
  listChannels: endpoint('GET', '/api/channels/', {
    ...about('Hardware', 'Channels of all receivers.'),
    querystring: EquipmentList,
    response: { 200: pagedOf(ListedChannel) },
  }),

  getChannel: endpoint('GET', '/api/channels/:id/', {
    ...about('Hardware', 'One channel.'),
    params: ById,
    querystring: Scope,
    response: { 200: ListedChannel },
  }),

  changeChannel: endpoint('PATCH', '/api/channels/:id/', {
    ...about(
      'Hardware',
      'Moves a channel to another slot, or sets its frequency profile; null: the profile of the model.',
    ),
    params: ById,
    querystring: Scope,
    body: ChannelChange,
    response: { 200: Channel, 409: ErrorResponse },
  }),

  setNotNow: endpoint('PUT', '/api/channels/:id/not-now/', {
    ...about(
      'Audio',
      'Stops or allows listening to a channel and keeping its sound, and that of the stream channel to which it is mapped.',
    ),
    params: ById,
    body: NotNowRequest,
    response: { 200: Channel, 409: ErrorResponse },
  }),

  moveToSlots: endpoint('PUT', '/api/slots/', {
    ...about('Hardware', 'Moves channels and placeholders to other slots, all at once or none.'),
    body: SlotMovesRequest,
    response: { 200: SlotMoves, 409: ErrorResponse },
  }),
})
