import Type from 'typebox'
import { Channel } from './channels.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { location, locationId } from './locations.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  boundedWhole,
  EquipmentList,
  flag,
  id,
  ip,
  listOf,
  manufacturer,
  NoContent,
  name,
  named,
  nullable,
  oneOf,
  orNull,
  pagedOf,
  Scope,
  ScopedList,
  site,
  text,
  textOrNull,
  time,
  version,
  whole,
} from './schema.ts'
import { faults, networkModes } from './values.ts'

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

// Without `last_seen`, the response of an idle installation does not change.
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
  version,
  details: Type.Optional(ReceiverDetails),
}

export const detailFields = { ...dataFields, last_seen, ...hardwareFields }
export const ReceiverDetail = named('ReceiverDetail', 'A receiver with all known details.', detailFields)
export type ReceiverDetail = Body<typeof ReceiverDetail>

export const ReceiverWithSources = named('ReceiverWithSources', 'A receiver with all known details and its sources.', {
  ...detailFields,
  sources: listOf(Type.String(), 'Addresses of the sources that report it; empty as long as they are not known.'),
  can_identify: flag('Whether its lights can flash while the setting `IDENTIFY` is on.'),
})
export type ReceiverWithSources = Body<typeof ReceiverWithSources>

export const Identified = named('Identified', 'What flashes.', {
  channel: orNull(whole('Number of the channel.'), 'The channel; null if the whole receiver flashes.'),
  seconds: whole('For how long.'),
})
export type Identified = Body<typeof Identified>

/** Without a channel, the whole receiver flashes. */
const IdentifyReceiver = Type.Optional(
  body({ channel: Type.Optional(boundedWhole(1, 64)), seconds: Type.Optional(boundedWhole(1, 30)) }),
)

const nullableText = (max: number) => Type.Optional(nullable(boundedText(1, max), `text of at most ${max} characters`))

const NewReceiver = body({
  manufacturer: boundedText(1, 64),
  name,
  device_type: Type.Optional(boundedText(1, 64)),
  model: nullableText(255),
  serial_number: nullableText(255),
  mac_address: nullableText(32),
  ip: nullableText(15),
  description: nullableText(1024),
  location: Type.Optional(locationId),
})

const ReceiverChange = body({
  name: nullableText(255),
  ip: Type.Optional(boundedText(1, 15)),
  location: Type.Optional(locationId),
  reason: Type.Optional(boundedText(0, 1024)),
})

export const receiverOperations = operationsOf({
  listReceivers: endpoint('GET', '/api/receivers/', {
    ...about('Monitoring', 'Summaries of all receivers.'),
    querystring: EquipmentList,
    response: { 200: pagedOf(ReceiverSummary), 304: NoContent },
  }),

  getReceiver: endpoint('GET', '/api/receivers/:id/', {
    ...about('Monitoring', 'One receiver with all known details.'),
    params: ById,
    querystring: Scope,
    response: { 200: ReceiverWithSources, 304: NoContent },
  }),

  identifyReceiver: endpoint('POST', '/api/receivers/:id/identify/', {
    ...about(
      'Monitoring',
      'Makes the lights of a receiver, or of one of its channels, flash for some seconds, 10 by default.',
    ),
    params: ById,
    body: IdentifyReceiver,
    response: { 200: Identified, 409: ErrorResponse },
  }),

  listReceiverDetails: endpoint('GET', '/api/admin/receivers/', {
    ...about('Review', 'All receivers with all known details.'),
    querystring: ScopedList,
    response: { 200: pagedOf(ReceiverDetail) },
  }),

  createReceiver: endpoint('POST', '/api/admin/receivers/', {
    ...about('Review', 'Adds a receiver that no system has reported.'),
    body: NewReceiver,
    response: { 201: ReceiverDetail, 409: ErrorResponse },
  }),

  changeReceiver: endpoint('PATCH', '/api/admin/receivers/:id/', {
    ...about(
      'Review',
      'Changes the name, address or location of a receiver. A new address or location is logged as a movement.',
    ),
    params: ById,
    body: ReceiverChange,
    response: { 200: ReceiverDetail, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeReceiver: endpoint('DELETE', '/api/admin/receivers/:id/', {
    ...about('Review', 'Removes a receiver.'),
    params: ById,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),
})
