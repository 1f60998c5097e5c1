/** Reads meter values as soon as they arrive, because a device sends up to ten a second for each channel. */

import type { LevelSample } from '../../../domain/levels/level-sample.ts'
import type { OnLevels } from '../../plugin.ts'
import type { PropertyStore } from './property-store.ts'
import type { StringsDevice } from './translate.ts'

/**
 * Creates a function that passes the levels in the messages to `onLevels` and returns the other messages. Samples in an
 * unusual format count as other messages.
 */
export function createLevelReader(
  { id, family }: Pick<StringsDevice, 'id' | 'family'>,
  store: Pick<PropertyStore, 'putSample'>,
  onLevels: OnLevels,
): (messages: readonly string[]) => readonly string[] {
  const { readSample } = family
  // On UHF-R, the meters also show whether a transmitter is present, which is not a level.
  if (readSample === null || family.name === 'uhfr') return (messages) => messages
  /** The last sample of each channel, by channel number. */
  const last: (readonly string[])[] = []

  function read(message: string): LevelSample | null {
    const fields = splitSample(message)
    const levels = fields && readSample?.(fields, firstLevel)
    if (fields === null || !levels) return null
    const channel = Number(fields[2])
    last[channel] = fields
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
      for (const [channel, fields] of last.entries()) {
        if (fields !== undefined) store.putSample(channel, fields.slice(firstLevel).join(' '))
      }
    }
    return others
  }
}

/** The index of the first level in ` SAMPLE 1 ALL AX 100 030 `, split at spaces. */
const firstLevel = 4

/** Splits a sample at its single spaces, without the last. Null if the message has another format. */
function splitSample(message: string): readonly string[] | null {
  if (!message.startsWith(' SAMPLE ')) return null
  const fields = message.split(' ')
  const isSample = fields.pop() === '' && fields[3] === 'ALL' && fields.lastIndexOf('') === 0
  return isSample && channelNumber.test(fields[2] ?? '') ? fields : null
}

const channelNumber = /^\d{1,2}$/
