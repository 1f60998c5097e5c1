/** What each family tells of a device of the show, in its own words. Formulas as in `samples.ts` and `translate.ts`, reversed. */

import type { DeviceState, ShowChannel, ShowTransmitter } from '../../../../simulation/show.ts'

export type SimulatedFamily = 'ulxd' | 'qlxd' | 'slxd' | 'slxd+' | 'ad' | 'anx4' | 'psm1000' | 'uhfr'

/** What the show does not know of a channel. */
export interface Extra {
  readonly muted?: boolean
  readonly transmitterMuted?: boolean
  readonly encryptionError?: boolean
  readonly interference?: boolean
  /** No transmitter was ever paired with it: an SLX-D+ channel then knows hardly any key. */
  readonly neverPaired?: boolean
  /** Answers and meters nothing, as channels 3 and 4 of an AD4Q in Quadversity may. */
  readonly isSilent?: boolean
  /** MHz, with frequency diversity, and whether it is disturbed. */
  readonly secondCarrier?: { readonly frequency: number; readonly interference: boolean }
  /** The battery reports codes for an error in place of readings. */
  readonly batteryCodes?: boolean
}

export interface Told {
  readonly device: Readonly<Record<string, string>>
  readonly channels: ReadonlyMap<number, Readonly<Record<string, string>>>
}

/** `uptimeMs`: a device that has just been switched on does not know yet how long a battery will last. */
export function wordsOf(
  family: SimulatedFamily,
  state: DeviceState,
  about: { readonly uptimeMs: number; readonly extras: ReadonlyMap<number, Extra> },
): Told {
  const channels = new Map<number, Record<string, string>>()
  for (const channel of state.channels) {
    const extra = about.extras.get(channel.channel) ?? {}
    channels.set(channel.channel, withExtras(channelWords(family, channel, { ...about, extra }), family, extra))
  }
  return { device: deviceWords(family, state), channels }
}

/** What is out of the ordinary on a channel. */
function withExtras(words: Record<string, string>, family: SimulatedFamily, extra: Extra): Record<string, string> {
  if (extra.isSilent) return {}
  if (extra.neverPaired && family === 'slxd+') return neverPairedWords()
  return {
    ...words,
    ...(extra.secondCarrier && secondCarrierWords(extra.secondCarrier)),
    ...(extra.batteryCodes && batteryCodes(words)),
  }
}

/** All that an SLX-D+ answers for a channel without a paired transmitter. */
function neverPairedWords(): Record<string, string> {
  const slots = [1, 2].map((slot) => [
    [`SLOT_TX_MODEL ${slot}`, text('', 10)],
    [`LINK_STATUS ${slot}`, 'offline'],
  ])
  return { TX_MODEL: 'UNKNOWN', TX_BATT_BARS: '255', TX_BATT_MINS: '65535', ...Object.fromEntries(slots.flat()) }
}

function slxdPlusLink(transmitter: ShowTransmitter | null): Record<string, string> {
  const isThere = transmitter !== null
  return {
    ANTENNA_STATUS: isThere ? 'XB' : 'XX',
    'SLOT_TX_MODEL 1': text('SLXD2+', 10),
    'LINK_STATUS 1': isThere ? 'online' : 'offline',
    'SLOT_TX_MODEL 2': text('', 10),
    'LINK_STATUS 2': 'offline',
  }
}

function secondCarrierWords({ frequency, interference }: NonNullable<Extra['secondCarrier']>): Record<string, string> {
  return {
    FD_MODE: 'FD-C',
    FREQUENCY2: pad(Math.round(frequency * 1000), 7),
    INTERFERENCE_STATUS2: interference ? 'DETECTED' : 'NONE',
  }
}

/** The code for an error in every battery field of a number: by its width one byte, or two. */
function batteryCodes(words: Readonly<Record<string, string>>): Record<string, string> {
  const numbers = Object.entries(words).filter(([key, value]) => /BATT_/.test(key) && /^(\d{3}|\d{5})$/.test(value))
  return Object.fromEntries(numbers.map(([key, value]) => [key, value.length === 3 ? '254' : '65534']))
}

