/**
 * SpeechLine Digital Wireless receivers with SSC 1: SL Rack Receiver DW with one channel, SL MCR 2 DW and SL MCR 4 DW
 * with two and four. They are DECT radios, which report the link quality but neither a frequency nor an RF level.
 * Addresses and units: Sennheiser's SSC developer's guide for SpeechLine Digital Wireless (TI 1094), and clients based
 * on it.
 */

import type { ChannelReading, Fault } from '../../../domain/equipment/receiver.ts'
import { type ReadFault, readWarningFaults } from '../../../upstream/faults.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import { listIncludes, readWarning } from '../values.ts'
import type { Family, SscValues, Topic } from './family.ts'
import { speechLine as fields } from './fields.ts'

/** Requested separately, because not all firmware has it. */
const deviceTopic: Topic = { channel: null, addresses: ['/device/warnings'] }

const faults: Readonly<Record<string, Fault>> = {
  HW_FAILURE: 'hardware_failure',
  MIXERDSP_FAILURE: 'hardware_failure',
  'HW Failure': 'hardware_failure',
  SETTINGS_SAVE_FAILED: 'settings_lost',
  SETTINGS_DEFAULTD: 'settings_lost',
  UPDATE_FAILED: 'update_failed',
  'No FW Image': 'update_failed',
  'TX OTA FWU failed': 'update_failed',
}

function readFaults(values: SscValues, channels: readonly number[]): readonly ReadFault[] {
  return [
    ...readWarningFaults(faults, fields.deviceWarnings.read(values.get('/device/warnings'))),
    ...channels.flatMap((n) =>
      readWarningFaults(faults, fields.warnings.read(values.get(`/rx${n}/warnings`)), `rx${n}`),
    ),
  ]
}

const levels = { rf: { kind: 'changes' }, audio: { kind: 'changes' } } as const
const levelAddress = /\/(?:rf_quality|level|level_db)$/

export const slMcr: Family = {
  levels,
  levelAddress,
  fields,
  readFaults: (values) => readFaults(values, [1, 2, 3, 4]),
  topics: [
    deviceTopic,
    ...[1, 2, 3, 4].flatMap((n) => [
      ...createTopics(n, [`/rx${n}/name`, `/rx${n}/rf_quality`, `/rx${n}/warnings`]),
      createTopic(n, [`/mates/tx${n}/active`]),
      createTopic(n, [`/audio/rx${n}/gain`]),
      createTopic(n, [`/m/rx${n}/level`]),
      createQuery(n, [`/m/rx${n}/level`, `/rx${n}/rf_quality`]),
    ]),
  ],
  channelAddress: (n) => `/rx${n}/name`,
  readChannel: (values, n) =>
    readChannel(values, n, {
      name: values.get(`/rx${n}/name`),
      level: fields.level.read(values.get(`/m/rx${n}/level`)),
      gainDb: fields.gain.read(values.get(`/audio/rx${n}/gain`)),
      // Without a linked transmitter, the address is rejected and its value therefore null.
      isLinked:
        values.get(`/mates/tx${n}/active`) !== null && fields.linked.read(values.get(`/mates/tx${n}/active`)) !== false,
    }),
}

export const slRack: Family = {
  levels,
  levelAddress,
  fields,
  readFaults: (values) => readFaults(values, [1]),
  topics: [
    deviceTopic,
    ...createTopics(1, ['/rx1/rf_quality', '/rx1/warnings']),
    createTopic(1, ['/mates/active']),
    createTopic(1, ['/device/name']),
    createTopic(1, ['/audio/out1/gain_db']),
    createTopic(1, ['/audio/out1/level_db']),
    createQuery(1, ['/audio/out1/level_db', '/rx1/rf_quality']),
  ],
  channelAddress: (n) => `/rx${n}/rf_quality`,
  readChannel: (values, n) =>
    readChannel(values, n, {
      // The only channel has no name of its own.
      name: values.get('/device/name'),
      level: fields.levelOfRack.read(values.get('/audio/out1/level_db')),
      gainDb: fields.gainOfRack.read(values.get('/audio/out1/gain_db')),
      isLinked:
        !values.has('/mates/active') || listIncludes(fields.linkedOfRack.read(values.get('/mates/active')), 'tx1'),
    }),
}

/** The given addresses of a channel, and those of its transmitter that both kinds of receivers have. */
function createTopics(n: number, addresses: readonly string[]): readonly Topic[] {
  const transmitter = (names: readonly string[]) => names.map((name) => `/mates/tx${n}/${name}`)
  return [
    createTopic(n, addresses),
    // Requested separately, because older firmware may not have it.
    createTopic(n, [`/rx${n}/mute_state`]),
    createTopic(n, transmitter(['device_type', 'acoustic', 'bat_type', 'bat_gauge', 'warnings'])),
    // Requested separately, because only rechargeable batteries have these.
    createTopic(n, transmitter(['bat_lifetime', 'bat_health', 'bat_cycles'])),
  ]
}

/** The guide describes no interval of notifications, so none is requested. */
function createTopic(channel: number, addresses: readonly string[]): Topic {
  return { channel, addresses }
}

/** Queries levels, because a level that does not change is not sent again. */
function createQuery(channel: number, addresses: readonly string[]): Topic {
  return { channel, addresses, isPolled: true }
}

/** The values whose addresses depend on the kind of receiver. */
interface ReceiverValues {
  readonly name: unknown
  readonly level: number | null | undefined
  readonly gainDb: number | null | undefined
  readonly isLinked: boolean
}

function readChannel(values: SscValues, n: number, { name, level, gainDb, isLinked }: ReceiverValues): ChannelReading {
  const warnings = fields.warnings.read(values.get(`/rx${n}/warnings`))
  return withoutUndefined({
    channel: n,
    name: fields.name.read(name),
    audio_level: level,
    transmitter: !isLinked || listIncludes(warnings, 'No Link') ? null : readTransmitter(values, n),
    details: withoutUndefined({
      quality: fields.quality.read(values.get(`/rx${n}/rf_quality`)),
      rf_low: readWarning('Bad Link', warnings),
      gain_db: gainDb,
    }),
  })
}

function readTransmitter(values: SscValues, n: number): ChannelReading['transmitter'] {
  const tx = (name: string) => values.get(`/mates/tx${n}/${name}`)
  return withoutUndefined({
    upstream_slot: n,
    battery: fields.gauge.read(tx('bat_gauge')),
    details: withoutUndefined({
      model: fields.transmitterType.read(tx('device_type')),
      capsule: fields.acoustic.read(tx('acoustic')),
      // The reported mute state is that of the linked transmitter.
      muted: fields.mute.read(values.get(`/rx${n}/mute_state`)),
      battery_minutes: toMinutes(fields.lifetime.read(tx('bat_lifetime'))),
      battery_type: fields.batteryType.read(tx('bat_type')),
      battery_health: fields.health.read(tx('bat_health')),
      battery_cycles: fields.cycles.read(tx('bat_cycles')),
      battery_low: readWarning('Low Bat', fields.transmitterWarnings.read(tx('warnings'))),
    }),
  })
}

function toMinutes(seconds: number | null | undefined): number | null | undefined {
  return typeof seconds === 'number' ? Math.floor(seconds / 60) : seconds
}
