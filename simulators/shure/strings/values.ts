/**
 * Formats a device of the show as the values that each family reports: the inverse of `samples.ts` and `translate.ts`.
 */

import { commonScale, type ReportedScale } from '../../show/day-levels.ts'
import type { DeviceState, ShowChannel, ShowTransmitter } from '../../show/show.ts'

export type SimulatedFamily =
  | 'ulxd'
  | 'qlxd'
  | 'slxd'
  | 'slxd+'
  | 'ad'
  | 'anx4'
  | 'psm1000'
  | 'uhfr'
  | 'mxw'
  | 'mxwnext'

const oneLevel: ReportedScale = { ...commonScale, rf: [-128, -13], audio: [-50, 0], reportsMinutes: true }
const slxdScale: ReportedScale = { ...commonScale, peakAboveRms: 2, battery: 'bars' }

/** The part of the show that `toValues` and `toSample` report. */
export const reportedScales: Readonly<Record<SimulatedFamily, ReportedScale>> = {
  ulxd: oneLevel,
  qlxd: oneLevel,
  slxd: slxdScale,
  'slxd+': slxdScale,
  ad: { ...commonScale, peakAboveRms: 3, reportsMinutes: true, quality: 100 },
  anx4: { ...commonScale, peakAboveRms: 3, reportsMinutes: true, quality: 100 },
  psm1000: { ...commonScale, rf: null, battery: null, hasFixedTransmitter: true },
  uhfr: { ...commonScale, rf: null, audio: null, battery: 'bars' },
  mxw: { ...commonScale, rf: null, audio: null, reportsMinutes: true },
  mxwnext: { ...commonScale, rf: [-110, 17], reportsMinutes: true },
}

/** Channel states that the show does not model. */
export interface ChannelOverrides {
  readonly muted?: boolean
  readonly transmitterMuted?: boolean
  readonly encryptionError?: boolean
  readonly interference?: boolean
  /** The channel receives a transmitter that is not registered to it. */
  readonly unregisteredTransmitter?: boolean
  /** The audio level of the transmitter is too high. */
  readonly overload?: boolean
  /**
   * A second transmitter that is linked to the channel, with its battery in percent; null if it is switched off. An
   * SLX-D+ reports only its model and whether it is on.
   */
  readonly spare?: { readonly name: string; readonly battery: number | null }
  /** The talk switch of the transmitter is pressed. */
  readonly talkSwitch?: boolean
  /** No transmitter was ever paired. An SLX-D+ channel then answers only a few keys. */
  readonly neverPaired?: boolean
  /** Neither answers nor meters, like channels 3 and 4 of an AD4Q in Quadversity. */
  readonly isSilent?: boolean
  /** The second frequency of frequency diversity in MHz, and whether it has interference. */
  readonly secondCarrier?: { readonly frequency: number; readonly interference: boolean }
  /** The battery reports error codes instead of readings. */
  readonly batteryCodes?: boolean
  /** The location of an MXW microphone that is not in use: switched off, or in its charger. */
  readonly isOnCharger?: boolean
  /** Values in the form in which they are sent, by key. */
  readonly raw?: Readonly<Record<string, string>>
}

export interface SimulatedValues {
  readonly device: Readonly<Record<string, string>>
  readonly channels: ReadonlyMap<number, Readonly<Record<string, string>>>
}

/** Returns all values of a device. If it was switched on a moment ago (`uptimeMs`), battery runtimes are unknown. */
export function toValues(
  family: SimulatedFamily,
  state: DeviceState,
  context: { readonly uptimeMs: number; readonly overridesByChannel: ReadonlyMap<number, ChannelOverrides> },
): SimulatedValues {
  const channels = new Map<number, Record<string, string>>()
  for (const channel of state.channels) {
    const overrides = context.overridesByChannel.get(channel.channel) ?? {}
    channels.set(
      channel.channel,
      applyOverrides(toChannelValues(family, channel, { ...context, overrides }), family, overrides),
    )
  }
  return { device: toDeviceValues(family, state), channels }
}

