/**
 * The fields of Shure command strings by their keys. Keys with the same content share a row. `SAMPLE` marks the values
 * of meters, which have no keys.
 */

import type {
  AudioMode,
  Encryption,
  Fault,
  FrequencyDiversity,
  InputLevel,
  SlotStatus,
  TransmissionMode,
  TransmitterLock,
} from '../../../domain/equipment/receiver.ts'
import {
  audioLevel,
  digits,
  type FieldTable,
  field,
  number,
  text,
  textWords as words,
} from '../../../upstream/field-table.ts'
import { readFrequency } from '../../../upstream/fields.ts'

const byteCodes = { 252: 'error', 253: 'communication warning', 254: 'calculating, or error', 255: 'unknown' }
const wordCodes = { 65532: 'error', 65533: 'communication warning', 65534: 'calculating', 65535: 'unknown' }
const byte = { unit: 'count', min: 0, max: 251, codes: byteCodes }
const percent = { ...byte, unit: '%', max: 100 }
const word = { unit: 'count', min: 0, max: 65_531, codes: wordCodes }
const kHz = { unit: 'kHz', min: 1, max: 99_999_999 }
const unknown = { UNKN: 'unknown', UNKNOWN: 'unknown' }
const isOn = { ON: true, OFF: false }

const isText = (raw: unknown) => typeof raw === 'string'

const device = {
  model: text('MODEL'),
  name: text('DEVICE_ID, DEVICE_NAME'),
  serial: text('SERIAL_NUM'),
  firmware: field<{ readonly version: string; readonly hasFailed: boolean }>({
    ...{ address: 'FW_VER', unit: 'text', range: '', codes: { '*': 'at the end: the self-test failed' } },
    hasForm: isText,
    convert: (raw) => ({ version: String(raw).replace(/\*$/, ''), hasFailed: String(raw).endsWith('*') }),
  }),
  network: field<readonly string[]>({
    ...{ address: 'NET_SETTINGS SC', unit: 'text', range: 'AUTO or MANUAL, then address, mask, gateway and MAC' },
    hasForm: isText,
    convert: (raw) => String(raw).split(/\s+/),
  }),
  mac: text('MAC_ADDR'),
}

const battery = {
  charge: digits('TX_BATT_CHARGE_PERCENT, BATT_CHARGE, SLOT_BATT_CHARGE_PERCENT', percent),
  bars: digits('TX_BATT_BARS, BATT_BARS, SLOT_BATT_BARS', { ...byte, unit: 'bars', max: 5 }),
  minutes: digits('TX_BATT_MINS, BATT_RUN_TIME, SLOT_BATT_MINS', { ...word, unit: 'min' }),
  health: digits('TX_BATT_HEALTH_PERCENT, BATT_HEALTH', percent),
  cycles: digits('TX_BATT_CYCLE_COUNT, BATT_CYCLE', { ...word, codes: { ...wordCodes, 65534: 'error' } }),
  temperature: digits('TX_BATT_TEMP_C, BATT_TEMP_C', { ...byte, unit: '°C', offset: -40 }),
  batteryType: words(
    'TX_BATT_TYPE, BATT_TYPE, SLOT_BATT_TYPE',
    { LION: 'lithium-ion pack', ALKA: 'alkaline cells', NIMH: 'NiMH cells', LITH: 'lithium cells' },
    { UNKN: 'unknown', WARN: 'communication warning' },
  ),
}

const channel = {
  channelName: text('CHAN_NAME'),
  frequency: digits('FREQUENCY, FREQUENCY2', kHz),
  groupChannel: field<string>({
    ...{ address: 'GROUP_CHANNEL, GROUP_CHAN', unit: 'text', range: 'group,channel', codes: { '--,--': 'none' } },
    hasForm: isText,
    convert(raw) {
      const [, group, number] = /^(\w{1,4}),(\w{1,4})$/.exec(String(raw).replace(/\s/g, '')) ?? []
      const withoutZeros = (part: string) => part.replace(/^0+(?=.)/, '')
      return group === undefined || number === undefined ? null : `${withoutZeros(group)},${withoutZeros(number)}`
    },
  }),
}

