/** What tells Shure's families apart: what to ask them, how they meter, and how they are recognised. */

import { type ReadSample, readAxientSample, readSlxdSample, readUhfrSample, readUlxdSample } from './samples.ts'

/** What a device told, as it told it: `MODEL` of the device, `1 FREQUENCY` of a channel. */
export type Words = Readonly<Record<string, string>>

export interface Family {
  /** The word shown as device_type. */
  readonly name: string
  /** Where it does not tell. */
  readonly model: string
  /** A command in the family's envelope. */
  envelope(command: string): string
  /** What the device is asked for, once for all. */
  readonly deviceKeys: readonly string[]
  /** What each channel is asked for. */
  readonly channelKeys: readonly string[]
  /** Knows channel 0, which stands for all of them. */
  readonly hasChannelZero: boolean
  /** It is complete when it has told these, which it is asked for last. */
  readonly identityKeys: readonly string[]
  /** The most channels, or bays, that one device has. */
  readonly maxChannels: number
  /** So often it meters; 0: it never does, and tells what changes. */
  readonly meterMs: number
  /** What a channel that meters tells. */
  readonly meterKey: string
  /** Null where meters come as properties. */
  readonly readSample: ReadSample | null
}

const angles = (command: string) => `< ${command} >`

const ulxd: Family = {
  name: 'ulxd',
  model: 'ULXD4',
  envelope: angles,
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'ENCRYPTION', 'NET_SETTINGS SC'],
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
  // From firmware 2.2.11 on it hangs when whoever listens vanishes while it meters: the less it meters, the better.
  meterMs: 1000,
}

const slxd: Family = {
  ...ulxd,
  name: 'slxd',
  model: 'SLXD4',
  deviceKeys: ['DEVICE_ID', 'FW_VER'],
  // SLX-D+ refuses channel 0.
  hasChannelZero: false,
  identityKeys: ['DEVICE_ID'],
  readSample: readSlxdSample,
}

const slxdPlus: Family = {
  ...slxd,
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'NET_SETTINGS SC', 'ENCRYPTION_MODE'],
  identityKeys: ['DEVICE_ID', 'NET_SETTINGS SC'],
}

const axient: Family = {
  ...ulxd,
  name: 'ad',
  model: 'AD4D',
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'ENCRYPTION_MODE', 'NET_SETTINGS SC'],
  channelKeys: ['ALL', 'SLOT_STATUS 0'],
  readSample: readAxientSample,
}

/** Axient Digital or ULX-D transmitters, on as many channels as it has licences for. */
const anx4: Family = {
  ...axient,
  model: 'ANX4',
  maxChannels: 24,
}

