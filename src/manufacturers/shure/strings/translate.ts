/** Converts the values reported in command strings to the common format. Pure. */

import type {
  AudioMode,
  ChannelDetails,
  Encryption,
  FrequencyDiversity,
  InputLevel,
  TransmissionMode,
  TransmitterDetails,
  TransmitterLock,
} from '../../../domain/equipment/details.ts'
import type { ChannelReading, DeviceReport, TransmitterReading } from '../../../domain/equipment/receiver.ts'
import { maxNameChars, readMac, readText, withoutUndefined } from '../../../upstream/fields.ts'
import { readPacks } from './bays.ts'
import { type ChannelValues, channelsOf, type Family, isCharger, type RawValues, valuesOfChannel } from './families.ts'
import { fields } from './fields.ts'
import { Fields } from './message-fields.ts'
import { mxwSample, readMxwMicrophone, readMxwSlots } from './mxw.ts'
import { activeAntennas, overloadKey, type Sample } from './samples.ts'
import { onAirSlot, readSlots } from './slots.ts'
import {
  type RawValue,
  readBatteryType,
  readByte,
  readEither,
  readInteger,
  readKhz,
  readPaddedIp,
  readShifted,
} from './values.ts'

export interface StringsDevice {
  readonly id: string
  readonly family: Family
  /** Null if the address is not the device's own, for instance with port forwarding. */
  readonly ip: string | null
  /** The name in the configuration. */
  readonly configuredName: string | null
  readonly values: RawValues
}

export const idPrefix = 'strings:'

/** Returns an id based on the MAC address or the serial number, or on the host for families that report neither. */
export function idOf(values: RawValues, host: string): string {
  return `${idPrefix}${macOf(values) ?? readText(values.SERIAL_NUM) ?? host}`
}

export function toDeviceReport(device: StringsDevice): DeviceReport {
  const { family, values, ip, configuredName } = device
  const [mode, deviceIp, subnet, gateway] = (values['NET_SETTINGS SC'] ?? '').split(/\s+/)
  const channels = channelsOf(family, values)
  const model = values.MODEL ?? guessModel(family, channels.length)
  const name = readText(values.DEVICE_ID ?? values.DEVICE_NAME, maxNameChars) ?? configuredName ?? model
  return withoutUndefined({
    id: device.id,
    kind: 'receiver' as const,
    name,
    model_name: readText(model),
    serial_number: readText(values.SERIAL_NUM),
    device_type: family.name,
    online: true,
    mac_address: macOf(values) ?? undefined,
    ip: readPaddedIp(deviceIp) ?? ip ?? undefined,
    subnet_mask: readPaddedIp(subnet),
    gateway: readPaddedIp(gateway),
    network_mode: mode === 'AUTO' ? 'auto' : mode === 'MANUAL' ? 'manual' : undefined,
    ...readFirmware(values.FW_VER),
    channels: channels.map((channel) => toChannelReading(family, values, channel)),
    ...(isCharger(family) && { units: readPacks(family, values, { id: device.id, name }) }),
    metadata: { command_strings: values },
  })
}

/** Returns the model of a device that does not report it: the number of channels is part of some names. */
function guessModel({ name, model }: Family, channels: number): string {
  if (name === 'uhfr' && channels > 1) return 'UR4D'
  return name === 'mxw' && channels > 0 ? `${model}${channels}` : model
}

/**
 * Converts everything that is reported about a channel. Objects are spread after the other fields, because V8 creates a
 * hidden class for every object to which fields are added after a spread.
 */