const receiver = {
  ...device,
  band: text('RF_BAND'),
  encryption: words<Encryption>('ENCRYPTION_MODE, ENCRYPTION', { OFF: 'off', ON: 'on', AUTO: 'on', MANUAL: 'on' }),
  highDensity: words<TransmissionMode>('HIGH_DENSITY', { ON: 'high_density', OFF: 'standard' }),
  transmissionMode: words<TransmissionMode>('TRANSMISSION_MODE', {
    HIGH_DENSITY: 'high_density',
    STANDARD: 'standard',
  }),
  ...channel,
  gain: digits('AUDIO_GAIN', { ...byte, unit: 'dB', offset: -18 }),
  muted: words('AUDIO_MUTE', isOn),
  interference: words('INTERFERENCE_STATUS, INTERFERENCE_STATUS2', { DETECTED: true, NONE: false }),
  interferenceOfUlxd: words('RF_INT_DET', { CRITICAL: true, NONE: false }),
  diversity: words<FrequencyDiversity>('FD_MODE', { OFF: 'off', 'FD-C': 'combining', 'FD-S': 'selection' }),
  unregistered: words('UNREGISTERED_TX_STATUS', { ERROR: true, OK: false }),
  keyError: words('ENCRYPTION_STATUS', { ERROR: true, OK: false }),
  keyWarning: words('ENCRYPTION_WARNING', isOn),
  transmitterModel: {
    ...text('TX_MODEL, TX_TYPE, SLOT_TX_MODEL, LINK_TX_MODEL'),
    codes: { UNKN: 'no transmitter', UNKNOWN: 'no transmitter' },
  },
  transmitterName: text('TX_DEVICE_ID, SLOT_TX_DEVICE_ID'),
  offset: digits('TX_OFFSET', { ...byte, unit: 'dB' }),
  offsetOfAxient: digits('TX_OFFSET of Axient Digital', { ...byte, unit: 'dB', offset: -12 }),
  power: digits('TX_POWER_LEVEL', { ...byte, unit: 'mW' }),
  powerStep: words('TX_RF_PWR', { LOW: 1, NORMAL: 10, HIGH: 20 }, unknown),
  powerStepOfQlxd: words('TX_RF_PWR of QLX-D', { LOW: 1, NORMAL: 10, HIGH: 10 }, unknown),
  transmitterMuted: words('TX_MUTE_STATUS', isOn, unknown),
  muteMode: words('TX_MUTE_MODE_STATUS', { MUTE: true, ON: false }, unknown),
  lock: words<TransmitterLock>('TX_LOCK', { NONE: 'none', POWER: 'power', MENU: 'menu', ALL: 'all' }, unknown),
  powerLock: words('TX_PWR_LOCK, TX_MENU_LOCK', isOn, unknown),
  talkSwitch: words('TX_TALK_SWITCH', isOn, unknown),
  ...battery,
  slotStatus: words<SlotStatus>(
    'SLOT_STATUS, LINK_STATUS',
    {
      'LINKED.ACTIVE': 'active',
      'LINKED.INACTIVE': 'inactive',
      STANDARD: 'standard',
      // As reported by SLX-D+; its document has the words above.
      online: 'active',
      offline: 'inactive',
    },
    { EMPTY: 'empty slot' },
  ),
  slotRfMuted: words('SLOT_RF_OUTPUT', { RF_MUTE: true, RF_ON: false }),
}

/** In standby, a microphone is muted. */
const mxw = {
  available: words('TX_AVAILABLE', { YES: true, NO: false }),
  mutedByStatus: words(
    'TX_STATUS',
    { ACTIVE: false, MUTE: true, MUTED: true, STANDBY: true },
    { OFF: 'off', ON_CHARGER: 'on the charger' },
  ),
  docked: words('TX_STATUS', {
    ON_CHARGER: true,
    ACTIVE: false,
    MUTE: false,
    MUTED: false,
    STANDBY: false,
    OFF: false,
  }),
  gainOfMxw: digits('AUDIO_GAIN of MXW', { ...byte, unit: 'dB', offset: -25 }),
  minutesOfMxw: digits('BATT_RUN_TIME of MXW', {
    ...{ ...word, unit: 'min' },
    codes: { 65532: 'on a wall charger', 65533: 'on the charger', 65534: 'calculating', 65535: 'off' },
  }),
}

const psm1000 = {
  inputGain: digits('AUDIO_IN_LVL', { unit: 'dB', min: -128, max: 0 }),
  inputLevel: words<InputLevel>('AUDIO_IN_LINE_LVL', { 0: 'aux', 1: 'line' }),
  audioMode: words<AudioMode>('AUDIO_TX_MODE', { 1: 'mono', 2: 'point_to_point', 3: 'stereo' }),
  rfPower: digits('RF_TX_LVL', { ...byte, unit: 'mW' }),
  rfMuted: words('RF_MUTE', { 1: true, 0: false }),
  amplitude: digits('AUDIO_IN_LVL_L, AUDIO_IN_LVL_R', { unit: 'amplitude', min: 0, max: 2 ** 24 - 1 }),
}

const barsOfUhfr = digits('', { unit: 'bars', min: 1, max: 5 })

const uhfr = {
  barsOfUhfr: field<number>({
    ...{ address: 'TX_BAT, SAMPLE battery', unit: 'bars', range: '1, 2, 3, 4, 5', codes: { U: 'unknown' } },
    hasForm: isText,
    convert: (raw) => barsOfUhfr.read(raw) ?? null,
  }),
}

/** Faults by the code of BATT_ERROR. */
const bayErrors: Readonly<Record<number, Fault>> = {
  1: 'unknown_module',
  2: 'unrecognized_battery',
  3: 'recovery_failed',
  4: 'charge_failed',
  5: 'check_battery',
  6: 'check_charger',
  7: 'communication_failure',
}
const bayError = digits('BATT_ERROR', byte)
const storageStates = ['READY_TO_STORE', 'DISCHARGE_CALC', 'DISCHARGING', 'DISCHARGING_WARM', 'DISCHARGING_COLD']
const chargingStates = ['FULL', 'CALCULATING', 'NORMAL', 'WARM', 'WARM_FULL', 'PRECHARGE']

