/** Reads meter values as soon as they arrive, because a device sends up to ten a second for each channel. */

import type { LevelSample } from '../../../domain/levels/level-sample.ts'
import type { OnLevels } from '../../plugin.ts'
import { Fields, skipToFrame } from './message-fields.ts'
import type { PropertyStore } from './property-store.ts'
import type { StringsDevice } from './translate.ts'

/**
 * Creates a function that takes received bytes, which begin with a frame, and passes the levels in the leading frames to
 * `onLevels`. Returns the bytes from the first frame that is incomplete or contains anything else.
 */
export function createLevelReader(
  { id, family }: Pick<StringsDevice, 'id' | 'family'>,
  store: Pick<PropertyStore, 'dropSample'>,
  onLevels: OnLevels,
): (bytes: Buffer) => Buffer {
  const { readSample } = family
  // On UHF-R, the meters also show whether a transmitter is present, which is not a level.
  if (readSample === null || family.name === 'uhfr') return (bytes) => bytes
  /** Whether the channel's sample has been removed from the store, by channel number. */
  const isDropped: boolean[] = []

  function read(): LevelSample | null {
    const channel = fields.byte(1, maxChannel)
    if (channel === null || !fields.is(0, 'SAMPLE') || !fields.is(2, 'ALL')) return null
    const levels = readSample?.(fields, firstLevel) ?? null
    if (levels === null) return null
    return { channel, rf_level: levels.rf_level, audio_level: levels.audio_level, details: levels.details }
  }

  return (bytes) => {
    const samples: LevelSample[] = []
    let offset = skipToFrame(bytes, 0)
    while (offset < bytes.length) {
      const end = fields.readFrame(bytes, offset)
      const sample = end < 0 ? null : read()
      if (sample === null) break
      samples.push(sample)
      // The sample in the store is older. It is removed, because otherwise a report about the channel would include it.
      if (isDropped[sample.channel] !== true) {
        isDropped[sample.channel] = true
        store.dropSample(sample.channel)
      }
      offset = skipToFrame(bytes, end)
    }
    if (samples.length > 0) onLevels(id, samples)
    // The remaining bytes may contain samples, which the caller adds to the store.
    if (offset < bytes.length) isDropped.length = 0
    return bytes.subarray(offset)
  }
}

/** Shared by all readers, because each message is read completely before the next one. */
const fields = new Fields()
/** The field with the first level in ` SAMPLE 1 ALL AX 100 030 `. */
const firstLevel = 3
const maxChannel = 99
