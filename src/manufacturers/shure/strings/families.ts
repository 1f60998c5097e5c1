/** The Shure families: which properties to query, how to meter, and how to detect the family. */

import { type ReadSample, readAxientSample, readSlxdSample, readUhfrSample, readUlxdSample } from './samples.ts'

/** Reported values, unparsed, keyed by `MODEL` for the device and `1 FREQUENCY` for a channel. */
export type RawValues = Readonly<Record<string, string>>

export interface Family {
  /** Reported as device_type. */
  readonly name: string
  /** Used if the device does not report its model. */
  readonly model: string
  /** Wraps a command in the family's frame. */
  envelope(command: string): string
  /** Keys to query for the device as a whole. */
  readonly deviceKeys: readonly string[]
  /** Keys to query for each channel. */
  readonly channelKeys: readonly string[]
  /** Supports channel 0, which stands for all channels. */
  readonly hasChannelZero: boolean
  /** Keys of the identity. They are queried last, so once they are reported, no more answers are expected. */
  readonly identityKeys: readonly string[]
  /** Maximum number of channels or bays of one device. */
  readonly maxChannels: number
  /** Metering interval. 0 if the family does not meter and only reports changes. */
  readonly meterMs: number
  /** Key that a channel reports once it meters; for a charger, a key that every bay reports. */
  readonly meterKey: string
  /** Null if the family reports its meters as properties or does not meter. */
  readonly readSample: ReadSample | null
}

const angles = (command: string) => `< ${command} >`

const ulxd: Family = {
  name: 'ulxd',
  model: 'ULXD4',
  envelope: angles,
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'ENCRYPTION', 'HIGH_DENSITY', 'NET_SETTINGS SC'],
  channelKeys: ['ALL'],
  hasChannelZero: true,
  identityKeys: ['DEVICE_ID', 'NET_SETTINGS SC'],
  maxChannels: 4,
  meterMs: 100,
  meterKey: 'SAMPLE',
  readSample: readUlxdSample,
}

const qlxd: Family = {
  ...ulxd,
  name: 'qlxd',
  model: 'QLXD4',
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'ENCRYPTION', 'MAC_ADDR'],
  hasChannelZero: false,
  identityKeys: ['DEVICE_ID', 'MAC_ADDR'],
  // Firmware 2.2.11 and later hangs if the client disconnects during metering. A long interval lowers the risk.
  meterMs: 1000,
}

const slxd: Family = {
  ...ulxd,
  name: 'slxd',
  model: 'SLXD4',
  deviceKeys: ['RF_BAND', 'DEVICE_ID', 'FW_VER'],
  // SLX-D+ rejects channel 0.
  hasChannelZero: false,
  identityKeys: ['DEVICE_ID'],
  readSample: readSlxdSample,
}

const slxdPlus: Family = {
  ...slxd,
  deviceKeys: ['RF_BAND', 'DEVICE_ID', 'FW_VER', 'NET_SETTINGS SC', 'ENCRYPTION_MODE'],
  identityKeys: ['DEVICE_ID', 'NET_SETTINGS SC'],
}

const axient: Family = {
  ...ulxd,
  name: 'ad',
  model: 'AD4D',
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'ENCRYPTION_MODE', 'RF_BAND', 'TRANSMISSION_MODE', 'NET_SETTINGS SC'],
  channelKeys: ['ALL', 'SLOT_STATUS 0'],
  readSample: readAxientSample,
}

/** Receives Axient Digital or ULX-D transmitters. Its licences determine the number of channels. */
const anx4: Family = {
  ...axient,
  model: 'ANX4',
  maxChannels: 24,
}

const psm1000Settings = ['GROUP_CHAN', 'AUDIO_IN_LINE_LVL', 'AUDIO_TX_MODE']

/** An in-ear monitor transmitter; it receives nothing. */
const psm1000: Family = {
  name: 'psm1000',
  model: 'P10T',
  envelope: (command) => `< ${command} >\r\n`,
  deviceKeys: ['DEVICE_NAME'],
  channelKeys: ['CHAN_NAME', 'FREQUENCY', 'AUDIO_IN_LVL', 'RF_TX_LVL', 'RF_MUTE', ...psm1000Settings],
  hasChannelZero: false,
  identityKeys: ['DEVICE_NAME'],
  maxChannels: 2,
  meterMs: 100,
  meterKey: 'AUDIO_IN_LVL_L',
  readSample: null,
}

export const uhfr: Family = {
  name: 'uhfr',
  model: 'UR4S',
  envelope: (command) => `* ${command} *`,
  deviceKeys: [],
  channelKeys: ['CHAN_NAME', 'FREQUENCY', 'TX_BAT'],
  hasChannelZero: false,
  identityKeys: [],
  maxChannels: 2,
  meterMs: 90,
  meterKey: 'SAMPLE',
  readSample: readUhfrSample,
}

