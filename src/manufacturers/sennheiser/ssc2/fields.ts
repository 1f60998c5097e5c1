/** The fields of SSC 2 devices: the path of a resource, then its property. */

import { isRecord } from '../../../domain/json.ts'
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
import { capsule, lowCut } from '../values.ts'

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
  channelWarnings: warnings(`${channel}/warnings`, ['NoLink', 'LowSignal', 'RfPeak', 'AfPeak', 'Aes256Error']),
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
  transmitterWarnings: warnings(`${transmitter}/warnings`, ['AfPeak', 'LowBattery']),
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

export const spectera = {
  ...common,
  psu1: words('/api/health/psu psu1', { disconnected: true, connected: false, unconnected: false }),
  psu2: words('/api/health/psu psu2', { disconnected: true, connected: false, unconnected: false }),
  temperature: field<boolean>({
    address: '/api/health/tempstateoverall value',
    unit: 'word',
    range: 'normal, low, warning, high, critical',
    hasForm: (raw) => typeof raw === 'string',
    convert: (raw) => (typeof raw === 'string' ? /^(high|warning|critical)$/i.test(raw) : null),
  }),
  fan: field<boolean>({
    address: '/api/health/fan/FAN_*/errorstate value',
    unit: 'word, or true or false',
    range: 'Ok, Error_1, Error_2, Broken',
    hasForm: (raw) => typeof raw === 'string' || typeof raw === 'boolean',
    convert: (raw) => (typeof raw === 'boolean' ? raw : /^(error|broken)/i.test(String(raw))),
  }),
  antennaState: words(
    '/api/rf/antennas/* state',
    { Error: true, Connected: false },
    { Unconnected: 'no antenna', Updating: 'starting', Initializing: 'starting', Initialized: 'in use' },
  ),
  antennaHot: flag('/api/rf/antennas/* warningHighTemperature'),
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
