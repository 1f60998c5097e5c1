/** What each family meters, and how: the layouts of `SAMPLE n ALL …`. Formulas: Shure's documents of each family. */

import type { ChannelDetails } from '../../../model/details.ts'
import { readAudioLevel, readRfLevel, withoutUndefined } from '../../../upstream/fields.ts'
import { readByte, readShifted, type Word } from './words.ts'

export interface Sample {
  readonly rf_level: number | null
  readonly audio_level: number | null
  readonly details: ChannelDetails
}

/** Null where the words fit no known layout. */
export type ReadSample = (words: readonly string[]) => Sample | null

/** `AX 100 030`: antenna, RF + 128 dBm, audio + 50 dBFS (RMS). */
export const readUlxdSample: ReadSample = ([antennas, rf, audio, ...rest]) => {
  if (audio === undefined || rest.length > 0) return null
  const audio_rms = toAudio(audio, 50)
  return {
    rf_level: toRf(rf, 128),
    audio_level: audio_rms,
    details: { antennas: lettersOf(antennas ?? ''), audio_rms },
  }
}

/** `102 102 086`: audio peak, audio RMS, RF; all + 120. */
export const readSlxdSample: ReadSample = ([peak, rms, rf, ...rest]) => {
  if (rf === undefined || rest.length > 0) return null
  const audio_rms = toAudio(rms, 120)
  return { rf_level: toRf(rf, 120), audio_level: audio_rms, details: { audio_peak: toAudio(peak, 120), audio_rms } }
}

const antennaKeys = ['rf_a', 'rf_b', 'rf_c', 'rf_d'] as const

/**
 * `005 031 102 102 BB 31 086 31 065`: quality, LEDs, audio peak and RMS, then a group: a letter for each antenna and for
 * each of them LEDs and RF. Frequency diversity appends a second group; the better of both counts.
 */
export const readAxientSample: ReadSample = ([quality, , peak, rms, ...groups]) => {
  const levels: (number | null)[] = []
  const inUse = new Set<string>()
  for (let at = 0; at < groups.length; ) {
    const letters = groups[at] ?? ''
    if (!/^[XRB]{2,4}$/.test(letters)) return null
    for (const [nth, letter] of [...letters].entries()) {
      const rf = groups[at + 2 + 2 * nth]
      if (rf === undefined) return null
      levels[nth] = best([levels[nth] ?? null, toRf(rf, 120)])
      if (letter !== 'X') inUse.add('ABCD'.charAt(nth))
    }
    at += 1 + 2 * letters.length
  }
  if (levels.length === 0) return null
  const audio_rms = toAudio(rms, 120)
  const bars = readByte(quality, 5) ?? null
  return {
    rf_level: best(levels),
    audio_level: audio_rms,
    details: withoutUndefined({
      ...Object.fromEntries(levels.map((level, nth) => [antennaKeys[nth], level])),
      antennas: [...inUse].sort().join(''),
      audio_peak: toAudio(peak, 120),
      audio_rms,
      quality: bars === null ? null : bars * 20,
    }),
  }
}

/** A full scale of 20 to 100, the weaker the larger; there is no formula to dBm. Audio is a row of LEDs, no level. */
export const readUhfrSample: ReadSample = ([antennas, rf, , battery]) => {
  if (battery === undefined) return null
  const raw = readByte(rf) ?? null
  const share = raw === null ? null : Math.round((100 * (100 - raw)) / 80)
  return {
    rf_level: null,
    audio_level: null,
    details: {
      antennas: lettersOf(antennas ?? ''),
      rf_percent: share === null ? null : Math.min(100, Math.max(0, share)),
    },
  }
}

/** Letters of the antennas in use, of a word in which X stands for one that is not. */
export function lettersOf(word: string): string | null {
  return /^[ABX]{1,2}$/.test(word) ? word.replaceAll('X', '') : null
}

function toRf(word: Word, offset: number): number | null {
  return readRfLevel(readShifted(word, offset)) ?? null
}

/** What is louder than full scale is at full scale. */
function toAudio(word: Word, offset: number): number | null {
  return readAudioLevel(readShifted(word, offset)) ?? null
}

function best(levels: readonly (number | null)[]): number | null {
  const known = levels.filter((level) => level !== null)
  return known.length === 0 ? null : Math.max(...known)
}
