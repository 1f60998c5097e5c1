/** The fields of each family: the command, and the number of the value if the answer has several. */

import { digits, type Field, type FieldTable, field, text, words } from '../../upstream/field-table.ts'
import { maxNameChars, readText } from '../../upstream/fields.ts'
import { parseInteger, parseMinutes } from './codec.ts'

/** Codes that are sent as text, with or without leading zeros. */
function codes<Value>(address: string, values: Readonly<Record<number, Value>>): Field<Value> {
  const inner = words<Value>(address, values)
  const parse = (raw: unknown) => (typeof raw === 'string' ? parseInteger(raw) : Number.NaN)
  return {
    ...inner,
    hasForm: (raw) => raw === null || raw === undefined || !Number.isNaN(parse(raw)),
    read: (raw) => (raw === undefined ? undefined : inner.read(parse(raw))),
  }
}

const onOff = (address: string) => codes(address, { 0: false, 1: true })

const percent = (address: string) => digits(address, { unit: '%', min: 0, max: 100 })

/** Asterisks at the beginning or end of a name are not part of it. */
const name = (address: string) => ({
  ...text(address),
  read: (raw: unknown) => readText(typeof raw === 'string' ? raw.replace(/^\*+|\*+$/g, '') : raw, maxNameChars),
})

/** Hours and minutes in four digits, in minutes. */
const duration = (address: string) =>
  field<number>({
    address,
    unit: 'hhmm',
    range: 'up to 9959',
    hasForm: (raw) => typeof raw === 'string' && /^\d{4}$/.test(raw),
    convert(raw) {
      const minutes = parseMinutes(String(raw))
      return Number.isNaN(minutes) ? null : minutes
    },
  })

interface Level {
  /** The step; undefined if no link precedes it. */
  readonly step: number | undefined
  /** The status of the link; the step if there is no link. */
  readonly first: number
}

/** A step of a level, alone or after the status of the link: public sources disagree. */
function level<Value>(
  address: string,
  options: Pick<Field<Value>, 'range' | 'codes'> & { readonly convert: (level: Level) => Value | null | undefined },
): Field<Value> {
  return field<Value>({
    address,
    unit: 'list: a step, or the link and a step',
    range: options.range,
    codes: options.codes,
    hasForm: (raw) =>
      Array.isArray(raw) && [1, 2].includes(raw.length) && raw.every((value) => !Number.isNaN(parseInteger(value))),
    convert(raw) {
      const [first = Number.NaN, step] = (raw as readonly string[]).map(parseInteger)
      return options.convert({ first, step }) ?? null
    },
  })
}

/** In dBm and dBFS: the middle of the range of each step, or the limit of the open range. */
const rfSteps = [null, -87, -81, -75, -69, -63, -57, -54]
const audioSteps = [null, -45, -35, -25, -16, -9, -4, -1]
const belowSteps = -50

const toStep = (steps: readonly (number | null)[], { first, step }: Level) =>
  step === undefined ? steps[first] : first === 1 ? steps[step] : null

/** The fields of all families. */
export const device = {
  model: text('gmymodel'),
  network: codes('gipnet 1', { 0: 'auto', 1: 'static' } as const),
  ip: text('gipnet 2'),
  netmask: text('gipnet 3'),
  gateway: text('gipnet 4'),
  mac: text('gipnet 6'),
  name: name('gmyname'),
}

export const system20 = {
  ...device,
  id: field<string>({
    address: 'gmyid',
    unit: 'text',
    range: '8 hexadecimal digits',
    codes: { '00000000': 'no ID' },
    hasForm: (raw) => typeof raw === 'string' && /^[0-9a-f]{8}$/i.test(raw),
    convert: (raw) => (/^0+$/.test(String(raw)) ? null : String(raw).toUpperCase()),
  }),
  firmware: text('gsys20version'),
  isMuted: onOff('gchmute'),
  volume: digits('gchvolume', { unit: 'dB', min: 0, max: 40, offset: -20 }),
  isLinked: onOff('glevelbatttx 1'),
  charge: digits('glevelbatttx 2', { unit: 'quarters', min: 0, max: 4, scale: 25 }),
  transmitterName: name('gtxdeviceid'),
  transmitterModel: text('gtxmodel'),
  transmitterGain: digits('gtxmicgain', { unit: '2 dB', min: 0, max: 15, scale: 2, offset: -10 }),
  batteryType: codes('gtxbattery', { 0: 'alkaline', 1: 'NiMH', 2: 'lithium' }),
  isTransmitterMuted: onOff('gtxmute'),
}

export const esw = {
  ...device,
  firmware: text('gmyversion'),
  location: name('glocationname'),
  channelName: name('gchname'),
  isChannelMuted: onOff('gchmute'),
  volume: digits('gchvolume', { unit: 'dB', min: 0, max: 40, offset: -30 }),
  rf: level('glevelrf', {
    range: '1 to 7: −90 to −84 dBm, and so on to −54 dBm and more',
    codes: { 0: 'no link' },
    convert: (reported) => toStep(rfSteps, reported),
  }),
  /** Without its status, step 0 of the RF level means that there is no link. */
  isLinked: level('glevelrf', {
    range: 'link 0, 1; a step alone: 1 to 7',
    codes: { 0: 'no link' },
    convert: ({ first, step }) =>
      first === 0 ? false : (step === undefined ? rfSteps[first] : first === 1) ? true : null,
  }),
  audio: level('glevelafrx', {
    range: '1 to 7: −50 to −40 dBFS, and so on to −1 dBFS and more; after the link, 0 is below −50 dBFS',
    codes: { 0: 'alone: no link' },
    convert: (reported) => (reported.first === 1 && reported.step === 0 ? belowSteps : toStep(audioSteps, reported)),
  }),
  isMuted: onOff('gstsmute 1'),
  isTransmitterMuted: onOff('gstsmute 2'),
  transmitterName: name('gtxname'),
  /** Handheld, bodypack, boundary microphone, desk stand. */
  transmitterModel: codes('gtxkind', { 0: 'ESW-T4102', 1: 'ESW-T4101', 2: 'ESW-T4106', 3: 'ESW-T4107' }),
  transmitterGain: digits('gtxmicgain', { unit: '3 dB', min: 1, max: 11, scale: 3, offset: -12 }),
  isBatteryCurrent: onOff('glevelbatttx 1'),
  charge: percent('glevelbatttx 2'),
  minutes: duration('glevelbatttx 3'),
}

export const charger = {
  ...device,
  location: name('glocationname'),
  isOccupied: onOff('glevelbatt 1'),
  charge: percent('glevelbatt 2'),
  cycles: digits('glevelbatt 3', { unit: 'count', min: 0, max: 65_534, codes: { 65535: 'unknown' } }),
  health: percent('glevelbatt 4'),
  minutesToFull: duration('glevelbatt 5'),
  temperature: digits('glevelbatt 6', { unit: '°C', min: -40, max: 125 }),
  transmitterName: name('gtxname'),
  transmitterModel: text('gtxmodel'),
}

const eswSource =
  'ESW IP Control Specification V1, as listed in the public ai4av catalogue, and the Companion module for ESW'

export const tables: readonly FieldTable[] = [
  {
    family: 'System 20 PRO',
    source:
      'System 20 PRO IP Control Protocol Specifications V0.0.5, as listed in the public ai4av catalogue, and the Companion module for System 20 PRO',
    fields: system20,
  },
  { family: 'ESW', source: eswSource, fields: esw },
  { family: 'ESW chargers', source: eswSource, fields: charger },
]
