/** Converts the values reported in command strings to the common format. Pure. */

import type {
  ChannelDetails,
  ChannelReading,
  DeviceReport,
  Encryption,
  TransmissionMode,
  TransmitterDetails,
  TransmitterLock,
  TransmitterReading,
} from '../../../domain/equipment/receiver.ts'
import { readFault, toFaultDetails } from '../../../upstream/faults.ts'
import { readMac, readText, withoutUndefined } from '../../../upstream/fields.ts'
import {
  answeredNumbers,
  type ChannelValues,
  channelsOf,
  type Family,
  isCharger,
  type RawValues,
  valuesOfChannel,
} from './families.ts'
import { fields, meters, type RawValue, readPaddedIp, toMhz } from './fields.ts'
import { Fields } from './message-fields.ts'
import { mxwSample, readMxwCharging, readMxwMicrophone, readMxwSlots } from './mxw.ts'
import { overloadKey, type Sample } from './samples.ts'
import { onAirSlot, readSlots } from './slots.ts'

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
  return `${idPrefix}${macOf(values) ?? fields.serial.read(values.SERIAL_NUM) ?? host}`
}

export function toDeviceReport(device: StringsDevice): DeviceReport {
  const { family, values, ip, configuredName } = device
  const [mode, deviceIp, subnet, gateway] = networkOf(values)
  const channels = channelsOf(family, values)
  const model = values.MODEL ?? guessModel(family, channels.length)
  const name = fields.name.read(values.DEVICE_ID ?? values.DEVICE_NAME) ?? configuredName ?? model
  return withoutUndefined({
    id: device.id,
    kind: 'receiver' as const,
    name,
    model_name: readText(model),
    serial_number: fields.serial.read(values.SERIAL_NUM),
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

/** Returns the model of a device that does not report it. Some names contain the number of channels. */
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
    muted: fields.muted.read(get('AUDIO_MUTE')),
    interference: readInterference(get),
    second_frequency: readSecondFrequency(get),
    frequency_diversity: fields.diversity.read(get('FD_MODE')),
    group_channel: fields.groupChannel.read(get('GROUP_CHANNEL') ?? get('GROUP_CHAN')),
    overload: readOverload(get(overloadKey)) ?? sample?.isOverloaded,
    unregistered_transmitter: fields.unregistered.read(get('UNREGISTERED_TX_STATUS')),
    slots,
    input_level: fields.inputLevel.read(get('AUDIO_IN_LINE_LVL')),
    audio_mode: fields.audioMode.read(get('AUDIO_TX_MODE')),
    band: fields.band.read(values.RF_BAND),
    transmission_mode: readTransmissionMode(values),
    encryption: readEncryption(values, get),
    gain_db: readGain(family, get),
    ...(family.name === 'mxw' && { charging: readMxwCharging(get) }),
    ...metered,
    // The letters that Axient Digital reports are LED colors.
    ...(family.name === 'slxd' && { antennas: meters.antennas.read(get('ANTENNA_STATUS')) }),
  })
  return withoutUndefined({
    name: fields.channelName.read(readName(family, get('CHAN_NAME'))),
    frequency: toMhz(fields.frequency.read(get('FREQUENCY'))),
    ...levels,
    transmitter: transmitter && withoutUndefined({ upstream_slot: onAirSlot(slots), ...transmitter }),
    ...(Object.keys(details).length > 0 && { details }),
  })
}

function readGain({ name }: Family, get: ChannelValues): number | null | undefined {
  if (name === 'psm1000') return fields.inputGain.read(get('AUDIO_IN_LVL'))
  return (name === 'mxw' ? fields.gainOfMxw : fields.gain).read(get('AUDIO_GAIN'))
}

function readSampleOf({ name, readSample }: Family, get: ChannelValues): Sample | null {
  const sample = name === 'mxw' ? mxwSample(get) : get('SAMPLE')
  return sample === undefined || readSample === null ? null : readSample(Fields.of(sample), 0)
}

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
    // On UHF-R, only the meters show the presence of a transmitter.
    return { channel, ...levels, ...(name === 'uhfr' && { transmitter: toUhfrTransmitter(get) }) }
  }
  const [left, right] = ['L', 'R'].map((side) => toDbfs(get(`AUDIO_IN_LVL_${side}`)))
  const audio_level = left === undefined ? right : right === undefined ? left : louder(left, right)
  return audio_level === undefined ? { channel } : { channel, audio_level, details: { audio_rms: audio_level } }
}