/** Applies the overrides that are the same for all families. */
function applyOverrides(
  values: Record<string, string>,
  family: SimulatedFamily,
  overrides: ChannelOverrides,
): Record<string, string> {
  if (overrides.isSilent) return {}
  if (overrides.neverPaired && family === 'slxd+') return neverPairedValues()
  return {
    ...values,
    ...(overrides.secondCarrier && secondCarrierValues(overrides.secondCarrier)),
    ...(overrides.batteryCodes && batteryCodes(values)),
    ...overrides.raw,
  }
}

/** True if the family is MXW or MXW neXt. */
export function isMxw(family: SimulatedFamily): boolean {
  return family === 'mxw' || family === 'mxwnext'
}

/** Returns all answers of an SLX-D+ for a channel without a paired transmitter. */
function neverPairedValues(): Record<string, string> {
  const slots = [1, 2].map((slot) => [
    [`SLOT_TX_MODEL ${slot}`, text('', 10)],
    [`LINK_STATUS ${slot}`, 'offline'],
  ])
  return { TX_MODEL: 'UNKNOWN', TX_BATT_BARS: '255', TX_BATT_MINS: '65535', ...Object.fromEntries(slots.flat()) }
}

function slxdPlusLink(transmitter: ShowTransmitter | null, { spare }: ChannelOverrides): Record<string, string> {
  const isOn = transmitter !== null
  const isSpareOn = spare !== undefined && spare.battery !== null
  return {
    ANTENNA_STATUS: isOn ? 'XB' : 'XX',
    'SLOT_TX_MODEL 1': text('SLXD2+', 10),
    'LINK_STATUS 1': isOn ? 'online' : 'offline',
    'SLOT_TX_MODEL 2': text(spare === undefined ? '' : 'SLXD1+', 10),
    'LINK_STATUS 2': isSpareOn ? 'online' : 'offline',
  }
}

function secondCarrierValues({
  frequency,
  interference,
}: NonNullable<ChannelOverrides['secondCarrier']>): Record<string, string> {
  return {
    FD_MODE: 'FD-C',
    FREQUENCY2: pad(Math.round(frequency * 1000), 7),
    INTERFERENCE_STATUS2: interference ? 'DETECTED' : 'NONE',
  }
}

/** Replaces the value of every numeric battery field with the error code for its width, one byte or two bytes. */
function batteryCodes(values: Readonly<Record<string, string>>): Record<string, string> {
  const numbers = Object.entries(values).filter(([key, value]) => /BATT_/.test(key) && /^(\d{3}|\d{5})$/.test(value))
  return Object.fromEntries(numbers.map(([key, value]) => [key, value.length === 3 ? '254' : '65534']))
}

/** Returns a band that contains the first channel. The show assigns frequencies without regard to bands. */
function slxdBand([first]: DeviceState['channels']): string {
  const mhz = Number(first?.frequency ?? 0)
  return text(mhz < 514 ? 'G58' : mhz < 564 ? 'H57' : mhz < 606 ? 'J53' : 'K59', 8)
}

