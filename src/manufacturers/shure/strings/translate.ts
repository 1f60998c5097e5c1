/** What a device told in command strings -> the common format. Pure. */

import type { ChannelDetails, Encryption, TransmitterDetails } from '../../../model/details.ts'
import type { ChannelReading, Observation, TransmitterReading } from '../../../model/receiver.ts'
import { maxNameChars, readMac, readText, told } from '../../../upstream/fields.ts'
import { readPacks } from './bays.ts'
import { channelsOf, type Family, isCharger, type Words } from './families.ts'
import { readEither, readKhz, readNumber, readPaddedIp, readShifted, type Word } from './words.ts'

export interface StringsDevice {
  readonly id: string
  readonly family: Family
  /** Null where it is not the device's own: behind a forwarded port for instance. */
  readonly ip: string | null
  /** What people call it. */
  readonly called: string | null
  readonly words: Words
}

export const idPrefix = 'strings:'

/** Devices are told apart by MAC, which not all families tell; the others by where they are. */
export function idOf(words: Words, host: string): string {
  return `${idPrefix}${macOf(words) ?? host}`
}

export function toObservation(device: StringsDevice): Observation {
  const { family, words, ip, called } = device
  const [mode, ownIp, subnet, gateway] = (words['NET_SETTINGS SC'] ?? '').split(/\s+/)
  const channels = channelsOf(family, words)
  const model = words.MODEL ?? (family.name === 'uhfr' && channels.length > 1 ? 'UR4D' : family.model)
  const name = readText(words.DEVICE_ID ?? words.DEVICE_NAME, maxNameChars) ?? called ?? model
  return told({
    id: device.id,
    kind: 'receiver' as const,
    name,
    model_name: readText(model),
    device_type: family.name,
    online: true,
    mac_address: macOf(words) ?? undefined,
    ip: readPaddedIp(ownIp) ?? ip ?? undefined,
    subnet_mask: readPaddedIp(subnet),
    gateway: readPaddedIp(gateway),
    network_mode: mode === 'AUTO' ? 'auto' : mode === 'MANUAL' ? 'manual' : undefined,
    firmware_version: readText(words.FW_VER) ?? undefined,
    channels: channels.map((channel) => toChannelReading(family, words, channel)),
    ...(isCharger(family) && { units: readPacks(family, words, { id: device.id, name }) }),
    metadata: { command_strings: words },
  })
}

/** Everything the device has told of a channel. */
export function toChannelReading(family: Family, words: Words, channel: number): ChannelReading {
  const word = (key: string): Word => words[`${channel} ${key}`]
  const { details: metered, ...levels } = toLevels(family, words, channel)
  const transmitter = 'transmitter' in levels ? levels.transmitter : toTransmitter(family, words, channel)
  const details: ChannelDetails = told({
    ...metered,
    muted: readEither(word('AUDIO_MUTE'), 'ON', 'OFF'),
    interference:
      readEither(word('INTERFERENCE_STATUS'), 'DETECTED', 'NONE') ?? readEither(word('RF_INT_DET'), 'CRITICAL', 'NONE'),
    encryption: readEncryption(words, word),
    gain_db: readShifted(word('AUDIO_GAIN'), 18, 255) ?? readNumber(word('AUDIO_IN_LVL'), 1),
  })
  return told({
    ...levels,
    name: readText(readName(family, word('CHAN_NAME')), maxNameChars),
    frequency: readKhz(word('FREQUENCY')),
    transmitter,
    ...(Object.keys(details).length > 0 && { details }),
  })
}

/** What is metered of a channel, and nothing else. */
export function toLevels(family: Family, words: Words, channel: number): ChannelReading {
  const sample = words[`${channel} SAMPLE`]
  if (family.readSample !== null) {
    const levels = sample === undefined ? null : family.readSample(sample.split(/\s+/))
    // Whether UHF-R hears a transmitter is known by its meters alone.
    return { channel, ...levels, ...(family.name === 'uhfr' && { transmitter: toUhfrTransmitter(words, channel) }) }
  }
  const [left, right] = ['L', 'R'].map((side) => toDbfs(words[`${channel} AUDIO_IN_LVL_${side}`]))
  const audio_level = left === undefined ? right : right === undefined ? left : louder(left, right)
  return audio_level === undefined ? { channel } : { channel, audio_level, details: { audio_rms: audio_level } }
}

/** PSM 1000 meters an amplitude of which 2^23 is taken for full scale: an estimate. */
function toDbfs(word: Word): number | null | undefined {
  const amplitude = readNumber(word, 2 ** 24)
  if (typeof amplitude !== 'number') return amplitude
  return Math.max(-138, Math.min(0, Math.round(20 * Math.log10(Math.max(1, amplitude) / 2 ** 23))))
}

function louder(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b)
}

/** Undefined: nobody has said whether there is one; null: there is none. */
function toTransmitter(family: Family, words: Words, channel: number): TransmitterReading | null | undefined {
  if (family.name !== 'psm1000') return toDigitalTransmitter(family, words, channel)
  const word = (key: string): Word => words[`${channel} ${key}`]
  const muted = readEither(word('RF_MUTE'), '1', '0')
  // The rack itself sends; of the packs that listen nobody hears.
  return { details: told({ muted, power_mw: readNumber(word('RF_TX_LVL'), 1000) }) }
}

