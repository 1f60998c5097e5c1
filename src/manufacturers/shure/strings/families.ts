/** The Shure families: the properties to query, metering, and detection of the family. */

import type { DeviceLevels } from '../../../domain/levels/level-sample.ts'
import type { RawValue } from './fields.ts'
import {
  type ReadSample,
  readAxientSample,
  readMxwNextSample,
  readMxwSample,
  readSlxdSample,
  readUhfrSample,
  readUlxdSample,
} from './samples.ts'

/** Unparsed values, keyed by `MODEL` for the device and `1 FREQUENCY` for a channel. */
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
  /**
   * Keys to query for each channel. A key may have a prefix that precedes the channel in a command: `SEC TX_STATUS`.
   */
  readonly channelKeys: readonly string[]
  /** The keys that channel 0, which stands for all channels, supports. */
  readonly channelZero: 'none' | 'ALL' | 'every key'
  /** Keys of the identity. They are queried last, so once they are reported, no more answers are expected. */
  readonly identityKeys: readonly string[]
  /** Maximum number of channels or bays of one device. */
  readonly maxChannels: number
  /** The interval of queries for everything, in case a change was not pushed. */
  readonly refreshMs: number
  /**
   * Keys that report the presence of a transmitter. Set if the device is silent without transmitters, and stops
   * metering a channel when its transmitter is switched off. They are queried every few seconds.
   */
  readonly presenceKeys: readonly string[]
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
  channelZero: 'ALL',
  identityKeys: ['DEVICE_ID', 'NET_SETTINGS SC'],
  maxChannels: 4,
  refreshMs: 30_000,
  presenceKeys: [],
  meterMs: 100,
  meterKey: 'SAMPLE',
  readSample: readUlxdSample,
}

const qlxd: Family = {
  ...ulxd,
  name: 'qlxd',
  model: 'QLXD4',
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'ENCRYPTION', 'MAC_ADDR'],
  channelZero: 'none',
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
  channelZero: 'none',
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
  channelZero: 'none',
  identityKeys: ['DEVICE_NAME'],
  maxChannels: 2,
  refreshMs: 30_000,
  presenceKeys: [],
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
  channelZero: 'none',
  identityKeys: [],
  maxChannels: 2,
  refreshMs: 30_000,
  presenceKeys: [],
  meterMs: 90,
  meterKey: 'SAMPLE',
  readSample: readUhfrSample,
}

const mxwTransmitterKeys = ['TX_STATUS', 'TX_TYPE', 'TX_DEVICE_ID', 'BATT_CHARGE', 'BATT_RUN_TIME', 'BATT_HEALTH']

/**
 * Microflex Wireless, an access point (MXWAPT). It has two microphones per channel. Its document has no command for the
 * model, the firmware version or the MAC address.
 */
const mxw: Family = {
  ...ulxd,
  name: 'mxw',
  model: 'MXWAPT',
  deviceKeys: ['DEVICE_ID'],
  channelKeys: [
    ...['TX_AVAILABLE', 'CHAN_NAME', 'AUDIO_GAIN', ...mxwTransmitterKeys],
    ...['TX_AVAILABLE', ...mxwTransmitterKeys].map((key) => `SEC ${key}`),
  ],
  channelZero: 'every key',
  identityKeys: ['DEVICE_ID'],
  maxChannels: 8,
  presenceKeys: ['TX_AVAILABLE', 'SEC TX_AVAILABLE'],
  readSample: readMxwSample,
}

/** The access points of Microflex Wireless neXt (MXWAPX, MXWAPXD2), which have one microphone per channel. */
const mxwNext: Family = {
  ...mxw,
  model: 'MXWAPX',
  deviceKeys: ['FW_VER', 'SERIAL_NUM', 'DEVICE_ID'],
  channelKeys: [
    ...['TX_AVAILABLE', 'CHAN_NAME', 'AUDIO_GAIN', 'BATT_CHARGE', 'BATT_RUN_TIME', 'BATT_HEALTH'],
    ...['TX_STATUS', 'TX_MODEL', 'TX_DEVICE_ID'].map((key) => `CH ${key}`),
  ],
  identityKeys: ['SERIAL_NUM', 'DEVICE_ID'],
  presenceKeys: ['TX_AVAILABLE'],
  readSample: readMxwNextSample,
}

