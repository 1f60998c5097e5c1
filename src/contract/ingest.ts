/** `POST /api/ingest/`: receivers in the form in which the service returns them. */

import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { ChannelDetails, TransmitterDetails, TransmitterSlot } from './channels.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { faults } from './faults.ts'
import {
  type Body,
  body,
  boundedWhole,
  choiceOf,
  listOf,
  mhz,
  named,
  nullable,
  text,
  trueOrFalse,
  whole,
} from './schema.ts'
import { networkModes } from './values.ts'

export const line = (maxLength: number) =>
  Type.String({
    maxLength,
    pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$',
    description: `text of 1 to ${maxLength} characters without control characters`,
  })

/** Absent if not reported, null if reported without a value. */
const reported = <T extends TSchema & { readonly description?: string }>(schema: T) =>
  Type.Optional(nullable(schema, schema.description ?? 'a value'))

/** A read-only field of responses. It is accepted so that a client can send back a response. */
const ignored = Type.Optional(Type.Unknown({ description: 'Ignored.' }))

export const dbm = reported(boundedWhole(-200, 50))
export const dbfs = reported(boundedWhole(-200, 0))
export const percent = reported(boundedWhole(0, 100))
export const minutes = reported(boundedWhole(0, 65_535))
const db = reported(boundedWhole(-200, 200))
const bars = reported(boundedWhole(0, 5))

/** Text, numbers and lists need limits; flags and choices do not. */
type NeedsLimit<Value> = string extends Value
  ? true
  : number extends Value
    ? true
    : Value extends unknown[]
      ? true
      : false

type Limits<Fields extends TProperties> = {
  readonly [Name in keyof Fields as NeedsLimit<NonNullable<Static<Fields[Name]>>> extends true ? Name : never]: TSchema
}

type Field = TSchema & { readonly enum?: string[]; readonly anyOf?: readonly Field[] }

/** Returns the fields of a response with limits and with descriptions for error messages. */
function limit<Fields extends TProperties>(fields: Fields, limits: Limits<Fields>): Fields {
  const others = Object.entries<Field>(fields).map(([name, field]) => {
    const { enum: values } = field.anyOf?.[0] ?? field
    const schema = values ? choiceOf(values) : trueOrFalse
    return [name, field.anyOf ? reported(schema) : Type.IsOptional(field) ? Type.Optional(schema) : schema]
  })
  return { ...(Object.fromEntries(others) as Fields), ...limits }
}

const transmitterSlot = limit(TransmitterSlot.properties, {
  slot: boundedWhole(1, 99),
  model: reported(line(255)),
  name: reported(line(255)),
  battery: percent,
  battery_bars: bars,
  battery_minutes: minutes,
  battery_type: reported(line(64)),
})

export const faultWords = Type.Array(
  body({ part: nullable(line(64), 'text of 1 to 64 characters'), word: line(255) }),
  {
    maxItems: 64,
    description: 'a list of at most 64 objects',
  },
)

/** Also limits the reports of followed sites. */
export const channelDetails = limit(ChannelDetails.properties, {
  rf_a: dbm,
  rf_b: dbm,
  rf_c: dbm,
  rf_d: dbm,
  rf_percent: percent,
  antennas: reported(Type.String({ pattern: '^A?B?C?D?$', description: 'letters of antennas, such as AB' })),
  audio_peak: dbfs,
  audio_rms: dbfs,
  quality: percent,
  second_frequency: reported(mhz),
  group_channel: reported(line(64)),
  slots: Type.Optional(
    Type.Array(body(transmitterSlot), { maxItems: 16, description: 'a list of at most 16 objects' }),
  ),
  band: reported(line(64)),
  sync_result: reported(line(64)),
  gain_db: db,
})

const ownScale = reported(boundedWhole(-1_000_000, 1_000_000))

