import Type, { type TProperties } from 'typebox'
import { modelStatuses } from '../domain/equipment/model-status.ts'
import { faultWords } from './alert-data.ts'
import { Channel } from './channels.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { faults } from './faults.ts'
import { location, locationId } from './locations.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  boundedWhole,
  EquipmentList,
  flag,
  flagOrNull,
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
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'
import { networkModes } from './values.ts'

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

const word = (description: string) => Type.Optional(textOrNull(description))

/** Parts that a device names, each with its value. */
const partsOf = <Parts extends TProperties>(parts: Parts, description: string) =>
  Type.Optional(orNull(Type.Object(parts), description))

const BaseAntenna = named('BaseAntenna', 'An antenna of a base station, with the words of the device.', {
  port: text('Port.'),
  state: textOrNull('State.'),
  type: word('Type.'),
  error: word('Why it is in error; null without an error.'),
  temperature_c: Type.Optional(wholeOrNull('°C; null while it is off.')),
  too_hot: Type.Optional(flagOrNull('Whether its temperature is too high.')),
  packet_errors: Type.Optional(flagOrNull('Whether packets were lost on its cable in the last 15 s.')),
  interference: word('Severity of the interference that it receives.'),
})

const BaseInterface = named('BaseInterface', 'An audio interface of a base station, with the words of the device.', {
  type: textOrNull('Type.'),
  status: textOrNull('State of the input.'),
  clock_source: word('Source of the clock of the output.'),
})

const RunningScan = named('RunningScan', 'A scan of the spectrum by a receiver, which receives nothing meanwhile.', {
  from_mhz: Type.Number({ description: 'Lowest frequency in MHz.' }),
  to_mhz: Type.Number({ description: 'Highest frequency in MHz.' }),
  step_khz: Type.Number({ description: 'Distance of neighbouring frequencies in kHz.' }),
  at: time('When it was requested.'),
  tuned: listOf(
    Type.Object({ channel: whole('Number of the channel.'), mhz: Type.Number({ description: 'Frequency in MHz.' }) }),
    'The frequencies to which the receiver returns.',
  ),
})
export type RunningScan = Body<typeof RunningScan>

export const ReceiverDetails = named(
  'ReceiverDetails',
  'What some equipment reports about itself; absent while nothing is reported. In changes, null means that a value is gone.',
  {
    fault: Type.Optional(
      orNull(
        oneOf(faults, 'Fault of the receiver.'),
        'The most severe fault of the receiver; null if there is no fault.',
      ),
    ),
    faults: Type.Optional(faultWords),
    state: word('State of a base station.'),
    warnings: Type.Optional(
      orNull(listOf(Type.String(), 'Warnings.'), 'Warnings of a base station that are no faults.'),
    ),
    temperature: word('State of the temperature.'),
    antennas: Type.Optional(orNull(listOf(BaseAntenna, 'By port.'), 'Antennas of a base station.')),
    supplies: partsOf({ psu1: word('State.'), psu2: word('State.') }, 'Power supplies.'),
    fans: partsOf({ FAN_1: word('State.'), FAN_2: word('State.'), FAN_3: word('State.') }, 'Fans.'),
    clock: Type.Optional(
      orNull(
        Type.Object({
          source: textOrNull('Source of the clock.'),
          word_clock: textOrNull('State of the word clock input.'),
        }),
        'Clock.',
      ),
    ),
    interfaces: partsOf(
      { aoip: Type.Optional(BaseInterface), madi1: Type.Optional(BaseInterface), madi2: Type.Optional(BaseInterface) },
      'Audio interfaces.',
    ),
    entitlement: word('Whether a base station is activated.'),
    scanning: Type.Optional(orNull(RunningScan, 'The scan that the receiver carries out for Micwatch.')),
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
  spare: flag('Whether it is a spare, with which the spectrum may be scanned.'),
  version,
  details: Type.Optional(ReceiverDetails),
}

export const detailFields = { ...dataFields, last_seen, ...hardwareFields }
export const ReceiverDetail = named('ReceiverDetail', 'A receiver with all known details.', detailFields)
export type ReceiverDetail = Body<typeof ReceiverDetail>

const ModelStatus = named('ModelStatus', 'How far the values of a model have been verified.', {
  model: text('The model or family to which the status applies.'),
  firmware: textOrNull('The verified firmware; null if the status does not depend on it.'),
  status: oneOf(
    modelStatuses,
    '`documents`: built from published documents; `capture`: a capture of a real device replays; `confirmed by a user`: a user compared the values on the display of the device.',
  ),
  date: text('Day of the status.'),
  source: text('The documents, the capture or the report.'),
  values: listOf(Type.String(), 'The verified values; empty for documents.'),
})
export type ModelStatusBody = Body<typeof ModelStatus>

const ScanRange = named('ScanRange', 'What a receiver can scan.', {
  from_mhz: Type.Number({ description: 'Lowest frequency in MHz.' }),
  to_mhz: Type.Number({ description: 'Highest frequency in MHz.' }),
  step_khz: Type.Number({ description: 'Smallest distance of neighbouring frequencies in kHz.' }),
})
export type ScanRangeBody = Body<typeof ScanRange>

export const ReceiverWithSources = named('ReceiverWithSources', 'A receiver with all known details and its sources.', {
  ...detailFields,
  sources: listOf(Type.String(), 'Addresses of the sources that report it; empty as long as they are not known.'),
  can_identify: flag('Whether its lights can flash while the setting `IDENTIFY` is on.'),
  scan_range: orNull(ScanRange, 'What it can scan while it is a spare; null if it cannot scan.'),
  model_status: orNull(ModelStatus, 'How far its model has been verified; null if that is not known here.'),
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

const positiveNumber = Type.Number({ exclusiveMinimum: 0, description: 'a number above 0' })

const ScanRequest = body({
  from_mhz: positiveNumber,
  to_mhz: positiveNumber,
  step_khz: positiveNumber,
  sweeps: Type.Optional(boundedWhole(1, 1000)),
  confirm: Type.Literal(true, { description: 'true, because the receiver receives nothing while it scans' }),
})
export type ScanRequestBody = Body<typeof ScanRequest>

const StartedScan = named('StartedScan', 'A scan that has begun.', {
  source: text('The source of its sweeps in `GET /api/sweeps/`.'),
})

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
  spare: Type.Optional(trueOrFalse),
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

  startReceiverScan: endpoint('POST', '/api/receivers/:id/scan/', {
    ...about(
      'Frequencies',
      'Scans the spectrum with a spare Digital 6000 receiver, which receives nothing meanwhile: one sweep, or `sweeps`. This writes to the receiver, so it requires `control: [scan]` in the configuration file. It then returns to its frequencies.',
    ),
    params: ById,
    body: ScanRequest,
    response: { 202: StartedScan, 409: ErrorResponse },
  }),

  stopReceiverScan: endpoint('DELETE', '/api/receivers/:id/scan/', {
    ...about('Frequencies', 'Ends the scan of a receiver. The response is sent when it is tuned to its frequencies.'),
    params: ById,
    response: { 204: NoContent, 409: ErrorResponse },
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
      'Changes the name, address or location of a receiver, or whether it is a spare. A new address or location is logged as a movement.',
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
