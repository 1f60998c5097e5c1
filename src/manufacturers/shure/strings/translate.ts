/** What a device told in command strings -> the common format. Pure. */

import type { ChannelDetails, Encryption, TransmitterDetails } from '../../../model/details.ts'
import type { ChannelReading, DeviceReport, TransmitterReading } from '../../../model/receiver.ts'
import { maxNameChars, readMac, readText, withoutUndefined } from '../../../upstream/fields.ts'
import { readPacks } from './bays.ts'
import { channelsOf, type Family, isCharger, type Words } from './families.ts'
import { lettersOf } from './samples.ts'
import {
  readByte,
  readEither,
  readInteger,
  readKhz,
  readPaddedIp,
  readShifted,
  readTwoBytes,
  type Word,
} from './words.ts'

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

export function toObservation(device: StringsDevice): DeviceReport {
  const { family, words, ip, called } = device
  const [mode, ownIp, subnet, gateway] = (words['NET_SETTINGS SC'] ?? '').split(/\s+/)
  const channels = channelsOf(family, words)
  const model = words.MODEL ?? (family.name === 'uhfr' && channels.length > 1 ? 'UR4D' : family.model)
  const name = readText(words.DEVICE_ID ?? words.DEVICE_NAME, maxNameChars) ?? called ?? model
  return withoutUndefined({
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
    ...readFirmware(words.FW_VER),
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
  const details: ChannelDetails = withoutUndefined({
    ...metered,
    muted: readEither(word('AUDIO_MUTE'), 'ON', 'OFF'),
    ...(family.name === 'slxd' && { antennas: readAntennas(word('ANTENNA_STATUS')) }),
    interference: readInterference(word),
    second_frequency: readSecondFrequency(word),
    encryption: readEncryption(words, word),
    gain_db:
      family.name === 'psm1000' ? readInteger(word('AUDIO_IN_LVL'), -128, 0) : readShifted(word('AUDIO_GAIN'), 18),
  })
  return withoutUndefined({
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
  const amplitude = readInteger(word, 0, 2 ** 24 - 1)
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
  return { details: withoutUndefined({ muted, power_mw: readByte(word('RF_TX_LVL')) }) }
}

function toDigitalTransmitter(family: Family, words: Words, channel: number): TransmitterReading | null | undefined {
  const word = (key: string): Word => words[`${channel} ${key}`]
  const model = word('TX_MODEL') ?? word('TX_TYPE')
  if (model === undefined) return undefined
  if (/^UNK/.test(model)) return null
  const percent = readByte(word('TX_BATT_CHARGE_PERCENT') ?? word('BATT_CHARGE'), 100)
  const bars = readByte(word('TX_BATT_BARS') ?? word('BATT_BARS'), 5)
  const details: TransmitterDetails = withoutUndefined({
    model: readText(model),
    muted: readTransmitterMute(word),
    // Older firmware tells the ULX-D offset as it is, Axient adds 12.
    gain_db: readShifted(word('TX_OFFSET'), family.name === 'ad' ? 12 : 0),
    power_mw: readPower(word, family.name === 'qlxd'),
    battery_bars: bars,
    battery_minutes: readTwoBytes(word('TX_BATT_MINS') ?? word('BATT_RUN_TIME')),
    battery_type: readBatteryType(word('TX_BATT_TYPE') ?? word('BATT_TYPE')),
    battery_health: readByte(word('TX_BATT_HEALTH_PERCENT') ?? word('BATT_HEALTH'), 100),
    battery_cycles: readTwoBytes(word('TX_BATT_CYCLE_COUNT') ?? word('BATT_CYCLE')),
    battery_temperature_c: readShifted(word('TX_BATT_TEMP_C') ?? word('BATT_TEMP_C'), 40),
    ...isEstimate(percent, bars),
  })
  return withoutUndefined({
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
  const bars = readByte(word, 5)
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
  const mode = word('TX_MUTE_MODE_STATUS')
  return mode === undefined ? readEither(word('TX_MUTE_STATUS'), 'ON', 'OFF') : readEither(mode, 'MUTE', 'ON')
}

function readPower(word: (key: string) => Word, isQlxd: boolean): number | null | undefined {
  const milliwatts = readByte(word('TX_POWER_LEVEL'))
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
  const isActive = (slot: number) =>
    words[`${channel} SLOT_STATUS ${slot}`] === 'LINKED.ACTIVE' || words[`${channel} LINK_STATUS ${slot}`] === 'online'
  return [1, 2, 3, 4, 5, 6, 7, 8].find(isActive)
}

/** Only SLX-D+ reports it as a property; the letters of Axient Digital are colours. */
function readAntennas(word: Word): string | null | undefined {
  return word === undefined ? undefined : lettersOf(word)
}

/** On either carrier of a channel with frequency diversity. */
function readInterference(word: (key: string) => Word): boolean | null | undefined {
  const carriers = [
    readEither(word('INTERFERENCE_STATUS'), 'DETECTED', 'NONE'),
    hasSecondCarrier(word) ? readEither(word('INTERFERENCE_STATUS2'), 'DETECTED', 'NONE') : undefined,
    readEither(word('RF_INT_DET'), 'CRITICAL', 'NONE'),
  ]
  return carriers.includes(true) || carriers.find((one) => one !== undefined)
}

function readSecondFrequency(word: (key: string) => Word): string | null | undefined {
  const frequency = readKhz(word('FREQUENCY2'))
  return frequency === undefined || hasSecondCarrier(word) ? frequency : null
}

/** FD-C sends on two frequencies, FD-S from two transmitters on one. */
function hasSecondCarrier(word: (key: string) => Word): boolean {
  return (word('FD_MODE') ?? 'FD-C') === 'FD-C'
}

/** An asterisk after the version marks a failed self-test. */
function readFirmware(word: Word): Pick<DeviceReport, 'firmware_version' | 'details'> {
  if (word === undefined) return {}
  const hasFailed = word.endsWith('*')
  const version = readText(hasFailed ? word.slice(0, -1) : word)
  return { ...(version && { firmware_version: version }), details: { fault: hasFailed ? 'self_test_failed' : null } }
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