function toDeviceValues(family: SimulatedFamily, { device, channels }: DeviceState): Record<string, string> {
  const { name, firmware_version, model } = device
  const network = [device.ip, device.subnet_mask, device.gateway].map((ip) => padIp(ip ?? '0.0.0.0')).join(' ')
  const settings = { 'NET_SETTINGS SC': `MANUAL ${network} ${device.mac_address}` }
  const firmware = text(firmware_version ?? '', 24)
  const deviceId = text(name.slice(0, 31), 31)
  switch (family) {
    case 'ulxd':
      return {
        MODEL: text(model ?? '', 32),
        DEVICE_ID: text(name, 8),
        FW_VER: firmware,
        ENCRYPTION: 'AUTO',
        HIGH_DENSITY: 'OFF',
        ...settings,
      }
    case 'qlxd':
      return { DEVICE_ID: text(name, 8), FW_VER: firmware, ENCRYPTION: 'ON', MAC_ADDR: String(device.mac_address) }
    case 'slxd':
      return { MODEL: text(model ?? '', 32), DEVICE_ID: text(name, 8), FW_VER: firmware, RF_BAND: slxdBand(channels) }
    case 'slxd+':
      return {
        MODEL: text(model ?? '', 32),
        DEVICE_ID: text(name, 8),
        FW_VER: firmware,
        RF_BAND: slxdBand(channels),
        ENCRYPTION_MODE: 'ON',
        ...settings,
      }
    case 'ad':
    case 'anx4':
      return {
        MODEL: text(model ?? '', 32),
        DEVICE_ID: deviceId,
        FW_VER: firmware,
        ENCRYPTION_MODE: 'ON',
        RF_BAND: text('G57', 8),
        TRANSMISSION_MODE: 'STANDARD',
        ...settings,
      }
    case 'psm1000':
      return { DEVICE_NAME: name.slice(0, 8) }
    case 'uhfr':
      return {}
    case 'mxw':
      return { DEVICE_ID: deviceId }
    case 'mxwnext':
      return {
        MODEL: text(model ?? '', 31),
        FW_VER: firmware,
        SERIAL_NUM: text(device.serial_number ?? '', 11),
        DEVICE_ID: deviceId,
      }
    default:
      return family satisfies never
  }
}

function toChannelValues(
  family: SimulatedFamily,
  channel: ShowChannel,
  context: { readonly uptimeMs: number; readonly overrides: ChannelOverrides },
): Record<string, string> {
  const { overrides } = context
  const { transmitter } = channel
  const khz = Math.round(Number(channel.frequency) * 1000)
  const common = { CHAN_NAME: text(channel.name, 8), FREQUENCY: pad(khz, 6), AUDIO_GAIN: '030' }
  switch (family) {
    case 'ulxd':
      return {
        ...common,
        AUDIO_MUTE: onOff(overrides.muted),
        GROUP_CHAN: '02,05',
        RF_INT_DET: overrides.interference ? 'CRITICAL' : 'NONE',
        ENCRYPTION_WARNING: onOff(overrides.encryptionError),
        ...ulxdTransmitter(transmitter, context, 'ULXD2'),
      }
    case 'qlxd':
      return {
        ...common,
        ENCRYPTION_WARNING: onOff(overrides.encryptionError),
        ...ulxdTransmitter(transmitter, context, 'QLXD2'),
      }
    case 'slxd':
    case 'slxd+':
      return {
        ...common,
        CHAN_NAME: text(channel.name, 31),
        FREQUENCY: pad(khz, 7),
        AUDIO_OUT_LVL_SWITCH: 'MIC',
        GROUP_CHANNEL: text('02,05', 10),
        TX_MODEL: transmitter === null ? 'UNKNOWN' : family === 'slxd' ? 'SLXD2' : 'SLXD2+',
        TX_BATT_BARS: bars(transmitter),
        TX_BATT_MINS: minutes(transmitter, context.uptimeMs),
        ...(family === 'slxd+' && slxdPlusLink(transmitter, overrides)),
      }
    case 'ad':
    case 'anx4':
      return {
        ...common,
        CHAN_NAME: text(channel.name, 31),
        FREQUENCY: pad(khz, 7),
        AUDIO_MUTE: onOff(overrides.muted),
        INTERFERENCE_STATUS: overrides.interference ? 'DETECTED' : 'NONE',
        ENCRYPTION_STATUS: overrides.encryptionError ? 'ERROR' : 'OK',
        GROUP_CHANNEL: text('02,05', 10),
        FD_MODE: 'OFF',
        UNREGISTERED_TX_STATUS: overrides.unregisteredTransmitter ? 'ERROR' : 'OK',
        ...axientTransmitter(transmitter, context),
        ...axientSlots(transmitter, overrides),
      }
    case 'psm1000':
      return {
        CHAN_NAME: channel.name.slice(0, 8),
        FREQUENCY: pad(khz, 6),
        AUDIO_IN_LVL: '-12',
        RF_TX_LVL: '50',
        RF_MUTE: overrides.transmitterMuted ? '1' : '0',
        GROUP_CHAN: '--,--',
        AUDIO_IN_LINE_LVL: '1',
        AUDIO_TX_MODE: '3',
      }
    case 'uhfr':
      return {
        CHAN_NAME: channel.name.slice(0, 12).replaceAll(' ', '_'),
        FREQUENCY: pad(khz, 6),
        BATT_BARS: uhfrBattery(transmitter),
        TX_BAT: uhfrBattery(transmitter),
      }
    case 'mxw':
      return {
        CHAN_NAME: text(channel.name, 31),
        AUDIO_GAIN: '030',
        ...mxwMicrophone(transmitter, context, { model: 'MXW2', mute: 'MUTE', prefix: '' }),
        ...mxwMicrophone(secondaryOf(overrides), context, { model: 'MXW1', mute: 'MUTE', prefix: 'SEC ' }),
      }
    case 'mxwnext': {
      const values = mxwMicrophone(transmitter, context, { model: 'MXW2X', mute: 'MUTED', prefix: '' })
      const { TX_STATUS, TX_TYPE, TX_DEVICE_ID, ...others } = values
      const addressed = { 'CH TX_STATUS': TX_STATUS, 'CH TX_MODEL': TX_TYPE, 'CH TX_DEVICE_ID': TX_DEVICE_ID }
      return { CHAN_NAME: text(channel.name, 31), AUDIO_GAIN: '030', ...others, ...(addressed as typeof values) }
    }
    default:
      return family satisfies never
  }
}