/** An in-ear rack: it sends, and hears nothing. */
const psm1000: Family = {
  name: 'psm1000',
  model: 'P10T',
  envelope: (command) => `< ${command} >\r\n`,
  deviceKeys: ['DEVICE_NAME'],
  channelKeys: ['CHAN_NAME', 'FREQUENCY', 'AUDIO_IN_LVL', 'RF_TX_LVL', 'RF_MUTE'],
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

/** Bays stand where receivers have channels. */
const charger: Family = {
  ...ulxd,
  name: 'charger',
  model: 'SBC220',
  deviceKeys: ['DEVICE_ID', 'FW_VER', 'STORAGE_MODE', 'NET_SETTINGS SC'],
  // Several chargers may be linked: up to four with two bays each answer at one address.
  maxChannels: 8,
  meterMs: 0,
  meterKey: 'BATT_DETECTED',
  readSample: null,
}

const models: readonly (readonly [RegExp, Family])[] = [
  [/^ULXD4/, ulxd],
  [/^SLXD.*\+/, slxdPlus],
  [/^SLXD/, slxd],
  [/^AD4/, axient],
  [/^ANX4/, anx4],
  [/^P10T/, psm1000],
  [/^SB(?:C2[24]0|C441|C840|RC)/, charger],
]

/** Questions in the order that finds out most with least, each with the time it is given. */
export const probes: readonly { readonly commands: readonly string[]; readonly waitMs: number }[] = [
  { commands: ['< GET MODEL >'], waitMs: 700 },
  // QLX-D and older ULX-D do not know MODEL; only QLX-D knows MAC_ADDR.
  { commands: ['< GET MAC_ADDR >', '< GET 1 ALL >'], waitMs: 700 },
  // Not every PSM 1000 knows DEVICE_NAME; no other family knows AUDIO_IN_LVL.
  { commands: ['GET DEVICE_NAME', 'GET 1 AUDIO_IN_LVL'].map(psm1000.envelope), waitMs: 700 },
]

/** Which family speaks; null while nobody can tell. Both SLX-D and Axient tell a model: its text decides. */
export function recognise(words: Words): Family | null {
  const { MODEL } = words
  if (MODEL !== undefined) return models.find(([pattern]) => pattern.test(MODEL))?.[1] ?? null
  if (words.MAC_ADDR !== undefined) return qlxd
  if (words['1 AUDIO_MUTE'] !== undefined || words['1 RF_INT_DET'] !== undefined) return ulxd
  return words.DEVICE_NAME === undefined && words['1 AUDIO_IN_LVL'] === undefined ? null : psm1000
}

/** Packs in bays, and no channels. */
export function isCharger({ name }: Family): boolean {
  return name === charger.name
}

export function channelsOf(family: Family, words: Words): readonly number[] {
  return isCharger(family) ? [] : numbersOf(family, words)
}

/** Of its channels, or a charger's bays: those that have answered. One that was never paired answers very little. */
export function numbersOf(family: Family, words: Words): readonly number[] {
  const answered = new Set<number>()
  for (const key in words) {
    const [, number, name = ''] = /^(\d+) (\S+)/.exec(key) ?? []
    if (number !== undefined && !aboutElse.has(name)) answered.add(Number(number))
  }
  return askedNumbers(family, words).filter((number) => answered.has(number))
}

/** The acknowledgement of a setting, meters, and a value of a charging module, which is numbered otherwise than the bays. */
const aboutElse = new Set(['METER_RATE', 'SAMPLE', 'BATT_MODULE_TYPE'])

/** How many channels the model has; null where only its answers show it. */
export function countByModel({ name }: Family, model = ''): number | null {
  if (name === 'qlxd') return 1
  if (name === 'psm1000') return 2
  const size = /^(?:ULXD4|SLXD4|AD4)([DQ])?/.exec(model)
  return size === null ? null : size[1] === 'Q' ? 4 : size[1] === 'D' ? 2 : 1
}

/** Everything the device is asked once it is known what it is. It answers in this order, so its identity comes last. */
export function questions(family: Family, words: Words): readonly string[] {
  const { deviceKeys, channelKeys } = family
  return [
    ...channelKeys.flatMap((key) => {
      const channels = key === 'ALL' ? toChannels(family, words) : askedNumbers(family, words)
      return channels.map((channel) => family.envelope(`GET ${channel} ${key}`))
    }),
    ...deviceKeys.map((key) => family.envelope(`GET ${key}`)),
  ]
}

/** `ms` 0 switches metering off. */
export function meterCommands(family: Family, words: Words, ms: number): readonly string[] {
  if (family.meterMs === 0) return []
  const rate = (channel: number) =>
    family.name === 'uhfr'
      ? `METER ${channel} ALL ${ms === 0 ? 'STOP' : String(Math.round(ms / 30)).padStart(3, '0')}`
      : `SET ${channel} METER_RATE ${String(ms).padStart(5, '0')}`
  return toChannels(family, words).map((channel) => family.envelope(rate(channel)))
}

/** Whom a command for all channels is for. */
function toChannels(family: Family, words: Words): readonly number[] {
  return family.hasChannelZero ? [0] : askedNumbers(family, words)
}

function askedNumbers(family: Family, words: Words): readonly number[] {
  const count = countByModel(family, words.MODEL) ?? family.maxChannels
  return Array.from({ length: count }, (_, at) => at + 1)
}