function toDigitalTransmitter(family: Family, words: Words, channel: number): TransmitterReading | null | undefined {
  const word = (key: string): Word => words[`${channel} ${key}`]
  const model = word('TX_MODEL') ?? word('TX_TYPE')
  if (model === undefined) return undefined
  if (/^UNK/.test(model)) return null
  const isQlxd = family.name === 'qlxd'
  const percent = readNumber(word('TX_BATT_CHARGE_PERCENT') ?? word('BATT_CHARGE'), 101)
  const bars = readNumber(word('TX_BATT_BARS') ?? word('BATT_BARS'), 6)
  const details: TransmitterDetails = told({
    model: readText(model),
    muted: readTransmitterMute(word),
    // Older firmware tells the ULX-D offset as it is, Axient adds 12.
    gain_db: readShifted(word('TX_OFFSET'), family.name === 'ad' ? 12 : 0, 255),
    power_mw: readPower(word, isQlxd),
    battery_bars: bars,
    battery_minutes: readNumber(word('TX_BATT_MINS') ?? word('BATT_RUN_TIME'), isQlxd ? 65_532 : 65_533),
    battery_type: readBatteryType(word('TX_BATT_TYPE') ?? word('BATT_TYPE')),
    battery_health: readNumber(word('TX_BATT_HEALTH_PERCENT') ?? word('BATT_HEALTH'), 101),
    battery_cycles: readNumber(word('TX_BATT_CYCLE_COUNT') ?? word('BATT_CYCLE'), isQlxd ? 65_532 : 65_535),
    battery_temperature_c: readShifted(word('TX_BATT_TEMP_C') ?? word('BATT_TEMP_C'), 40, isQlxd ? 252 : 255),
    ...isEstimate(percent, bars),
  })
  return told({
    name: readText(word('TX_DEVICE_ID'), maxNameChars),
    upstream_slot: activeSlot(words, channel),
    battery: percent ?? fromBars(bars) ?? (percent === undefined && bars === undefined ? undefined : null),
    details,
  })
}

/** It does not say whether it hears one: a battery that is told, or RF at an antenna in use, has to be one's. */
function toUhfrTransmitter(words: Words, channel: number): TransmitterReading | null | undefined {
  const [antennas = 'XX', rf = '100', , metered] = (words[`${channel} SAMPLE`] ?? '').split(/\s+/)
  const word = metered ?? words[`${channel} TX_BAT`]
  if (word === undefined) return undefined
  const bars = readNumber(word, 6)
  if (typeof bars !== 'number' && (antennas === 'XX' || Number(rf) >= 100)) return null
  return { battery: fromBars(bars) ?? null, details: { battery_bars: bars ?? null, ...isEstimate(undefined, bars) } }
}

/** Alkaline cells tell bars and no charge. */
function isEstimate(percent: number | null | undefined, bars: number | null | undefined) {
  return bars === undefined ? {} : { battery_is_estimate: typeof percent !== 'number' && bars !== null }
}

function fromBars(bars: number | null | undefined): number | undefined {
  return typeof bars === 'number' ? bars * 20 : undefined
}

/** On ULX-D and QLX-D `ON` means muted; on Axient `ON` means that it is live. */
function readTransmitterMute(word: (key: string) => Word): boolean | null | undefined {
  return readEither(word('TX_MUTE_STATUS'), 'ON', 'OFF') ?? readEither(word('TX_MUTE_MODE_STATUS'), 'MUTE', 'ON')
}

function readPower(word: (key: string) => Word, isQlxd: boolean): number | null | undefined {
  const milliwatts = readNumber(word('TX_POWER_LEVEL'), 255)
  const step = word('TX_RF_PWR')
  if (milliwatts !== undefined || step === undefined) return milliwatts
  const steps: Readonly<Record<string, number>> = { LOW: 1, NORMAL: 10, HIGH: isQlxd ? 10 : 20 }
  return steps[step] ?? null
}

const batteryTypes: Readonly<Record<string, string>> = {
  LION: 'lithium-ion pack',
  ALKA: 'alkaline cells',
  NIMH: 'NiMH cells',
  LITH: 'lithium cells',
}

function readBatteryType(word: Word): string | null | undefined {
  return word === undefined ? undefined : (batteryTypes[word] ?? null)
}

/** The slot of the transmitter that is heard, where the receiver keeps several linked. */
function activeSlot(words: Words, channel: number): number | undefined {
  for (let slot = 1; slot <= 8; slot += 1) if (words[`${channel} SLOT_STATUS ${slot}`] === 'LINKED.ACTIVE') return slot
  return undefined
}

/** Switched on for the whole device, right or wrong on each channel. */
function readEncryption(words: Words, word: (key: string) => Word): Encryption | null | undefined {
  const mode = words.ENCRYPTION_MODE ?? words.ENCRYPTION
  if (word('ENCRYPTION_STATUS') === 'ERROR' || word('ENCRYPTION_WARNING') === 'ON') return 'error'
  if (mode === undefined) return undefined
  if (mode === 'OFF') return 'off'
  return ['ON', 'AUTO', 'MANUAL'].includes(mode) ? 'on' : null
}

function readName({ name }: Family, word: Word): Word {
  return name === 'uhfr' ? word?.replaceAll('_', ' ') : word
}

function macOf(words: Words): string | null {
  const [, , , , mac] = (words['NET_SETTINGS SC'] ?? '').split(/\s+/)
  return readMac(mac ?? words.MAC_ADDR) ?? null
}