/** Converts the amplitude that a PSM 1000 reports to dBFS. Assumes that full scale is 2^23. */
function toDbfs(raw: RawValue): number | null | undefined {
  const amplitude = fields.amplitude.read(raw)
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
  const muted = fields.rfMuted.read(get('RF_MUTE'))
  // The rack unit is the transmitter; its bodypack receivers report nothing.
  return { details: withoutUndefined({ muted, power_mw: fields.rfPower.read(get('RF_TX_LVL')) }) }
}

function toDigitalTransmitter(family: Family, get: ChannelValues): TransmitterReading | null | undefined {
  const model = get('TX_MODEL') ?? get('TX_TYPE')
  if (model === undefined) return undefined
  if (/^UNK/.test(model)) return null
  const percent = fields.charge.read(get('TX_BATT_CHARGE_PERCENT') ?? get('BATT_CHARGE'))
  const bars = fields.bars.read(get('TX_BATT_BARS') ?? get('BATT_BARS'))
  const details: TransmitterDetails = withoutUndefined({
    model: fields.transmitterModel.read(model),
    muted: readTransmitterMute(get),
    // Axient reports the offset plus 12; older ULX-D firmware reports the offset itself.
    gain_db: (family.name === 'ad' ? fields.offsetOfAxient : fields.offset).read(get('TX_OFFSET')),
    power_mw: readPower(get, family.name === 'qlxd'),
    lock: readLock(get),
    talk_switch: fields.talkSwitch.read(get('TX_TALK_SWITCH')),
    battery_bars: bars,
    battery_minutes: fields.minutes.read(get('TX_BATT_MINS') ?? get('BATT_RUN_TIME')),
    battery_type: fields.batteryType.read(get('TX_BATT_TYPE') ?? get('BATT_TYPE')),
    battery_health: fields.health.read(get('TX_BATT_HEALTH_PERCENT') ?? get('BATT_HEALTH')),
    battery_cycles: fields.cycles.read(get('TX_BATT_CYCLE_COUNT') ?? get('BATT_CYCLE')),
    battery_temperature_c: fields.temperature.read(get('TX_BATT_TEMP_C') ?? get('BATT_TEMP_C')),
    ...estimateFlag(percent, bars),
  })
  return withoutUndefined({
    name: fields.transmitterName.read(get('TX_DEVICE_ID')),
    battery: percent ?? fromBars(bars) ?? (percent === undefined && bars === undefined ? undefined : null),
    details,
  })
}