function deviceWords(family: SimulatedFamily, { device }: DeviceState): Record<string, string> {
  const { name, firmware_version, model } = device
  const network = [device.ip, device.subnet_mask, device.gateway].map((ip) => padIp(ip ?? '0.0.0.0')).join(' ')
  const settings = { 'NET_SETTINGS SC': `MANUAL ${network} ${device.mac_address}` }
  const firmware = text(firmware_version ?? '', 24)
  const called = text(name.slice(0, 31), 31)
  switch (family) {
    case 'ulxd':
      return {
        MODEL: text(model ?? '', 32),
        DEVICE_ID: text(name, 8),
        FW_VER: firmware,
        ENCRYPTION: 'AUTO',
        ...settings,
      }
    case 'qlxd':
      return { DEVICE_ID: text(name, 8), FW_VER: firmware, ENCRYPTION: 'ON', MAC_ADDR: String(device.mac_address) }
    case 'slxd':
      return { MODEL: text(model ?? '', 32), DEVICE_ID: text(name, 8), FW_VER: firmware, RF_BAND: text('G58', 8) }
    case 'slxd+':
      return {
        MODEL: text(model ?? '', 32),
        DEVICE_ID: text(name, 8),
        FW_VER: firmware,
        ENCRYPTION_MODE: 'ON',
        ...settings,
      }
    case 'ad':
    case 'anx4':
      return { MODEL: text(model ?? '', 32), DEVICE_ID: called, FW_VER: firmware, ENCRYPTION_MODE: 'ON', ...settings }
    case 'psm1000':
      return { DEVICE_NAME: name.slice(0, 8) }
    case 'uhfr':
      return {}
    default:
      return family satisfies never
  }
}

function channelWords(
  family: SimulatedFamily,
  channel: ShowChannel,
  about: { readonly uptimeMs: number; readonly extra: Extra },
): Record<string, string> {
  const { extra } = about
  const { transmitter } = channel
  const khz = Math.round(Number(channel.frequency) * 1000)
  const common = { CHAN_NAME: text(channel.name, 8), FREQUENCY: pad(khz, 6), AUDIO_GAIN: '030' }
  switch (family) {
    case 'ulxd':
      return {
        ...common,
        AUDIO_MUTE: onOff(extra.muted),
        GROUP_CHAN: '--,--',
        RF_INT_DET: extra.interference ? 'CRITICAL' : 'NONE',
        ENCRYPTION_WARNING: onOff(extra.encryptionError),
        ...ulxdTransmitter(transmitter, about, 'ULXD2'),
      }
    case 'qlxd':
      return {
        ...common,
        ENCRYPTION_WARNING: onOff(extra.encryptionError),
        ...ulxdTransmitter(transmitter, about, 'QLXD2'),
      }
    case 'slxd':
    case 'slxd+':
      return {
        ...common,
        CHAN_NAME: text(channel.name, 31),
        FREQUENCY: pad(khz, 7),
        AUDIO_OUT_LVL_SWITCH: 'MIC',
        TX_MODEL: transmitter === null ? 'UNKNOWN' : family === 'slxd' ? 'SLXD2' : 'SLXD2+',
        TX_BATT_BARS: bars(transmitter),
        TX_BATT_MINS: minutes(transmitter, about.uptimeMs),
        ...(family === 'slxd+' && slxdPlusLink(transmitter)),
      }
    case 'ad':
    case 'anx4':
      return {
        ...common,
        CHAN_NAME: text(channel.name, 31),
        FREQUENCY: pad(khz, 7),
        AUDIO_MUTE: onOff(extra.muted),
        INTERFERENCE_STATUS: extra.interference ? 'DETECTED' : 'NONE',
        ENCRYPTION_STATUS: extra.encryptionError ? 'ERROR' : 'OK',
        ...axientTransmitter(transmitter, about),
      }
    case 'psm1000':
      return {
        CHAN_NAME: channel.name.slice(0, 8),
        FREQUENCY: pad(khz, 6),
        AUDIO_IN_LVL: '-12',
        RF_TX_LVL: '50',
        RF_MUTE: extra.transmitterMuted ? '1' : '0',
      }
    case 'uhfr':
      return {
        CHAN_NAME: channel.name.slice(0, 12).replaceAll(' ', '_'),
        FREQUENCY: pad(khz, 6),
        BATT_BARS: uhfrBattery(transmitter),
        TX_BAT: uhfrBattery(transmitter),
      }
    default:
      return family satisfies never
  }
}