function ulxdTransmitter(
  transmitter: ShowTransmitter | null,
  { uptimeMs, overrides }: { readonly uptimeMs: number; readonly overrides: ChannelOverrides },
  model: string,
): Record<string, string> {
  const isOn = transmitter !== null
  return {
    TX_TYPE: isOn ? model : 'UNKN',
    TX_OFFSET: isOn ? '006' : '255',
    TX_RF_PWR: isOn ? 'NORMAL' : 'UNKN',
    TX_MUTE_STATUS: isOn ? onOff(overrides.transmitterMuted) : 'UNKN',
    TX_PWR_LOCK: isOn ? 'ON' : 'UNKN',
    TX_MENU_LOCK: isOn ? 'OFF' : 'UNKN',
    BATT_CHARGE: isOn ? pad(transmitter.battery, 3) : '255',
    BATT_RUN_TIME: minutes(transmitter, uptimeMs),
    BATT_BARS: bars(transmitter),
    BATT_HEALTH: isOn ? '096' : '255',
    BATT_CYCLE: isOn ? '00042' : '65535',
    BATT_TEMP_C: isOn ? '068' : '255',
    BATT_TYPE: isOn ? batteryCode[transmitter.battery_type] : 'UNKN',
  }
}

/** A microphone of MXW that is switched off reports codes. In its charger, it reports its battery. */
function mxwMicrophone(
  microphone: Pick<ShowTransmitter, 'name' | 'battery' | 'minutes_left'> | null,
  { overrides }: { readonly overrides: ChannelOverrides },
  { model, mute, prefix }: { readonly model: string; readonly mute: string; readonly prefix: '' | 'SEC ' },
): Record<string, string> {
  const isLinked = prefix === '' || overrides.spare !== undefined
  const isOn = microphone !== null
  const off = overrides.isOnCharger ? 'ON_CHARGER' : 'UNKNOWN'
  const values = {
    TX_AVAILABLE: isOn ? 'YES' : 'NO',
    TX_STATUS: isOn ? (overrides.transmitterMuted ? mute : 'ACTIVE') : off,
    TX_TYPE: isLinked ? model : 'UNKNOWN',
    TX_DEVICE_ID: text(isOn ? microphone.name : '', 12),
    BATT_CHARGE: isOn ? pad(microphone.battery, 3) : overrides.isOnCharger ? '080' : '255',
    BATT_RUN_TIME: isOn ? pad(microphone.minutes_left, 5) : overrides.isOnCharger ? '65533' : '65535',
    BATT_HEALTH: isOn ? '097' : '255',
  }
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`${prefix}${key}`, value]))
}

