/** The fields of SSC 1 devices, by address. Lists of a charger have one value per bay. */

import type { Fault } from '../../../domain/equipment/receiver.ts'
import {
  audioLevel,
  type Field,
  type FieldTable,
  field,
  flag,
  number,
  percent,
  text,
  warnings,
  words,
} from '../../../upstream/field-table.ts'
import { readText } from '../../../upstream/fields.ts'
import { capsule, channelWarnings, lowCut, transmitterWarnings } from '../values.ts'

const frequency = { unit: 'kHz', min: 1, max: 99_999_999 }

function firstOf(raw: unknown): unknown {
  return Array.isArray(raw) ? raw[0] : raw
}

function isTextOrList(raw: unknown): boolean {
  return typeof firstOf(raw) === 'string'
}

/** A field of one bay, whose address has a list with one value per bay. */
function ofBay<Value>(entry: Field<Value>): Field<Value> {
  return { ...entry, hasForm: (raw) => raw === null || Array.isArray(raw) }
}

export const identity = {
  product: text('/device/identity/product'),
  version: text('/device/identity/version'),
  serial: text('/device/identity/serial'),
  deviceName: text('/device/name'),
  macs: field<unknown>({
    ...{ address: '/device/network/ether/macs', unit: 'text, or a list with one', range: '' },
    hasForm: isTextOrList,
    convert: firstOf,
  }),
}

export const ewdx = {
  encryption: flag('/device/encryption'),
  band: text('/device/frequency_code'),
  density: flag('/device/link_density_mode'),
  name: text('/rx*/name'),
  frequency: number('/rx*/frequency', frequency),
  mute: flag('/rx*/mute'),
  gain: number('/rx*/gain', { unit: 'dB', min: -3, max: 42 }),
  warnings: warnings('/rx*/warnings', channelWarnings),
  rf: number('/m/rx*/rssi', { unit: 'dBm', min: -200, max: 50 }),
  quality: percent('/m/rx*/rsqi'),
  level: audioLevel('/m/rx*/af', { min: -200 }),
  antenna: words('/m/rx*/divi', { 0: '', 1: 'A', 2: 'B' }),
  transmitterType: text('/mates/tx*/type'),
  transmitterName: text('/mates/tx*/name'),
  transmitterMute: flag('/mates/tx*/mute'),
  capsule: capsule('/mates/tx*/capsule'),
  lowCut: lowCut('/mates/tx*/lowcut'),
  trim: number('/mates/tx*/trim', { unit: 'dB', min: -12, max: 6 }),
  transmitterWarnings: warnings('/mates/tx*/warnings', transmitterWarnings),
  gauge: percent('/mates/tx*/battery/gauge'),
  lifetime: number('/mates/tx*/battery/lifetime', {
    ...{ unit: 'min', min: 0, max: 65_534 },
    codes: { 65535: 'unknown' },
  }),
  batteryType: words(
    '/mates/tx*/battery/type',
    { Battery: 'rechargeable', 'Primary Cell': 'cells', PrimaryCell: 'cells' },
    { NoBattery: 'no battery' },
  ),
}

