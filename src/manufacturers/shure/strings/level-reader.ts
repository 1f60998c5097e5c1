/** Reads meter values as soon as they arrive, because a device sends up to ten a second for each channel. */

import type { LevelSample } from '../../../domain/levels/level-sample.ts'
import type { OnLevels } from '../../plugin.ts'
import { Fields } from './message-fields.ts'
import type { PropertyStore } from './property-store.ts'
import type { StringsDevice } from './translate.ts'

/**
 * Creates a function that passes the levels in the messages to `onLevels` and returns the other messages. Samples whose
 * format is not known are other messages.
 */
export function createLevelReader(
  { id, family }: Pick<StringsDevice, 'id' | 'family'>,
  store: Pick<PropertyStore, 'putSample'>,
  onLevels: OnLevels,
): (messages: readonly string[]) => readonly string[] {
  const { readSample } = family
  // On UHF-R, the meters also show whether a transmitter is present, which is not a level.
  if (readSample === null || family.name === 'uhfr') return (messages) => messages
  const fields = new Fields()
  /** The last sample of each channel, by channel number. */
  const last: (string | undefined)[] = []

  function read(message: string): LevelSample | null {
    const channel = fields.read(message).byte(1, maxChannel)
    if (channel === null || !fields.is(0, 'SAMPLE') || !fields.is(2, 'ALL')) return null
    const levels = readSample?.(fields, firstLevel) ?? null
    if (levels === null) return null
    last[channel] = message
    return { channel, rf_level: levels.rf_level, audio_level: levels.audio_level, details: levels.details }
  }

  return (messages) => {
    const samples: LevelSample[] = []
    const others: string[] = []
    for (const message of messages) {
      const sample = read(message)
      if (sample === null) others.push(message)
      else samples.push(sample)
    }
    if (samples.length > 0) onLevels(id, samples)
    // A report about a channel includes its last sample.
    if (others.length > 0) {
      for (const [channel, sample] of last.entries()) {
        if (sample !== undefined) store.putSample(channel, fields.read(sample).textFrom(firstLevel))
      }
    }
    return others
  }
}

/** The field with the first level in ` SAMPLE 1 ALL AX 100 030 `. */
const firstLevel = 3
const maxChannel = 99