export function toChannelReading(family: Family, values: RawValues, channel: number): ChannelReading {
  const get = valuesOfChannel(values, channel)
  const sample = readSampleOf(family, get)
  const { details: metered, ...levels } = readLevels(family, channel, { get, sample })
  const transmitter = 'transmitter' in levels ? levels.transmitter : toTransmitter(family, get)
  const slots = family.name === 'mxw' ? readMxwSlots(get) : readSlots(get)
  const details: ChannelDetails = withoutUndefined({
    muted: readEither(get('AUDIO_MUTE'), 'ON', 'OFF'),
    interference: readInterference(get),
    second_frequency: readSecondFrequency(get),
    frequency_diversity: readWord(get('FD_MODE'), frequencyDiversities),
    group_channel: readGroupChannel(get('GROUP_CHANNEL') ?? get('GROUP_CHAN')),
    overload: readEither(get(overloadKey), 'ON', 'OFF') ?? sample?.isOverloaded,
    unregistered_transmitter: readEither(get('UNREGISTERED_TX_STATUS'), 'ERROR', 'OK'),
    slots,
    input_level: readWord(get('AUDIO_IN_LINE_LVL'), inputLevels),
    audio_mode: readWord(get('AUDIO_TX_MODE'), audioModes),
    band: readText(values.RF_BAND),
    transmission_mode: readTransmissionMode(values),
    encryption: readEncryption(values, get),
    gain_db: readGain(family, get),
    ...metered,
    ...(family.name === 'slxd' && { antennas: readAntennas(get('ANTENNA_STATUS')) }),
  })
  return withoutUndefined({
    name: readText(readName(family, get('CHAN_NAME')), maxNameChars),
    frequency: readKhz(get('FREQUENCY')),
    ...levels,
    transmitter: transmitter && withoutUndefined({ upstream_slot: onAirSlot(slots), ...transmitter }),
    ...(Object.keys(details).length > 0 && { details }),
  })
}

function readGain({ name }: Family, get: ChannelValues): number | null | undefined {
  if (name === 'psm1000') return readInteger(get('AUDIO_IN_LVL'), -128, 0)
  return (name === 'mxw' ? fields.gainOfMxw : fields.gain).read(get('AUDIO_GAIN'))
}

function readSampleOf({ name, readSample }: Family, get: ChannelValues): Sample | null {
  const sample = name === 'mxw' ? mxwSample(get) : get('SAMPLE')
  return sample === undefined || readSample === null ? null : readSample(Fields.of(sample), 0)
}

/** Converts only the meter values of a channel. */
export function toLevels(family: Family, values: RawValues, channel: number): ChannelReading {
  const get = valuesOfChannel(values, channel)
  return readLevels(family, channel, { get, sample: readSampleOf(family, get) })
}

function readLevels(
  { name, readSample }: Family,
  channel: number,
  { get, sample }: { get: ChannelValues; sample: Sample | null },
): ChannelReading {
  if (readSample !== null) {
    const { isOverloaded: _, ...levels } = sample ?? {}
    // On UHF-R, only the meters show whether a transmitter is present on the channel.
    return { channel, ...levels, ...(name === 'uhfr' && { transmitter: toUhfrTransmitter(get) }) }
  }
  const [left, right] = ['L', 'R'].map((side) => toDbfs(get(`AUDIO_IN_LVL_${side}`)))
  const audio_level = left === undefined ? right : right === undefined ? left : louder(left, right)
  return audio_level === undefined ? { channel } : { channel, audio_level, details: { audio_rms: audio_level } }
}

/** Converts the amplitude that a PSM 1000 reports to dBFS. Assumes that full scale is 2^23. */
function toDbfs(raw: RawValue): number | null | undefined {
  const amplitude = readInteger(raw, 0, 2 ** 24 - 1)
  if (typeof amplitude !== 'number') return amplitude
  return Math.max(-138, Math.min(0, Math.round(20 * Math.log10(Math.max(1, amplitude) / 2 ** 23))))
}

function louder(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b)
}

/** Returns null if no transmitter is present on the channel, and undefined if that is unknown. */
function toTransmitter(family: Family, get: ChannelValues): TransmitterReading | null | undefined {
  if (family.name === 'mxw') return readMxwMicrophone(get)
  if (family.name !== 'psm1000') return toDigitalTransmitter(family, get)
  const muted = readEither(get('RF_MUTE'), '1', '0')
  // The rack unit is the transmitter; its bodypack receivers report nothing.
  return { details: withoutUndefined({ muted, power_mw: readByte(get('RF_TX_LVL')) }) }
}