/** The second microphone of an MXW channel; null if it is off or not linked. */
export function secondaryOf({ spare }: ChannelOverrides) {
  if (spare === undefined || spare.battery === null) return null
  return { name: spare.name, battery: spare.battery, minutes_left: 6 * spare.battery }
}

function axientTransmitter(
  transmitter: ShowTransmitter | null,
  { uptimeMs, overrides }: { readonly uptimeMs: number; readonly overrides: ChannelOverrides },
): Record<string, string> {
  const isOn = transmitter !== null
  return {
    TX_MODEL: isOn ? 'ADX2' : 'UNKNOWN',
    TX_DEVICE_ID: text(isOn ? transmitter.name : '', 31),
    TX_OFFSET: isOn ? '015' : '255',
    TX_POWER_LEVEL: isOn ? '010' : '255',
    TX_MUTE_MODE_STATUS: isOn ? (overrides.transmitterMuted ? 'MUTE' : 'ON') : 'UNKNOWN',
    TX_LOCK: isOn ? 'MENU' : 'UNKNOWN',
    TX_TALK_SWITCH: isOn ? onOff(overrides.talkSwitch) : 'UNKNOWN',
    TX_BATT_CHARGE_PERCENT: isOn ? pad(transmitter.battery, 3) : '255',
    TX_BATT_MINS: minutes(transmitter, uptimeMs),
    TX_BATT_BARS: bars(transmitter),
    TX_BATT_HEALTH_PERCENT: isOn ? '098' : '255',
    TX_BATT_CYCLE_COUNT: isOn ? '00017' : '65535',
    TX_BATT_TEMP_C: isOn ? '071' : '255',
    TX_BATT_TYPE: isOn ? batteryCode[transmitter.battery_type] : 'UNKN',
  }
}

/** Three of the eight slots of a channel: the transmitter on air, a spare one and an empty slot. */
function axientSlots(transmitter: ShowTransmitter | null, { spare }: ChannelOverrides): Record<string, string> {
  return {
    ...axientSlot(1, transmitter ?? { name: 'Pack', battery: null }, false),
    ...(spare === undefined ? emptySlot(2) : axientSlot(2, spare, true)),
    ...emptySlot(3),
  }
}

/** A linked transmitter that is switched off reports no battery. */
function axientSlot(
  slot: number,
  { name, battery }: { readonly name: string; readonly battery: number | null },
  isMuted: boolean,
): Record<string, string> {
  const isOn = battery !== null
  return {
    [`SLOT_STATUS ${slot}`]: isOn ? 'LINKED.ACTIVE' : 'LINKED.INACTIVE',
    [`SLOT_TX_MODEL ${slot}`]: 'ADX2',
    [`SLOT_TX_DEVICE_ID ${slot}`]: text(name, 31),
    [`SLOT_RF_OUTPUT ${slot}`]: isOn ? (isMuted ? 'RF_MUTE' : 'RF_ON') : 'UNKNOWN',
    [`SLOT_BATT_CHARGE_PERCENT ${slot}`]: isOn ? pad(battery, 3) : '255',
    [`SLOT_BATT_BARS ${slot}`]: isOn ? pad(Math.ceil(battery / 20), 3) : '255',
    [`SLOT_BATT_MINS ${slot}`]: isOn ? pad(6 * battery, 5) : '65535',
    [`SLOT_BATT_TYPE ${slot}`]: isOn ? 'LION' : 'UNKN',
  }
}