/** A charger has bays instead of channels. */
const charger: Family = {
  ...ulxd,
  name: 'charger',
  model: 'SBC220',
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'STORAGE_MODE', 'NET_SETTINGS SC'],
  // Up to four linked chargers with two bays each answer at one address.
  maxChannels: 8,
  // Its answers show that it is still online.
  refreshMs: 3_000,
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
  [/^MXWAPX/, mxwNext],
  [/^MXWAPT/, mxw],
  [/^SB(?:C2[24]0|C441|C840|RC)/, charger],
]

/** A family sends all its levels at its metering interval. */
export function levelsOf({
  name,
  meterMs,
  presenceKeys,
}: Pick<Family, 'name' | 'meterMs' | 'presenceKeys'>): DeviceLevels {
  const sampled = meterMs === 0 ? null : ({ kind: 'sampled', intervalMs: meterMs } as const)
  return {
    rf: name === 'psm1000' ? null : sampled,
    audio: name === 'uhfr' ? null : sampled,
    needsTransmitter: presenceKeys.length > 0,
  }
}

export function levelsOfType(deviceType: string): DeviceLevels {
  const families = [ulxd, qlxd, slxd, axient, psm1000, uhfr, mxw]
  return levelsOf(families.find(({ name }) => name === deviceType) ?? charger)
}

/** Commands that identify the family, most informative first, with the time limit for an answer. */
export const probes: readonly { readonly commands: readonly string[]; readonly waitMs: number }[] = [
  { commands: ['< GET MODEL >'], waitMs: 700 },
  // QLX-D and older ULX-D do not support MODEL; of these two, only QLX-D supports MAC_ADDR.
  // Only MXW supports TX_AVAILABLE.
  { commands: ['< GET MAC_ADDR >', '< GET 1 ALL >', '< GET 1 TX_AVAILABLE >'], waitMs: 700 },
  // Not every PSM 1000 supports DEVICE_NAME; no other family supports AUDIO_IN_LVL.
  { commands: ['GET DEVICE_NAME', 'GET 1 AUDIO_IN_LVL'].map(psm1000.envelope), waitMs: 700 },
]

/** Returns null if the values are not sufficient. */
export function detectFamily(values: RawValues): Family | null {
  const { MODEL } = values
  if (MODEL !== undefined) return familyByModel.find(([pattern]) => pattern.test(MODEL))?.[1] ?? null
  if (values.MAC_ADDR !== undefined) return qlxd
  if (values['1 TX_AVAILABLE'] !== undefined) return mxw
  if (values['1 AUDIO_MUTE'] !== undefined || values['1 RF_INT_DET'] !== undefined) return ulxd
  return values.DEVICE_NAME === undefined && values['1 AUDIO_IN_LVL'] === undefined ? null : psm1000
}

/** Returns the value of a channel. The key does not contain the number of the channel. */
export type ChannelValues = (key: string) => RawValue

/**
 * Returns the values of one channel. They are selected once, because composing `1 FREQUENCY` and the like for each of
 * about sixty look-ups takes most of the time of a report.
 */
export function valuesOfChannel(values: RawValues, channel: number): ChannelValues {
  const prefix = `${channel} `
  const own = new Map<string, RawValue>()
  for (const key in values) if (key.startsWith(prefix)) own.set(key.slice(prefix.length), values[key])
  return (key) => own.get(key)
}

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
    const number = Number.parseInt(key, 10)
    if (!answered.has(number) && answerKey.test(key)) answered.add(number)
  }
  return queriedNumbers(family, values).filter((number) => answered.has(number))
}

/**
 * The keys that show the existence of a channel. These do not: an acknowledgement, meters, a value for each charging
 * module, and the audio inputs and outputs and charging bays of MXW neXt.
 */
const answerKey = /^\d+ (?!(?:METER_RATE|SAMPLE|BATT_MODULE_TYPE|(?:IN|OUT)PUT_CH_\w+|BAY)(?:\s|$))\S/