function toDigitalTransmitter(family: Family, get: ChannelValues): TransmitterReading | null | undefined {
  const model = get('TX_MODEL') ?? get('TX_TYPE')
  if (model === undefined) return undefined
  if (/^UNK/.test(model)) return null
  const percent = fields.charge.read(get('TX_BATT_CHARGE_PERCENT') ?? get('BATT_CHARGE'))
  const bars = fields.bars.read(get('TX_BATT_BARS') ?? get('BATT_BARS'))
  const details: TransmitterDetails = withoutUndefined({
    model: readText(model),
    muted: readTransmitterMute(get),
    // Axient reports the offset plus 12; older ULX-D firmware reports the offset itself.
    gain_db: readShifted(get('TX_OFFSET'), family.name === 'ad' ? 12 : 0),
    power_mw: readPower(get, family.name === 'qlxd'),
    lock: readLock(get),
    talk_switch: readEither(get('TX_TALK_SWITCH'), 'ON', 'OFF'),
    battery_bars: bars,
    battery_minutes: fields.minutes.read(get('TX_BATT_MINS') ?? get('BATT_RUN_TIME')),
    battery_type: readBatteryType(get('TX_BATT_TYPE') ?? get('BATT_TYPE')),
    battery_health: fields.health.read(get('TX_BATT_HEALTH_PERCENT') ?? get('BATT_HEALTH')),
    battery_cycles: fields.cycles.read(get('TX_BATT_CYCLE_COUNT') ?? get('BATT_CYCLE')),
    battery_temperature_c: fields.temperature.read(get('TX_BATT_TEMP_C') ?? get('BATT_TEMP_C')),
    ...estimateFlag(percent, bars),
  })
  return withoutUndefined({
    name: readText(get('TX_DEVICE_ID'), maxNameChars),
    battery: percent ?? fromBars(bars) ?? (percent === undefined && bars === undefined ? undefined : null),
    details,
  })
}

/**
 * Converts the transmitter of a UHF-R channel. UHF-R does not report whether one is present, but a battery level, or RF
 * at an active antenna, implies it.
 */
function toUhfrTransmitter(get: ChannelValues): TransmitterReading | null | undefined {
  const [antennas = 'XX', rf = '100', , metered] = (get('SAMPLE') ?? '').split(/\s+/)
  const raw = metered ?? get('TX_BAT')
  if (raw === undefined) return undefined
  const bars = readByte(raw, 5)
  if (typeof bars !== 'number' && (antennas === 'XX' || Number(rf) >= 100)) return null
  return { battery: fromBars(bars) ?? null, details: { battery_bars: bars ?? null, ...estimateFlag(undefined, bars) } }
}

/** With alkaline cells, only bars are reported, so the percentage is an estimate. */
function estimateFlag(percent: number | null | undefined, bars: number | null | undefined) {
  return bars === undefined ? {} : { battery_is_estimate: typeof percent !== 'number' && bars !== null }
}

function fromBars(bars: number | null | undefined): number | undefined {
  return typeof bars === 'number' ? bars * 20 : undefined
}

/** Reads the transmitter's mute. On ULX-D and QLX-D, `ON` means muted; on Axient, `ON` means not muted. */
function readTransmitterMute(get: ChannelValues): boolean | null | undefined {
  const mode = get('TX_MUTE_MODE_STATUS')
  return mode === undefined ? readEither(get('TX_MUTE_STATUS'), 'ON', 'OFF') : readEither(mode, 'MUTE', 'ON')
}

function readPower(get: ChannelValues, isQlxd: boolean): number | null | undefined {
  const milliwatts = fields.power.read(get('TX_POWER_LEVEL'))
  const step = get('TX_RF_PWR')
  if (milliwatts !== undefined || step === undefined) return milliwatts
  const steps: Readonly<Record<string, number>> = { LOW: 1, NORMAL: 10, HIGH: isQlxd ? 10 : 20 }
  return steps[step] ?? null
}

/** Only SLX-D+ reports the antennas as a property. The letters that Axient Digital reports are LED colors. */
function readAntennas(raw: RawValue): string | null | undefined {
  return raw === undefined ? undefined : activeAntennas(raw)
}

/** Reads whether there is interference; with frequency diversity, on either carrier. */
function readInterference(get: ChannelValues): boolean | null | undefined {
  const carriers = [
    readEither(get('INTERFERENCE_STATUS'), 'DETECTED', 'NONE'),
    hasSecondCarrier(get) ? readEither(get('INTERFERENCE_STATUS2'), 'DETECTED', 'NONE') : undefined,
    readEither(get('RF_INT_DET'), 'CRITICAL', 'NONE'),
  ]
  return carriers.includes(true) || carriers.find((carrier) => carrier !== undefined)
}

function readSecondFrequency(get: ChannelValues): string | null | undefined {
  const frequency = readKhz(get('FREQUENCY2'))
  return frequency === undefined || hasSecondCarrier(get) ? frequency : null
}