export const digital6000 = {
  name: text('/rx*/name'),
  frequency: number('/rx*/carrier', frequency),
  mute: flag('/rx*/audio_mute'),
  encryption: flag('/rx*/encryption'),
  warnings: warnings('/rx*/active_warnings', [
    ...['NoLink', 'LowSignal', 'RFPeak', 'AFPeak', 'LowBattery', 'Aes256Error'],
    ...['NoClock', 'BadClock', 'An…BNCShorted'],
  ]),
  syncResult: field<string>({
    ...{ address: '/rx*/active_status', unit: 'list of text', range: 'SyncOK or SyncFail, then the result' },
    codes: { Identified: 'no sync', SwUpdatePass: 'no sync', SwUpdateFail: 'no sync' },
    hasForm: Array.isArray,
    convert(raw) {
      const [state, result]: readonly unknown[] = Array.isArray(raw) ? raw : []
      if (state !== 'SyncOK' && state !== 'SyncFail') return null
      const word = readText(result)?.replace(/^SyncResult/, '')
      return word && word !== 'None' ? word : state
    },
  }),
  booster: flag('/sys/booster'),
  bankChannel: field<string>({
    ...{ address: '/rx*/active_bank_channel', unit: 'list', range: 'bank B1 to B6 or U1 to U6, then channel' },
    ...{ codes: { '--': 'no bank' }, hasForm: Array.isArray },
    convert(raw) {
      const [bank, channel]: readonly unknown[] = Array.isArray(raw) ? raw : []
      const isBank = /^[BU][1-6]$/i.test(String(bank)) && typeof channel === 'number'
      return isBank && channel >= 0 && channel <= 99 ? `${String(bank).toUpperCase()},${channel}` : null
    },
  }),
  meters: field<readonly unknown[]>({
    address: '/mm',
    unit: 'list of lists',
    range: 'nine numbers for each channel: RF1, its peak, RF2, its peak, DIV1, DIV2, LQI, AF, its peak',
    hasForm: (raw) => Array.isArray(raw) && raw.every(Array.isArray),
    convert: (raw) => (Array.isArray(raw) ? raw : null),
  }),
  rf: number('/mm RF1, RF2', { unit: '0.5 dBm', min: 0, max: 255, scale: 0.5, offset: -127.5 }),
  inUse: words('/mm DIV1, DIV2', { 0: false, 1: true }),
  quality: number('/mm LQI', { unit: '1/255', min: 0, max: 255 }),
  level: audioLevel('/mm AF', { unit: '0.5 dBFS', min: 0, max: 255, scale: 0.5, offset: -127.5 }),
  scanLevel: number('/rx1/scan/result RF1, RF2', { unit: '0.5 dBm', min: 0, max: 255, scale: 0.5, offset: -127.5 }),
  transmitterType: field<string>({
    ...{ address: '/rx*/skx/type', unit: 'text, or a list with one', range: '' },
    hasForm: isTextOrList,
    convert: (raw) => readText(firstOf(raw)) ?? null,
  }),
  transmitterName: text('/rx*/skx/name'),
  gain: number('/rx*/skx/gain', { unit: 'dB', min: -120, max: 120 }),
  battery: field<readonly unknown[]>({
    address: '/rx*/skx/battery',
    unit: 'list of text',
    range: '100%, 70%, 30% or low, then hours:minutes',
    codes: { low: 'no percentage; shown as 10%', '-:--': 'unknown minutes' },
    hasForm: Array.isArray,
    convert: (raw) => (Array.isArray(raw) ? raw : null),
  }),
}

/** An SL Rack Receiver DW reports the index, an SL MCR DW the word. */
function indexOrWord(address: string, entries: readonly (readonly [word: string, text: string])[]): Field<string> {
  return field({
    ...{ address, unit: 'index or word', range: entries.map(([word]) => word).join(', ') },
    hasForm: (raw) => typeof raw === 'number' || typeof raw === 'string',
    convert: (raw) => entries.find(([word], index) => raw === index || raw === word)?.[1] ?? null,
  })
}

