/** Receivers, from the summary in a list to all details. */

import Type from 'typebox'
import { type Body, flag, listOf, named, oneOf, orNull, text, textOrNull, time, whole } from '../described.ts'
import { faults, networkModes } from '../values.ts'
import { Channel } from './channels.ts'
import { id, ip, manufacturer, site } from './common.ts'
import { location } from './locations.ts'

export const summaryFields = {
  id,
  name: text('As shown on the device.'),
  device_type: text('Model family.'),
  ip,
  is_active: flag('False while it is offline.'),
  last_seen: time('When it last responded.'),
  manufacturer,
}

export const ReceiverSummary = named('ReceiverSummary', 'A receiver in the list.', { ...summaryFields, site })
export type ReceiverSummary = Body<typeof ReceiverSummary>

// `last_seen` is left out, so that the response of an idle installation does not change.
const { last_seen, ...dataSummaryFields } = summaryFields

const dataFields = {
  ...dataSummaryFields,
  site,
  model: textOrNull("The manufacturer's model."),
  channels: listOf(Channel, 'By number.'),
}

export const ReceiverInData = named('ReceiverInData', 'A receiver in `GET /api/data.json`.', dataFields)
export type ReceiverInData = Body<typeof ReceiverInData>

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

export const ReceiverWithSources = named('ReceiverWithSources', 'A receiver with all known details and its sources.', {
  ...detailFields,
  sources: listOf(Type.String(), 'Addresses of the sources that report it; empty as long as they are not known.'),
  can_identify: flag('Whether its lights can be made to flash while the setting `IDENTIFY` is on.'),
})
export type ReceiverWithSources = Body<typeof ReceiverWithSources>

export const Identified = named('Identified', 'What flashes.', {
  channel: orNull(whole('Number of the channel.'), 'The channel; null if the whole receiver flashes.'),
  seconds: whole('For how long.'),
})
export type Identified = Body<typeof Identified>