function emptySlot(slot: number): Record<string, string> {
  return { [`SLOT_STATUS ${slot}`]: 'EMPTY' }
}

/** Returns the fields after `SAMPLE n ALL`, on MXW after `SAMPLE n`. A channel without a transmitter meters noise. */
export function toSample(family: SimulatedFamily, channel: ShowChannel, overrides: ChannelOverrides = {}): string {
  const { transmitter } = channel
  const rf = transmitter?.rf_level ?? channel.rf_level ?? -108
  const audio = transmitter?.audio_level ?? channel.audio_level ?? -100
  const isOn = transmitter !== null
  switch (family) {
    case 'ulxd':
    case 'qlxd':
      return `${isOn ? 'AX' : 'XX'} ${pad(clamp(rf + 128, 0, 115), 3)} ${pad(clamp(audio + 50, 0, 50), 3)}`
    case 'slxd':
    case 'slxd+':
      return [audio + 122, audio + 120, rf + 120].map((raw) => pad(clamp(raw, 0, 120), 3)).join(' ')
    case 'ad':
    case 'anx4': {
      const [peak, rms] = [audio + 123, audio + 120].map((raw) => pad(clamp(raw, 0, 120), 3))
      const antennas = [rf, rf - 6].map((level) => `${isOn ? '31' : '00'} ${pad(clamp(level + 120, 0, 120), 3)}`)
      const leds = isOn ? (overrides.overload ? '255' : '031') : '000'
      return `${isOn ? '005' : '255'} ${leds} ${peak} ${rms} ${isOn ? 'BX' : 'XX'} ${antennas.join(' ')}`
    }
    case 'uhfr':
      return `${isOn ? 'AX' : 'XX'} ${isOn ? pad(clamp(-rf, 20, 100), 3) : '100'} 100 ${uhfrBattery(transmitter)} ${pad(isOn ? 31 : 0, 3)}`
    case 'psm1000':
      return String(Math.round(2 ** 23 * 10 ** (audio / 20)))
    case 'mxw':
      return `${pad(clamp(rf + 110, 0, 96), 3)} ${pad(clamp(audio + 98, 0, 98), 3)}`
    case 'mxwnext':
      return `${pad(clamp(rf + 110, 0, 127), 3)} ${pad(clamp(audio + 120, 0, 120), 3)}`
    default:
      return family satisfies never
  }
}

const batteryCode = { lithium: 'LION', nimh: 'NIMH', alkaline: 'ALKA' } as const

function bars(transmitter: ShowTransmitter | null): string {
  return transmitter === null ? '255' : pad(Math.ceil(transmitter.battery / 20), 3)
}

function minutes(transmitter: ShowTransmitter | null, uptimeMs: number): string {
  if (transmitter === null) return '65535'
  // Only rechargeable packs report their remaining time.
  if (transmitter.battery_type !== 'lithium') return '65535'
  return uptimeMs < 4_000 ? '65534' : pad(transmitter.minutes_left, 5)
}

function uhfrBattery(transmitter: ShowTransmitter | null): string {
  return transmitter === null ? 'U' : String(Math.max(1, Math.ceil(transmitter.battery / 20)))
}

function onOff(isTrue: boolean | undefined): string {
  return isTrue === true ? 'ON' : 'OFF'
}

/** Formats a text in braces, padded to its width. */
function text(value: string, width: number): string {
  return `{${value.slice(0, width).padEnd(width)}}`
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}

function padIp(ip: string): string {
  return ip
    .split('.')
    .map((octet) => octet.padStart(3, '0'))
    .join('.')
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