const charger = {
  hasPack: words('BATT_DETECTED', { YES: true, NO: false }),
  minutesToFull: digits('BATT_TIME_TO_FULL', {
    ...word,
    unit: 'min',
    max: 65_528,
    codes: { 65529: 'full', 65533: 'calculating', 65534: 'error', 65535: 'unknown' },
  }),
  bayError: field<Fault>({
    ...{ address: 'BATT_ERROR', unit: 'code', range: Object.keys(bayErrors).join(', ') },
    codes: { 0: 'no fault', ...byteCodes },
    hasForm: bayError.hasForm,
    // Any other code is an error as well.
    convert(raw) {
      const code = bayError.read(raw)
      return code ? (bayErrors[code] ?? 'battery_error') : null
    },
  }),
  bayState: words<Fault>(
    'BATT_STATE',
    {
      ...{ ERROR: 'battery_error', HOT: 'too_hot', COLD: 'too_cold' },
      // In storage mode, a pack is charged only to about 40%.
      ...Object.fromEntries(storageStates.map((state) => [state, 'storage_mode' as const])),
    },
    { ...Object.fromEntries(chargingStates.map((state) => [state, 'no fault'])), NO_BATT: 'no battery' },
  ),
  storageMode: words('STORAGE_MODE', { ON: 'storage_mode' } as const, { OFF: 'no fault' }),
}

/** Values of meters, which are read as numbers. */
const rf = (key: string, offset: number) =>
  number(key, { unit: 'dBm', min: 0, max: 50 - offset, offset, codes: byteCodes })
const audio = (key: string, offset: number) => audioLevel(key, { min: 0, max: 251, offset, codes: byteCodes })

/** Every report of antennas, for example `AX` -> `A`. `X` stands for an unused antenna. */
export const antennaReports = [...'ABX'].flatMap((first) => ['', 'A', 'B', 'X'].map((second) => first + second))

export const meters = {
  antennas: words(
    'SAMPLE antennas, ANTENNA_STATUS of SLX-D+',
    Object.fromEntries(antennaReports.map((report) => [report, report.replaceAll('X', '')])),
  ),
  rfOfUlxd: rf('SAMPLE RX_RF_LVL of ULX-D, QLX-D', -128),
  audioOfUlxd: audio('SAMPLE AUDIO_LVL of ULX-D, QLX-D', -50),
  rf: rf('SAMPLE RSSI of SLX-D, Axient Digital', -120),
  audio: audio('SAMPLE AUDIO_LEVEL_PEAK, AUDIO_LEVEL_RMS of SLX-D, Axient Digital, MXW neXt', -120),
  quality: number('SAMPLE CHAN_QUALITY of Axient Digital', {
    ...{ unit: 'step', min: 0, max: 5, scale: 20 },
    codes: byteCodes,
  }),
  /** The highest bit is the overload LED. */
  leds: number('SAMPLE AUDIO_LED_BITMAP of Axient Digital', { unit: 'bits', min: 0, max: 255 }),
  rfOfMxwNext: rf('SAMPLE RF of MXW neXt', -110),
  /** No unit is documented. */
  rfOfMxw: number('SAMPLE RF of MXW', { unit: 'step', min: 0, max: 96, codes: byteCodes }),
  /** 20 is strong, 100 is none; a conversion to dBm is not known. */
  rfOfUhfr: number('SAMPLE RF of UHF-R', { unit: 'step', min: 0, max: 251, codes: byteCodes }),
}

export const fields = { ...receiver, ...mxw, ...psm1000, ...uhfr, ...charger }

const strings = "Shure's command strings"

export const tables: readonly FieldTable[] = [
  {
    family: 'Shure ULX-D, QLX-D, SLX-D, Axient Digital, ANX4',
    source: `${strings} for each family; the codes as documented for QLX-D`,
    fields: receiver,
  },
  { family: 'Shure Microflex Wireless', source: `${strings} for MXW and MXW neXt; other keys as above`, fields: mxw },
  { family: 'Shure PSM 1000', source: `${strings} for PSM 1000; public clients`, fields: { ...channel, ...psm1000 } },
  { family: 'Shure UHF-R', source: 'a public client (micboard)', fields: { ...channel, ...uhfr } },
  { family: 'Shure chargers', source: `${strings} for SBC220/240; other keys as above`, fields: charger },
  { family: 'Shure meters', source: `${strings} for each family; UHF-R: a public client`, fields: meters },
]

export type RawValue = string | undefined

export function toMhz(khz: number | null | undefined): string | null | undefined {
  return typeof khz === 'number' ? readFrequency(khz / 1000) : khz
}

/** Reads an IP address with padded numbers: `192.168.001.010` -> `192.168.1.10`. */
export function readPaddedIp(raw: RawValue): string | undefined {
  if (raw === undefined || !/^\d{1,3}(\.\d{1,3}){3}$/.test(raw)) return undefined
  return raw.split('.').map(Number).join('.')
}