export const speechLine = {
  level: audioLevel('/m/rx*/level', { min: -200 }),
  levelOfRack: audioLevel('/audio/out1/level_db', { min: -200 }),
  gain: number('/audio/rx*/gain', { unit: 'dB', min: -24, max: 12 }),
  gainOfRack: words('/audio/out1/gain_db', { 0: -24, 1: -18, 2: -12, 3: -6, 4: 0, 5: 6, 6: 12 }),
  linked: flag('/mates/tx*/active'),
  linkedOfRack: warnings('/mates/active', ['tx1']),
  transmitterType: indexOrWord('/mates/tx*/device_type', [
    ['HANDHELD', 'Handheld'],
    ['BODYPACK', 'Bodypack'],
    ['TABLE-STAND', 'Tablestand'],
    ['BOUNDARY', 'Boundary'],
  ]),
  batteryType: indexOrWord('/mates/tx*/bat_type', [
    ['BATTERY', 'cells'],
    ['RECHARGEABLE', 'rechargeable'],
  ]),
  acoustic: field<string>({
    ...{ address: '/mates/tx*/acoustic', unit: 'text', range: '', codes: { INCOMPATIBLE: 'unknown' } },
    hasForm: (raw) => typeof raw === 'string',
    convert: (raw) => (raw === 'INCOMPATIBLE' ? null : (readText(raw)?.replaceAll('_', '-') ?? null)),
  }),
  name: text('/rx*/name'),
  quality: percent('/rx*/rf_quality'),
  warnings: warnings('/rx*/warnings', ['No Link', 'Bad Link', 'HW Failure', 'No FW Image', 'TX OTA FWU failed']),
  deviceWarnings: warnings('/device/warnings', [
    ...['HW_FAILURE', 'MIXERDSP_FAILURE', 'SETTINGS_SAVE_FAILED', 'UPDATE_FAILED', 'SETTINGS_DEFAULTD'],
  ]),
  mute: flag('/rx*/mute_state'),
  transmitterWarnings: warnings('/mates/tx*/warnings', ['Low Bat']),
  gauge: percent('/mates/tx*/bat_gauge'),
  lifetime: number('/mates/tx*/bat_lifetime', {
    ...{ unit: 's', min: 1, max: 65_534 },
    codes: { 0: 'not predicted yet', 65535: 'unknown' },
  }),
  health: percent('/mates/tx*/bat_health'),
  cycles: number('/mates/tx*/bat_cycles', { unit: 'count', min: 0, max: 65_534 }),
}

/** Fields of one bay of a CHG 70N, CHG 2N or CHG 4N: an element of the list at the address. */
export const bays = {
  serial: ofBay(text('/bays/serial')),
  gauge: ofBay(percent('/bays/bat_gauge')),
  health: ofBay(percent('/bays/bat_health')),
  cycles: ofBay(number('/bays/bat_cycles', { unit: 'count', min: 0, max: 65_534 })),
  minutesToFull: ofBay(
    number('/bays/bat_timetofull', { unit: 'min', min: 0, max: 65_534, codes: { 65535: 'unknown' } }),
  ),
}

const bayFaults: Readonly<Record<string, Fault>> = {
  BatteryComError: 'communication_failure',
  BatteryNotChargeable: 'battery_error',
  BatteryNotDischargeable: 'battery_error',
  OvercurrentDetected: 'charge_failed',
  BatteryTempOutOfRange: 'temperature_out_of_range',
}

export const chg70n = {
  ...bays,
  type: ofBay(text('/bays/device_type')),
  state: ofBay(
    words('/bays/state', { ERROR: 'battery_error' } as const, {
      ...{ NORMAL: 'no fault', UPDATE: 'no fault', DFU_MODE: 'no fault' },
    }),
  ),
  bayWarning: ofBay(words('/bays/warnings', bayFaults)),
  storageMode: field<Fault>({
    ...{ address: '/device/storage_mode', unit: 'true or false', range: '' },
    hasForm: (raw) => typeof raw === 'boolean',
    convert: (raw) => (raw === true ? 'storage_mode' : null),
  }),
  warnings: warnings('/device/warnings', ['CascadeComError']),
}

/** The bits of the second list of `/bays/state` of a CHG 2N or CHG 4N. */
export const bayBits: readonly Fault[] = ['communication_failure', 'update_failed', 'charge_failed', 'check_charger']

