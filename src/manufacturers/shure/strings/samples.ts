/**
 * Parses the meter values of each family: the layouts of `SAMPLE n ALL …`, and of `SAMPLE n …` on MXW. Formulas:
 * Shure's document for each family.
 */

import type { ChannelDetails } from '../../../domain/equipment/receiver.ts'
import type { Field } from '../../../upstream/field-table.ts'
import { antennaReports, meters } from './fields.ts'
import { type Fields, pack } from './message-fields.ts'

export interface Sample {
  readonly rf_level: number | null
  readonly audio_level: number | null
  readonly details: ChannelDetails
  /** True if the audio level is too high. Absent if the family's meters do not contain it, null if unknown. */
  readonly isOverloaded?: boolean | null
}

/** The key under which a session stores the overload of a channel, because meter values themselves are not stored. */
export const overloadKey = 'AUDIO_OVERLOAD'

/** Parses the fields of a sample, starting at field `first`. Returns null if they do not match the layout. */
export type ReadSample = (fields: Fields, first: number) => Sample | null

/** `AX 100 030`: antennas, RF in dBm plus 128, RMS audio in dBFS plus 50. */
export const readUlxdSample: ReadSample = (fields, first) => {
  if (fields.count !== first + 3) return null
  const audio_rms = read(meters.audioOfUlxd, fields, first + 2)
  return {
    rf_level: read(meters.rfOfUlxd, fields, first + 1),
    audio_level: audio_rms,
    details: { antennas: readAntennas(fields, first), audio_rms },
  }
}

/** `102 102 086`: audio peak, audio RMS and RF, each plus 120. */
export const readSlxdSample: ReadSample = (fields, first) => {
  if (fields.count !== first + 3) return null
  const audio_rms = read(meters.audio, fields, first + 1)
  return {
    rf_level: read(meters.rf, fields, first + 2),
    audio_level: audio_rms,
    details: { audio_peak: read(meters.audio, fields, first), audio_rms },
  }
}

/** The highest bit of the audio LEDs is the overload LED. */
const overloadBit = 128

const antennaKeys = ['rf_a', 'rf_b', 'rf_c', 'rf_d'] as const

/**
 * `005 031 102 102 BB 31 086 31 065`: quality, LEDs, audio peak, audio RMS, then a group of one letter per antenna
 * (`BB`), and LEDs and RF for each antenna. With frequency diversity, a second group follows. The higher of an
 * antenna's two RF levels is used.
 */
export const readAxientSample: ReadSample = (fields, first) => {
  const details: { -readonly [Name in keyof ChannelDetails]: ChannelDetails[Name] } = {}
  let rf_level: number | null = null
  let inUse = ''
  let antennas = 0
  for (let group = first + 4; group < fields.count; ) {
    const letters = fields.text(group)
    if (!/^[XRB]{2,4}$/.test(letters) || group + 2 * letters.length >= fields.count) return null
    antennas = Math.max(antennas, letters.length)
    for (let index = 0; index < letters.length; index += 1) {
      const key = antennaKeys[index as 0 | 1 | 2 | 3]
      details[key] = higher(details[key] ?? null, read(meters.rf, fields, group + 2 + 2 * index))
      rf_level = higher(rf_level, details[key])
      const antenna = 'ABCD'.charAt(index)
      if (letters.charAt(index) !== 'X' && !inUse.includes(antenna)) inUse += antenna
    }
    group += 1 + 2 * letters.length
  }
  if (antennas === 0) return null
  const audio_rms = read(meters.audio, fields, first + 3)
  details.antennas = [...inUse].sort().join('')
  details.audio_peak = read(meters.audio, fields, first + 2)
  details.audio_rms = audio_rms
  details.quality = read(meters.quality, fields, first)
  const leds = read(meters.leds, fields, first + 1)
  return { rf_level, audio_level: audio_rms, details, isOverloaded: leds === null ? null : leds >= overloadBit }
}

/** RF ranges from 20 (strong) to 100 (none); no conversion to dBm is known. Audio is an LED bar, not a level. */
export const readUhfrSample: ReadSample = (fields, first) => {
  if (fields.count < first + 4) return null
  const raw = read(meters.rfOfUhfr, fields, first + 1)
  const percent = raw === null ? null : Math.round((100 * (100 - raw)) / 80)
  return {
    rf_level: null,
    audio_level: null,
    details: {
      antennas: readAntennas(fields, first),
      rf_percent: percent === null ? null : Math.min(100, Math.max(0, percent)),
    },
  }
}

/** The highest RF level of an MXW access point. Its document has no unit for it or for the audio level. */
const mxwFullRf = 96

/** `058 045`: RF and audio. */
export const readMxwSample: ReadSample = (fields, first) => {
  if (fields.count !== first + 2) return null
  const raw = read(meters.rfOfMxw, fields, first)
  const rf_percent = raw === null ? null : Math.round((100 * raw) / mxwFullRf)
  return { rf_level: null, audio_level: null, details: { rf_percent } }
}

/** `058 090`: RF in dBm plus 110 and audio in dBFS plus 120. */
export const readMxwNextSample: ReadSample = (fields, first) => {
  if (fields.count !== first + 2) return null
  return {
    rf_level: read(meters.rfOfMxwNext, fields, first),
    audio_level: read(meters.audio, fields, first + 1),
    details: {},
  }
}

const antennasByCharacters = new Map(
  antennaReports.map((report) => {
    const [first = 0, second] = Buffer.from(report)
    return [second === undefined ? first : pack(first, second), meters.antennas.read(report) ?? null]
  }),
)

function readAntennas(fields: Fields, index: number): string | null {
  const characters = fields.characters(index)
  return characters === null ? null : (antennasByCharacters.get(characters) ?? null)
}

function read(meter: Field<number>, fields: Fields, index: number): number | null {
  return meter.read(fields.byte(index)) ?? null
}

function higher(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}
