/**
 * Parses the meter values of each family: the layouts of `SAMPLE n ALL …`. Formulas: Shure's document for each family.
 */

import type { ChannelDetails } from '../../../domain/equipment/details.ts'
import { readAudioLevel, readRfLevel, withoutUndefined } from '../../../upstream/fields.ts'
import { type RawValue, readByte, readShifted } from './values.ts'

export interface Sample {
  readonly rf_level: number | null
  readonly audio_level: number | null
  readonly details: ChannelDetails
}

/** Parses the fields of a sample from index `first` on; returns null if they do not match the layout. */
export type ReadSample = (fields: readonly string[], first: number) => Sample | null

/** `AX 100 030`: antennas, RF in dBm plus 128, RMS audio in dBFS plus 50. */
export const readUlxdSample: ReadSample = (fields, first) => {
  if (fields.length !== first + 3) return null
  const audio_rms = toAudio(fields[first + 2], 50)
  return {
    rf_level: toRf(fields[first + 1], 128),
    audio_level: audio_rms,
    details: { antennas: activeAntennas(fields[first] ?? ''), audio_rms },
  }
}

/** `102 102 086`: audio peak, audio RMS and RF, each plus 120. */
export const readSlxdSample: ReadSample = (fields, first) => {
  if (fields.length !== first + 3) return null
  const audio_rms = toAudio(fields[first + 1], 120)
  return {
    rf_level: toRf(fields[first + 2], 120),
    audio_level: audio_rms,
    details: { audio_peak: toAudio(fields[first], 120), audio_rms },
  }
}

const antennaKeys = ['rf_a', 'rf_b', 'rf_c', 'rf_d'] as const

/**
 * `005 031 102 102 BB 31 086 31 065`: quality, LEDs, audio peak and RMS, then a group: a letter for each antenna, then
 * LEDs and RF for each antenna. Frequency diversity appends a second group; each antenna's higher RF level is used.
 */
export const readAxientSample: ReadSample = (fields, first) => {
  const levels: (number | null)[] = []
  const inUse = new Set<string>()
  for (let offset = first + 4; offset < fields.length; ) {
    const letters = fields[offset] ?? ''
    if (!/^[XRB]{2,4}$/.test(letters)) return null
    for (const [index, letter] of [...letters].entries()) {
      const rf = fields[offset + 2 + 2 * index]
      if (rf === undefined) return null
      levels[index] = maximum([levels[index] ?? null, toRf(rf, 120)])
      if (letter !== 'X') inUse.add('ABCD'.charAt(index))
    }
    offset += 1 + 2 * letters.length
  }
  if (levels.length === 0) return null
  const audio_rms = toAudio(fields[first + 3], 120)
  const bars = readByte(fields[first], 5) ?? null
  return {
    rf_level: maximum(levels),
    audio_level: audio_rms,
    details: withoutUndefined({
      ...Object.fromEntries(levels.map((level, index) => [antennaKeys[index], level])),
      antennas: [...inUse].sort().join(''),
      audio_peak: toAudio(fields[first + 2], 120),
      audio_rms,
      quality: bars === null ? null : bars * 20,
    }),
  }
}

/** RF ranges from 20 (strong) to 100 (none); no conversion to dBm is known. Audio is an LED bar, not a level. */
export const readUhfrSample: ReadSample = (fields, first) => {
  if (fields.length < first + 4) return null
  const raw = readByte(fields[first + 1]) ?? null
  const percent = raw === null ? null : Math.round((100 * (100 - raw)) / 80)
  return {
    rf_level: null,
    audio_level: null,
    details: {
      antennas: activeAntennas(fields[first] ?? ''),
      rf_percent: percent === null ? null : Math.min(100, Math.max(0, percent)),
    },
  }
}

/** Every report of antennas, for example `AX` -> `A`. `X` stands for an unused antenna. */
const antennasByReport = new Map(
  [...'ABX'].flatMap((first) =>
    ['', 'A', 'B', 'X'].map((second) => [first + second, `${first}${second}`.replaceAll('X', '')]),
  ),
)

/** Returns the letters of the antennas in use; null if the report is not valid. */
export function activeAntennas(raw: string): string | null {
  return antennasByReport.get(raw) ?? null
}

function toRf(raw: RawValue, offset: number): number | null {
  return readRfLevel(readShifted(raw, offset)) ?? null
}

/** Levels above full scale are reported as full scale. */
function toAudio(raw: RawValue, offset: number): number | null {
  return readAudioLevel(readShifted(raw, offset)) ?? null
}

function maximum(levels: readonly (number | null)[]): number | null {
  const known = levels.filter((level) => level !== null)
  return known.length === 0 ? null : Math.max(...known)
}