export const transmitterDetails = limit(TransmitterDetails.properties, {
  model: reported(line(255)),
  capsule: reported(line(255)),
  gain_db: db,
  low_cut_hz: reported(boundedWhole(0, 1000)),
  power_mw: reported(boundedWhole(0, 100_000)),
  link_quality: ownScale,
  rssi: ownScale,
  rssi_2: ownScale,
  antenna: ownScale,
  battery_bars: bars,
  battery_minutes: minutes,
  battery_minutes_to_full: minutes,
  battery_type: reported(line(64)),
  battery_health: percent,
  battery_cycles: reported(boundedWhole(0, 1_000_000)),
  battery_temperature_c: db,
  faults: reported(faultWords),
})

export const readings = {
  name: reported(line(255)),
  frequency: reported(mhz),
  audio_level: dbfs,
  rf_level: dbm,
}

const transmitter = body({
  ...readings,
  upstream_slot: reported(boundedWhole(0, 65_535)),
  battery: percent,
  details: Type.Optional(body(transmitterDetails)),
  slot: ignored,
  forecast: ignored,
})

export const maxChannels = 64

const channel = body({
  channel: boundedWhole(1, 1000),
  ...readings,
  details: Type.Optional(body(channelDetails)),
  transmitter: Type.Optional(nullable(transmitter, 'an object')),
  id: ignored,
  slot: ignored,
  origin_slot: ignored,
  profile: ignored,
  condition: ignored,
  not_now: ignored,
  last_transmitter: ignored,
})

const receiver = body({
  /** The sender's id of the receiver. */
  api_device_id: line(200),
  manufacturer: Type.Optional(line(64)),
  name: Type.Optional(line(255)),
  device_type: Type.Optional(line(64)),
  is_active: Type.Optional(trueOrFalse),
  model: reported(line(255)),
  serial_number: reported(line(255)),
  mac_address: reported(
    Type.String({ pattern: '^([0-9A-Fa-f]{2}[:-]?){5}[0-9A-Fa-f]{2}$', description: 'twelve hexadecimal digits' }),
  ),
  ip: reported(
    Type.String({
      pattern: '^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(\\.(?!$)|$)){4}$',
      description: 'an IPv4 address',
    }),
  ),
  subnet_mask: reported(line(64)),
  gateway: reported(line(64)),
  network_mode: reported(choiceOf(networkModes)),
  interface_id: reported(line(255)),
  description: reported(line(1024)),
  firmware_version: reported(line(255)),
  hosted_firmware_version: reported(line(255)),
  details: Type.Optional(body({ fault: reported(choiceOf(faults)), faults: reported(faultWords) })),
  channels: Type.Optional(
    Type.Array(channel, { maxItems: maxChannels, description: `a list of at most ${maxChannels} channels` }),
  ),
  id: ignored,
  version: ignored,
  site: ignored,
  last_seen: ignored,
  battery_health: ignored,
  signal_quality: ignored,
  location: ignored,
  sources: ignored,
  can_identify: ignored,
  spare: ignored,
  scan_range: ignored,
  model_status: ignored,
})

export const IngestRequest = body({
  /** Name of the sender. Two sources may use the same api_device_id for different receivers. */
  source: line(64),
  receivers: Type.Array(receiver, { maxItems: 1000, description: 'a list of at most 1000 receivers' }),
})
export type IngestRequest = Body<typeof IngestRequest>

export const IngestResult = named('IngestResult', 'Which receivers of the request were stored.', {
  accepted: whole('Number of receivers that were stored.'),
  rejected: listOf(
    Type.Object({ index: whole('Position in `receivers`, from 0.'), error: text('Why it was not stored.') }),
    'The other receivers.',
  ),
})
export type IngestResult = Body<typeof IngestResult>

export const ingestOperations = operationsOf({
  ingestReceivers: endpoint('POST', '/api/ingest/', {
    ...about('Monitoring', 'Stores receivers that a script reports.'),
    body: IngestRequest,
    response: { 202: IngestResult },
  }),
})