export const chgN = {
  ...bays,
  active: ofBay(flag('/bays/active')),
  type: ofBay(words('/bays/device_type', { 1: 'Handheld', 2: 'Bodypack' }, { 0: 'empty bay' })),
  state: ofBay(words('/bays/state', { 2: 'battery_error' } as const, { 0: 'no fault', 1: 'no fault: update' })),
}

const unknown = { 65280: 'unknown' }
const parameters = '/slot*/subslot*/accu_parameter'

/** Index in `accu_parameter` -> field. */
export const l6000 = {
  type: words('/slot*/type', { 1: 'BA 60', 2: 'BA 61' }, { 0: 'no module', 3: 'defective module' }),
  parameters: field<readonly unknown[]>({
    address: parameters,
    unit: 'list of numbers',
    range: 'twelve numbers, as below',
    hasForm: Array.isArray,
    convert: (raw) => (Array.isArray(raw) ? raw : null),
  }),
  temperature: number(`${parameters} 0`, { unit: '°C', min: -40, max: 215, codes: { [-100]: 'no battery' } }),
  hours: number(`${parameters} 5`, { unit: 'h', min: 0, max: 999, codes: unknown }),
  minutes: number(`${parameters} 6`, { unit: 'min', min: 0, max: 59, codes: unknown }),
  charge: percent(`${parameters} 7`, unknown),
  cycles: number(`${parameters} 8`, { unit: 'count', min: 0, max: 65_279, codes: unknown }),
  health: percent(`${parameters} 9`, unknown),
  hoursToFull: number(`${parameters} 10`, { unit: 'h', min: 0, max: 999, codes: unknown }),
  minutesToFull: number(`${parameters} 11`, { unit: 'min', min: 0, max: 59, codes: unknown }),
  warnings: field<readonly unknown[]>({
    address: '/device/warnings',
    unit: 'list of numbers',
    range: '0 to 36',
    codes: {
      '0–7': 'too hot (slot 1/1 to 4/2)',
      '8–15': 'no fault: regenerating',
      '16–23': 'defective',
      '24–27': 'fan defective',
      28: 'device too hot',
      '29–36': 'too cold',
    },
    hasForm: Array.isArray,
    convert: (raw) => (Array.isArray(raw) ? raw : null),
  }),
  led: field<Fault>({
    address: '/slot*/subslot*/led',
    unit: 'word',
    range: 'RED, and two colours flashing for storage mode',
    codes: { GREEN: 'no fault', GREEN_FLASHING: 'no fault', YELLOW: 'no fault', YELLOW_FLASHING: 'no fault' },
    hasForm: (raw) => typeof raw === 'string',
    convert(raw) {
      if (raw === 'RED') return 'battery_error'
      if (raw === 'RED_FLASHING') return 'temperature_out_of_range'
      return /^(RED|GREEN|YELLOW)_(RED|GREEN|YELLOW)/.test(String(raw)) ? 'storage_mode' : null
    },
  }),
}

const guide = "SSC developer's guide"

export const tables: readonly FieldTable[] = [
  { family: 'Every SSC 1 device', source: `${guide} for EW-DX and Digital 6000`, fields: identity },
  { family: 'EW-DX over SSC 1', source: `${guide} for EW-DX, firmware 3.0`, fields: ewdx },
  { family: 'Digital 6000', source: `${guide} for Digital 6000 (TI 1109 v2.2)`, fields: digital6000 },
  { family: 'SpeechLine', source: `${guide} for SpeechLine Digital Wireless (TI 1094 v4.3)`, fields: speechLine },
  { family: 'CHG 70N', source: `${guide} for EW-DX with CHG 70N; the public Companion module`, fields: chg70n },
  { family: 'CHG 2N, CHG 4N', source: `${guide} for SpeechLine Digital Wireless (TI 1094 v4.3)`, fields: chgN },
  {
    family: 'L 6000',
    source: `${guide} for Digital 6000 (TI 1109 v2.2); the public Companion module`,
    fields: l6000,
  },
]