/** A charger has bays instead of channels. */
const charger: Family = {
  ...ulxd,
  name: 'charger',
  model: 'SBC220',
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'STORAGE_MODE', 'NET_SETTINGS SC'],
  // Up to four linked chargers with two bays each answer at one address.
  maxChannels: 8,
  meterMs: 0,
  meterKey: 'BATT_DETECTED',
  readSample: null,
}

const familyByModel: readonly (readonly [RegExp, Family])[] = [
  [/^ULXD4/, ulxd],
  [/^SLXD.*\+/, slxdPlus],
  [/^SLXD/, slxd],
  [/^AD4/, axient],
  [/^ANX4/, anx4],
  [/^P10T/, psm1000],
  [/^SB(?:C2[24]0|C441|C840|RC)/, charger],
]

/** Commands that identify the family, the most informative first, and how long to wait for an answer. */
export const probes: readonly { readonly commands: readonly string[]; readonly waitMs: number }[] = [
  { commands: ['< GET MODEL >'], waitMs: 700 },
  // QLX-D and older ULX-D do not support MODEL; of these two, only QLX-D supports MAC_ADDR.
  { commands: ['< GET MAC_ADDR >', '< GET 1 ALL >'], waitMs: 700 },
  // Not every PSM 1000 supports DEVICE_NAME; no other family supports AUDIO_IN_LVL.
  { commands: ['GET DEVICE_NAME', 'GET 1 AUDIO_IN_LVL'].map(psm1000.envelope), waitMs: 700 },
]

/** Detects the family from the reported values. Null if they are not sufficient. */
export function detectFamily(values: RawValues): Family | null {
  const { MODEL } = values
  if (MODEL !== undefined) return familyByModel.find(([pattern]) => pattern.test(MODEL))?.[1] ?? null
  if (values.MAC_ADDR !== undefined) return qlxd
  if (values['1 AUDIO_MUTE'] !== undefined || values['1 RF_INT_DET'] !== undefined) return ulxd
  return values.DEVICE_NAME === undefined && values['1 AUDIO_IN_LVL'] === undefined ? null : psm1000
}

/** A charger has bays and no channels. */
export function isCharger({ name }: Family): boolean {
  return name === charger.name
}

export function channelsOf(family: Family, values: RawValues): readonly number[] {
  return isCharger(family) ? [] : answeredNumbers(family, values)
}

/**
 * Returns the channels, or a charger's bays, that have answered. Nearly any key counts as an answer, because a channel
 * that was never paired answers only a few.
 */
export function answeredNumbers(family: Family, values: RawValues): readonly number[] {
  const answered = new Set<number>()
  for (const key in values) {
    const [, number, name = ''] = /^(\d+) (\S+)/.exec(key) ?? []
    if (number !== undefined && !nonChannelKeys.has(name)) answered.add(Number(number))
  }
  return queriedNumbers(family, values).filter((number) => answered.has(number))
}

/** Keys that do not show that a channel exists: an acknowledgement, meters, and a value for each charging module. */
const nonChannelKeys = new Set(['METER_RATE', 'SAMPLE', 'BATT_MODULE_TYPE'])

/** Returns the model's number of channels; null if only the device's answers show it. */
export function countByModel({ name }: Family, model = ''): number | null {
  if (name === 'qlxd') return 1
  if (name === 'psm1000') return 2
  const size = /^(?:ULXD4|SLXD4|AD4)([DQ])?/.exec(model)
  return size === null ? null : size[1] === 'Q' ? 4 : size[1] === 'D' ? 2 : 1
}

/**
 * Returns the commands that query everything from a device of a known family. The identity is queried last: the device
 * answers in order, so its identity shows that it has answered all other queries.
 */
export function queryCommands(family: Family, values: RawValues): readonly string[] {
  const { deviceKeys, channelKeys } = family
  return [
    ...channelKeys.flatMap((key) => {
      const channels = key === 'ALL' ? commandChannels(family, values) : queriedNumbers(family, values)
      return channels.map((channel) => family.envelope(`GET ${channel} ${key}`))
    }),
    ...deviceKeys.map((key) => family.envelope(`GET ${key}`)),
  ]
}

/** Returns the commands that start metering at this interval; 0 switches metering off. */
export function meterCommands(family: Family, values: RawValues, ms: number): readonly string[] {
  if (family.meterMs === 0) return []
  const rate = (channel: number) =>
    family.name === 'uhfr'
      ? `METER ${channel} ALL ${ms === 0 ? 'STOP' : String(Math.round(ms / 30)).padStart(3, '0')}`
      : `SET ${channel} METER_RATE ${String(ms).padStart(5, '0')}`
  return commandChannels(family, values).map((channel) => family.envelope(rate(channel)))
}

/** Returns the channel numbers with which a command addresses all channels. */
function commandChannels(family: Family, values: RawValues): readonly number[] {
  return family.hasChannelZero ? [0] : queriedNumbers(family, values)
}

function queriedNumbers(family: Family, values: RawValues): readonly number[] {
  const count = countByModel(family, values.MODEL) ?? family.maxChannels
  return Array.from({ length: count }, (_, index) => index + 1)
}