/**
 * Whether the channel may have a second frequency. FD-C uses two frequencies; FD-S uses two transmitters on one. If the
 * mode was not reported, FD-C is assumed.
 */
function hasSecondCarrier(get: ChannelValues): boolean {
  return (get('FD_MODE') ?? 'FD-C') === 'FD-C'
}

/** Reads the firmware version. An asterisk after it means that the self-test failed. */
function readFirmware(raw: RawValue): Pick<DeviceReport, 'firmware_version' | 'details'> {
  if (raw === undefined) return {}
  const hasFailed = raw.endsWith('*')
  const version = readText(hasFailed ? raw.slice(0, -1) : raw)
  return { ...(version && { firmware_version: version }), details: { fault: hasFailed ? 'self_test_failed' : null } }
}

/** Reads a channel's encryption. It is enabled for the whole device, but errors are reported for each channel. */
function readEncryption(values: RawValues, get: ChannelValues): Encryption | null | undefined {
  const mode = values.ENCRYPTION_MODE ?? values.ENCRYPTION
  if (get('ENCRYPTION_STATUS') === 'ERROR' || get('ENCRYPTION_WARNING') === 'ON') return 'error'
  if (mode === undefined) return undefined
  if (mode === 'OFF') return 'off'
  return ['ON', 'AUTO', 'MANUAL'].includes(mode) ? 'on' : null
}

/** ULX-D reports whether high density is on; Axient Digital reports the mode. */
function readTransmissionMode({ HIGH_DENSITY, TRANSMISSION_MODE }: RawValues): TransmissionMode | null | undefined {
  const isDense = readEither(HIGH_DENSITY, 'ON', 'OFF') ?? readEither(TRANSMISSION_MODE, 'HIGH_DENSITY', 'STANDARD')
  return typeof isDense === 'boolean' ? (isDense ? 'high_density' : 'standard') : isDense
}

const frequencyDiversities: Readonly<Record<string, FrequencyDiversity>> = {
  OFF: 'off',
  'FD-C': 'combining',
  'FD-S': 'selection',
}
/** As the PSM 1000 reports them. */
const inputLevels: Readonly<Record<string, InputLevel>> = { '0': 'aux', '1': 'line' }
const audioModes: Readonly<Record<string, AudioMode>> = { '1': 'mono', '2': 'point_to_point', '3': 'stereo' }
const locks: Readonly<Record<string, TransmitterLock>> = { NONE: 'none', POWER: 'power', MENU: 'menu', ALL: 'all' }

/** Reads a field whose words are the keys of `words`; any other word is unknown. */
function readWord<Word>(raw: RawValue, words: Readonly<Record<string, Word>>): Word | null | undefined {
  return raw === undefined ? undefined : (words[raw] ?? null)
}

/** Axient Digital reports one word; ULX-D and QLX-D report the two locks separately. */
function readLock(get: ChannelValues): TransmitterLock | null | undefined {
  const word = readWord(get('TX_LOCK'), locks)
  const [power, menu] = ['TX_PWR_LOCK', 'TX_MENU_LOCK'].map((key) => readEither(get(key), 'ON', 'OFF'))
  if (word !== undefined || (power === undefined && menu === undefined)) return word
  if (typeof power !== 'boolean' || typeof menu !== 'boolean') return null
  return power ? (menu ? 'all' : 'power') : menu ? 'menu' : 'none'
}

/** Reads `02,05`. Dashes mean that the frequency belongs to no group. */
function readGroupChannel(raw: RawValue): string | null | undefined {
  if (raw === undefined) return undefined
  const [, group, channel] = /^(\w{1,4}),(\w{1,4})$/.exec(raw.replace(/\s/g, '')) ?? []
  const withoutZeros = (text: string) => text.replace(/^0+(?=.)/, '')
  return group === undefined || channel === undefined ? null : `${withoutZeros(group)},${withoutZeros(channel)}`
}

function readName({ name }: Family, raw: RawValue): RawValue {
  return name === 'uhfr' ? raw?.replaceAll('_', ' ') : raw
}

function macOf(values: RawValues): string | null {
  const [, , , , mac] = (values['NET_SETTINGS SC'] ?? '').split(/\s+/)
  return readMac(mac ?? values.MAC_ADDR) ?? null
}