/** UHF-R does not report the presence of a transmitter, but a battery level, or RF at an active antenna, implies it. */
function toUhfrTransmitter(get: ChannelValues): TransmitterReading | null | undefined {
  const [antennas = 'XX', rf = '100', , metered] = (get('SAMPLE') ?? '').split(/\s+/)
  const raw = metered ?? get('TX_BAT')
  if (raw === undefined) return undefined
  const bars = fields.barsOfUhfr.read(raw)
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

/** On ULX-D and QLX-D, `ON` means muted; on Axient, `ON` means not muted. */
function readTransmitterMute(get: ChannelValues): boolean | null | undefined {
  const mode = get('TX_MUTE_MODE_STATUS')
  return mode === undefined ? fields.transmitterMuted.read(get('TX_MUTE_STATUS')) : fields.muteMode.read(mode)
}

function readPower(get: ChannelValues, isQlxd: boolean): number | null | undefined {
  const milliwatts = fields.power.read(get('TX_POWER_LEVEL'))
  if (milliwatts !== undefined) return milliwatts
  return (isQlxd ? fields.powerStepOfQlxd : fields.powerStep).read(get('TX_RF_PWR'))
}

/** Reads the result of the level reader. */
function readOverload(raw: RawValue): boolean | undefined {
  return raw === undefined ? undefined : raw === 'ON'
}

/** With frequency diversity, interference on either carrier counts. */
function readInterference(get: ChannelValues): boolean | null | undefined {
  const carriers = [
    fields.interference.read(get('INTERFERENCE_STATUS')),
    hasSecondCarrier(get) ? fields.interference.read(get('INTERFERENCE_STATUS2')) : undefined,
    fields.interferenceOfUlxd.read(get('RF_INT_DET')),
  ]
  return carriers.includes(true) || carriers.find((carrier) => carrier !== undefined)
}

function readSecondFrequency(get: ChannelValues): string | null | undefined {
  const frequency = toMhz(fields.frequency.read(get('FREQUENCY2')))
  return frequency === undefined || hasSecondCarrier(get) ? frequency : null
}

/**
 * True if the channel may have a second frequency. FD-C uses two frequencies; FD-S uses two transmitters on one. If the
 * mode was not reported, FD-C is assumed.
 */
function hasSecondCarrier(get: ChannelValues): boolean {
  return (get('FD_MODE') ?? 'FD-C') === 'FD-C'
}

function readFirmware(raw: RawValue): Pick<DeviceReport, 'firmware_version' | 'details'> {
  const firmware = fields.firmware.read(raw)
  if (!firmware) return {}
  const version = readText(firmware.version)
  const fault = firmware.hasFailed ? ({ fault: 'self_test_failed', part: null, word: `FW_VER ${raw}` } as const) : null
  return { ...(version && { firmware_version: version }), details: toFaultDetails([fault]) }
}

/** Encryption is enabled for the whole device, but errors are reported per channel. */
function readEncryption(values: RawValues, get: ChannelValues): Encryption | null | undefined {
  const hasError =
    fields.keyError.read(get('ENCRYPTION_STATUS')) === true ||
    fields.keyWarning.read(get('ENCRYPTION_WARNING')) === true
  return hasError ? 'error' : fields.encryption.read(values.ENCRYPTION_MODE ?? values.ENCRYPTION)
}

/** ULX-D reports high density as on or off; Axient Digital reports the mode. */
function readTransmissionMode({ HIGH_DENSITY, TRANSMISSION_MODE }: RawValues): TransmissionMode | null | undefined {
  return fields.highDensity.read(HIGH_DENSITY) ?? fields.transmissionMode.read(TRANSMISSION_MODE)
}

/** Axient Digital reports one word; ULX-D and QLX-D report the two locks separately. */
function readLock(get: ChannelValues): TransmitterLock | null | undefined {
  const word = fields.lock.read(get('TX_LOCK'))
  const [power, menu] = ['TX_PWR_LOCK', 'TX_MENU_LOCK'].map((key) => fields.powerLock.read(get(key)))
  if (word !== undefined || (power === undefined && menu === undefined)) return word
  if (typeof power !== 'boolean' || typeof menu !== 'boolean') return null
  return power ? (menu ? 'all' : 'power') : menu ? 'menu' : 'none'
}

function readName({ name }: Family, raw: RawValue): RawValue {
  return name === 'uhfr' ? raw?.replaceAll('_', ' ') : raw
}

function networkOf(values: RawValues): readonly string[] {
  return fields.network.read(values['NET_SETTINGS SC']) ?? []
}

function macOf(values: RawValues): string | null {
  const [, , , , mac] = networkOf(values)
  return readMac(mac ?? fields.mac.read(values.MAC_ADDR) ?? undefined) ?? null
}

export function readPacks(
  family: Family,
  values: RawValues,
  charger: { readonly id: string; readonly name: string },
): readonly DeviceReport[] {
  return answeredNumbers(family, values).flatMap((bay) => {
    const get = (key: string) => values[`${bay} ${key}`]
    if (fields.hasPack.read(get('BATT_DETECTED')) !== true) return []
    return withoutUndefined<DeviceReport>({
      id: `${charger.id}:${bay}`,
      kind: 'transmitter',
      device_type: family.name,
      name: `${charger.name}, bay ${bay}`,
      online: true,
      battery: fields.charge.read(get('BATT_CHARGE')),
      details: withoutUndefined({
        battery_health: fields.health.read(get('BATT_HEALTH')),
        battery_cycles: fields.cycles.read(get('BATT_CYCLE')),
        battery_minutes_to_full: readMinutesToFull(get('BATT_TIME_TO_FULL')),
        // BATT_TEMP_F is not used: public projects disagree about its offset.
        battery_temperature_c: fields.temperature.read(get('BATT_TEMP_C')),
        ...readFaults(get, values.STORAGE_MODE, `bay ${bay}`),
      }),
    })
  })
}

/** Minutes until a pack is full. 65529 means full. */
function readMinutesToFull(raw: RawValue): number | null | undefined {
  return raw === '65529' ? 0 : fields.minutesToFull.read(raw)
}

/** A pack that is too hot or too cold is not charged. Storage mode charges only to about 40%. */
function readFaults(get: (key: string) => RawValue, storageMode: RawValue, bay: string) {
  return toFaultDetails([
    readFault(fields.bayError, get('BATT_ERROR'), bay, 'BATT_ERROR'),
    readFault(fields.bayState, get('BATT_STATE'), bay),
    readFault(fields.storageMode, storageMode, null, 'STORAGE_MODE'),
  ])
}
