/** The fields of SSC 2 devices: the path of a resource, then its property. */

import type { Fault } from '../../../domain/equipment/receiver.ts'
import { isRecord, type Json } from '../../../domain/json.ts'
import {
  audioLevel,
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

const runtimeCodes = { 65535: 'unknown' }

const severities = { None: false, Low: true, Mid: true, High: true }

export const common = {
  product: text('/api/device/identity product'),
  serial: { ...text('/api/device/identity serial'), codes: { '0…0': 'unknown' } },
  deviceName: text('/api/device/site deviceName'),
  location: text('/api/device/site location'),
  deviceVersion: text('/api/firmware/update/state deviceVersion'),
  state: words(
    '/api/device/state state',
    { CriticalFailure: 'hardware_failure' } as const,
    Object.fromEntries(
      ['Initializing', 'Normal', 'FactoryReset', 'Standby', 'Cooldown', 'Warmup'].map((word) => [word, 'no fault']),
    ),
  ),
}

const channel = '/api/channel/*'
const transmitter = '/api/transmitters/*'

export const ewdx = {
  ...common,
  code: text('/api/rf code'),
  mode: words('/api/rf/transmission mode', { Standard: 'standard', LinkDensity: 'link_density' } as const),
  encryption: flag('/api/rf/encryption enabled'),
  name: text(`${channel} name`),
  mute: flag(`${channel} mute`),
  gain: number(`${channel} gain`, { unit: 'dB', min: -3, max: 42 }),
  channelWarnings: warnings(`${channel}/warnings`, channelWarnings),
  frequency: number('/api/rf/channels/* frequency', { unit: 'kHz', min: 1, max: 99_999_999 }),
  rf: number(`${channel}/signalStrengthIndicator value`, { unit: 'dBm', min: -200, max: 50 }),
  quality: percent(`${channel}/signalQualityIndicator value`),
  antenna: words(`${channel}/diversityIndicator value`, { 0: '', 1: 'A', 2: 'B' }),
  level: audioLevel(`${channel}/level value`, { min: -200 }),
  transmitterType: text(`${transmitter} type`),
  transmitterName: text(`${transmitter} name`),
  transmitterMute: flag(`${transmitter} mute`),
  capsule: capsule(`${transmitter} capsule`),
  lowCut: lowCut(`${transmitter} lowcut`),
  trim: number(`${transmitter} trim`, { unit: 'dB', min: -12, max: 6 }),
  transmitterWarnings: warnings(`${transmitter}/warnings`, transmitterWarnings),
  gauge: percent(`${transmitter}/battery gauge`),
  lifetime: number(`${transmitter}/battery lifetime`, {
    ...{ unit: 'min', min: 0, max: 65_534 },
    codes: runtimeCodes,
  }),
  batteryType: words(
    `${transmitter}/battery type`,
    { Battery: 'rechargeable', PrimaryCell: 'cells' },
    { NoBattery: 'no battery' },
  ),
}

const pack = '/api/mts/paired/*'
const severity = words('severity', severities)

/** The link state of a microphone, from `micLqi`. */
interface LinkState {
  readonly isMuted: boolean
  readonly isConcealed: boolean
  readonly quality: number | null
}

const received = { isMuted: false, isConcealed: false }

/** Public clients disagree about the case of words, and newer firmware may have other words. */
function faultWord(address: string, fault: Fault, { range, pattern }: { range: string; pattern: RegExp }) {
  return field<Fault>({
    ...{ address, unit: 'word', range },
    hasForm: (raw) => typeof raw === 'string',
    convert: (raw) => (pattern.test(String(raw)) ? fault : null),
  })
}

/** Reads any word, to be shown as it is. A value of another kind is unknown; undefined if it was not reported. */
export function readWord(raw: unknown): string | null | undefined {
  if (raw === undefined) return undefined
  return typeof raw === 'string' || typeof raw === 'boolean' ? readText(String(raw)) : null
}

const interfaces = '/api/audio/interface/'

/** A property of the status of an interface, which is an object. */
function statusField(address: string, range: string, select: (status: Json) => unknown) {
  return field<string>({
    ...{ address, unit: 'object', range },
    hasForm: isRecord,
    convert: (raw) => readWord(isRecord(raw) ? select(raw) : null) ?? null,
  })
}

function inputField(address: string) {
  return statusField(address, 'status', ({ status }) => status)
}

function outputField(address: string) {
  const range = 'outputClockSource, in API 17 clockSource'
  return statusField(address, range, ({ outputClockSource, clockSource }) => outputClockSource ?? clockSource)
}

/** Public texts name the words, but not the property. */
function findEntitlement(raw: unknown): unknown {
  return isRecord(raw) ? Object.values(raw).find((value) => /^(NOT_)?ACTIVATED$/.test(String(value))) : undefined
}

/** A supply that is `unconnected` was never fitted. */
const supply = { range: 'connected, unconnected, disconnected', pattern: /^(disconnected|error|broken|fail)/i }

export const spectera = {
  ...common,
  psu1: faultWord('/api/health/psu psu1', 'supply_failed', supply),
  psu2: faultWord('/api/health/psu psu2', 'supply_failed', supply),
  temperature: faultWord('/api/health/tempstateoverall value', 'device_too_hot', {
    ...{ range: 'normal, low, warning, high, critical', pattern: /^(high|warning|critical)$/i },
  }),
  fan: field<Fault>({
    address: '/api/health/fan/FAN_*/errorstate value',
    unit: 'word, or true or false',
    range: 'Ok, Error_1, Error_2, Broken',
    hasForm: (raw) => typeof raw === 'string' || typeof raw === 'boolean',
    convert: (raw) => (raw === true || /^(error|broken|fail)/i.test(String(raw)) ? 'fan_failed' : null),
  }),
  antennaState: words('/api/rf/antennas/* state', { Error: 'antenna_error' } as const, {
    Unconnected: 'no antenna',
    Connected: 'starting',
    Updating: 'starting',
    Initialized: 'in use',
  }),
  antennaHot: flag('/api/rf/antennas/* warningHighTemperature'),
  antennaType: { ...text('/api/rf/antennas/* type'), codes: { NA: 'unknown' } },
  antennaError: field<string>({
    ...{ address: '/api/rf/antennas/* errorStateDetails', unit: 'text', range: '', codes: { NA: 'no error' } },
    hasForm: (raw) => typeof raw === 'string',
    convert: (raw) => (raw === 'NA' ? null : (readText(raw) ?? null)),
  }),
  antennaTemperature: number('/api/rf/antennas/* temperature', {
    unit: '°C',
    min: -54,
    max: 215,
    codes: { [-55]: 'off' },
  }),
  packetErrors: flag('/api/rf/antennas/* warningPacketError'),
  antennaInterference: field<string>({
    ...{ address: '/api/rf/antennas/* interference', unit: 'severity', range: Object.keys(severities).join(', ') },
    hasForm: (raw) => isRecord(raw) && typeof raw.severity === 'string',
    convert: (raw) => readWord(isRecord(raw) ? raw.severity : null) ?? null,
  }),
  deviceWarnings: warnings('/api/device/state warnings', ['FailureLogsAvailable']),
  entitlement: field<string>({
    ...{ address: '/api/device/entitlement', unit: 'object', range: 'a property with ACTIVATED or NOT_ACTIVATED' },
    hasForm: (raw) => findEntitlement(raw) !== undefined,
    convert: (raw) => readWord(findEntitlement(raw)) ?? null,
  }),
  aoipType: { ...text(`${interfaces}aoip/status aoIpType`), range: 'in API 17 audioNetworkType' },
  aoipStatus: text(`${interfaces}aoip/status status`),
  madiType: text(`${interfaces}madi*/status moduleType`),
  madiInput: inputField(`${interfaces}madi*/status inputStatus`),
  madiOutput: outputField(`${interfaces}madi*/status outputStatus`),
  wordClockInput: inputField(`${interfaces}wordclock/status inputStatus`),
  wordClockOutput: outputField(`${interfaces}wordclock/status outputStatus`),
  testTone: flag(`${pack} micTestToneEnabled`),
  versionMismatch: flag(`${pack} versionMismatch`),
  talkKey: words(
    `${pack} commandState`,
    { Pressed: true, Latched: true, Released: false, Unlatched: false },
    { Unknown: 'unknown', NotAvailable: 'no talk key' },
  ),
  frequency: number('/api/rf/channels/* frequency', { unit: 'kHz', min: 1, max: 99_999_999 }),
  packSerial: { ...text(`${pack} serial`), codes: { '0…0': 'unknown' } },
  name: text(`${pack} name`),
  type: text(`${pack} type`),
  charge: percent(`${pack} batteryFillLevel`, { [-1]: 'unknown' }),
  runtime: number(`${pack} batteryRuntime`, {
    ...{ unit: 'min', min: 0, max: 65_534 },
    codes: { [-1]: 'unknown', ...runtimeCodes },
  }),
  batteryLow: flag(`${pack} batteryLow`),
  rf: number(`${pack} rssi`, { unit: 'dBm', min: -200, max: 50 }),
  connection: words(
    `${pack} state`,
    { Connected: true },
    Object.fromEntries(['Disconnected', 'Syncing', 'Sleeping', 'Updating'].map((word) => [word, 'not received'])),
  ),
  antenna: words(
    `${pack} dominantAntenna`,
    Object.fromEntries(
      [...'abcd'].flatMap((port) => [port, port.toUpperCase()].map((raw) => [raw, port.toUpperCase()])),
    ),
    { NotAvailable: 'unknown' },
  ),
  interference: field<boolean>({
    ...{ address: `${pack} interference`, unit: 'severity', range: Object.keys(severities).join(', ') },
    hasForm: (raw) => isRecord(raw) && typeof raw.severity === 'string',
    convert: (raw) => severity.read(isRecord(raw) ? raw.severity : null) ?? null,
  }),
  linkState: words<LinkState>(
    `${pack} micLqi`,
    {
      1: { ...received, isMuted: true, quality: null },
      2: { ...received, isConcealed: true, quality: null },
      3: { ...received, quality: 50 },
      4: { ...received, quality: 100 },
    },
    { 0: 'not available', 1: 'muted', 2: 'errors are concealed', 3: 'some bad bits', 4: 'good' },
  ),
  gain: number(`${pack} micPreampGain`, { unit: 'dB', min: -120, max: 120 }),
  micLink: number(`${pack} micAudiolinkId`, { unit: 'number', min: 0, max: 1023, codes: { [-1]: 'no link' } }),
  iemLink: number(`${pack} iemAudiolinkId`, { unit: 'number', min: 0, max: 1023, codes: { [-1]: 'no link' } }),
  outputLink: number('/api/audio/outputs/* micAudiolinkId', {
    ...{ unit: 'number', min: 0, max: 1023 },
    codes: { [-1]: 'no link' },
  }),
  meters: field<object>({
    address: '/api/audio/metering *Out',
    unit: 'dBFS',
    range: 'lists peak and rms, one value for each output',
    codes: { '-127.5': 'silence' },
    hasForm: (raw) => isRecord(raw) && Array.isArray(raw.peak) && Array.isArray(raw.rms),
    convert: (raw) => (isRecord(raw) ? raw : null),
  }),
}

export const tables: readonly FieldTable[] = [
  { family: 'EW-DX over SSC 2', source: 'SSC 2 specification 2.3, OpenAPI description of EW-DX 1.7', fields: ewdx },
  {
    family: 'Spectera Base Station',
    source: 'OpenAPI description 18.1; public clients, which disagree about the words for fans and temperature',
    fields: spectera,
  },
]