/** Returns the model's number of channels; null if only the device's answers show it. */
export function countByModel({ name }: Family, model = ''): number | null {
  if (name === 'qlxd') return 1
  if (name === 'psm1000') return 2
  if (name === 'mxw') return Number(/^MXWAP\D+([248])/.exec(model)?.[1]) || null
  const size = /^(?:ULXD4|SLXD4|AD4)([DQ])?/.exec(model)
  return size === null ? null : size[1] === 'Q' ? 4 : size[1] === 'D' ? 2 : 1
}

/**
 * Returns the commands that query everything from a device of a known family. The identity is queried last. The device
 * answers in order, so its identity shows that it has answered all other queries.
 */
export function queryCommands(family: Family, values: RawValues): readonly string[] {
  return [
    ...channelCommands(family, values, family.channelKeys),
    ...family.deviceKeys.map((key) => family.envelope(`GET ${key}`)),
  ]
}

/** Returns the commands that query the presence of transmitters. */
export function presenceCommands(family: Family, values: RawValues): readonly string[] {
  return channelCommands(family, values, family.presenceKeys)
}

/** Returns a text that changes when a transmitter appears or disappears. */
export function presenceOf(family: Family, values: RawValues): string {
  const numbers = family.presenceKeys.length === 0 ? [] : queriedNumbers(family, values)
  return numbers.flatMap((number) => family.presenceKeys.map((key) => values[`${number} ${key}`])).join(' ')
}

export function hasTransmitterKey({ presenceKeys }: Family, values: RawValues, channel: number): boolean {
  return presenceKeys.some((key) => values[`${channel} ${key}`] === 'YES')
}

/** Returns a query that every device of the family answers, which shows that it is still online. */
export function keepAliveCommand(family: Family, values: RawValues): string {
  return queryCommands(family, values).at(-1) ?? ''
}

/** An interval of 0 switches metering off. */
export function meterCommands(family: Family, values: RawValues, ms: number): readonly string[] {
  if (family.meterMs === 0) return []
  const keys = family.presenceKeys.includes('SEC TX_AVAILABLE') ? ['METER_RATE', 'SEC METER_RATE'] : ['METER_RATE']
  const rate = (channel: number) =>
    family.name === 'uhfr'
      ? [`METER ${channel} ALL ${ms === 0 ? 'STOP' : String(Math.round(ms / 30)).padStart(3, '0')}`]
      : keys.map((key) => `SET ${addressKey(key, channel)} ${String(ms).padStart(5, '0')}`)
  return commandChannels(family, values, 'ALL').flatMap(rate).map(family.envelope)
}

function channelCommands(family: Family, values: RawValues, keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) =>
    commandChannels(family, values, key).map((channel) => family.envelope(`GET ${addressKey(key, channel)}`)),
  )
}

/** `CHAN_NAME` -> `1 CHAN_NAME`; `SEC TX_STATUS` -> `SEC 1 TX_STATUS`. */
function addressKey(key: string, channel: number): string {
  const [, prefix, rest] = /^(SEC|CH) (.*)$/.exec(key) ?? []
  return prefix === undefined ? `${channel} ${key}` : `${prefix} ${channel} ${rest}`
}

/** Returns the channel numbers with which a command for this key addresses all channels. */
function commandChannels(family: Family, values: RawValues, key: string): readonly number[] {
  const { channelZero } = family
  return channelZero === 'every key' || channelZero === key ? [0] : queriedNumbers(family, values)
}

function queriedNumbers(family: Family, values: RawValues): readonly number[] {
  return Array.from({ length: highestNumber(family, values) }, (_, index) => index + 1)
}

/** True if the device may have this channel or bay. MXW neXt also numbers its audio inputs and outputs. */
export function isPossibleNumber(family: Family, values: RawValues, number: number): boolean {
  return number >= 1 && number <= highestNumber(family, values)
}

function highestNumber(family: Family, values: RawValues): number {
  return countByModel(family, values.MODEL) ?? family.maxChannels
}