function ulxdTransmitter(
  transmitter: ShowTransmitter | null,
  { uptimeMs, extra }: { readonly uptimeMs: number; readonly extra: Extra },
  model: string,
): Record<string, string> {
  const isThere = transmitter !== null
  return {
    TX_TYPE: isThere ? model : 'UNKN',
    TX_OFFSET: isThere ? '006' : '255',
    TX_RF_PWR: isThere ? 'NORMAL' : 'UNKN',
    TX_MUTE_STATUS: isThere ? onOff(extra.transmitterMuted) : 'UNKN',
    BATT_CHARGE: isThere ? pad(transmitter.battery, 3) : '255',
    BATT_RUN_TIME: minutes(transmitter, uptimeMs),
    BATT_BARS: bars(transmitter),
    BATT_HEALTH: isThere ? '096' : '255',
    BATT_CYCLE: isThere ? '00042' : '65535',
    BATT_TEMP_C: isThere ? '068' : '255',
    BATT_TYPE: isThere ? 'LION' : 'UNKN',
  }
}

function axientTransmitter(
  transmitter: ShowTransmitter | null,
  { uptimeMs, extra }: { readonly uptimeMs: number; readonly extra: Extra },
): Record<string, string> {
  const isThere = transmitter !== null
  return {
    TX_MODEL: isThere ? 'ADX2' : 'UNKNOWN',
    TX_DEVICE_ID: text(isThere ? transmitter.name : '', 31),
    TX_OFFSET: isThere ? '015' : '255',
    TX_POWER_LEVEL: isThere ? '010' : '255',
    TX_MUTE_MODE_STATUS: isThere ? (extra.transmitterMuted ? 'MUTE' : 'ON') : 'UNKNOWN',
    TX_BATT_CHARGE_PERCENT: isThere ? pad(transmitter.battery, 3) : '255',
    TX_BATT_MINS: minutes(transmitter, uptimeMs),
    TX_BATT_BARS: bars(transmitter),
    TX_BATT_HEALTH_PERCENT: isThere ? '098' : '255',
    TX_BATT_CYCLE_COUNT: isThere ? '00017' : '65535',
    TX_BATT_TEMP_C: isThere ? '071' : '255',
    TX_BATT_TYPE: isThere ? 'LION' : 'UNKN',
    'SLOT_STATUS 1': isThere ? 'LINKED.ACTIVE' : 'LINKED.INACTIVE',
    'SLOT_STATUS 2': 'STANDARD',
    'SLOT_STATUS 3': 'EMPTY',
  }
}

/** What stands after `SAMPLE n ALL`. A channel that hears nobody goes on metering its noise. */
export function sampleOf(family: SimulatedFamily, channel: ShowChannel): string {
  const { transmitter } = channel
  const rf = transmitter?.rf_level ?? channel.rf_level ?? -108
  const audio = transmitter?.audio_level ?? channel.audio_level ?? -100
  const isThere = transmitter !== null
  switch (family) {
    case 'ulxd':
    case 'qlxd':
      return `${isThere ? 'AX' : 'XX'} ${pad(clamp(rf + 128, 0, 115), 3)} ${pad(clamp(audio + 50, 0, 50), 3)}`
    case 'slxd':
    case 'slxd+':
      return [audio + 122, audio + 120, rf + 120].map((raw) => pad(clamp(raw, 0, 120), 3)).join(' ')
    case 'ad':
    case 'anx4': {
      const [peak, rms] = [audio + 123, audio + 120].map((raw) => pad(clamp(raw, 0, 120), 3))
      const antennas = [rf, rf - 6].map((level) => `${isThere ? '31' : '00'} ${pad(clamp(level + 120, 0, 120), 3)}`)
      return `${isThere ? '005' : '255'} ${isThere ? '031' : '000'} ${peak} ${rms} ${isThere ? 'BX' : 'XX'} ${antennas.join(' ')}`
    }
    case 'uhfr':
      return `${isThere ? 'AX' : 'XX'} ${isThere ? pad(clamp(-rf, 20, 100), 3) : '100'} 100 ${uhfrBattery(transmitter)} ${pad(isThere ? 31 : 0, 3)}`
    case 'psm1000':
      return String(Math.round(2 ** 23 * 10 ** (audio / 20)))
    default:
      return family satisfies never
  }
}

function bars(transmitter: ShowTransmitter | null): string {
  return transmitter === null ? '255' : pad(Math.ceil(transmitter.battery / 20), 3)
}

function minutes(transmitter: ShowTransmitter | null, uptimeMs: number): string {
  if (transmitter === null) return '65535'
  return uptimeMs < 4_000 ? '65534' : pad(transmitter.battery * 6, 5)
}

function uhfrBattery(transmitter: ShowTransmitter | null): string {
  return transmitter === null ? 'U' : String(Math.max(1, Math.ceil(transmitter.battery / 20)))
}

function onOff(is: boolean | undefined): string {
  return is === true ? 'ON' : 'OFF'
}

/** In braces, filled up to its width. */
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
