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
  store: Pick<PropertyStore, 'putSample'>,
  onLevels: OnLevels,
): (bytes: Buffer) => Buffer {
  const { readSample } = family
  // On UHF-R, the meters also show whether a transmitter is present, which is not a level.
  if (readSample === null || family.name === 'uhfr') return (bytes) => bytes
  const fields = new Fields()
  const last = new LastSamples()

  function read(): LevelSample | null {
    const channel = fields.byte(1, maxChannel)
    if (channel === null || !fields.is(0, 'SAMPLE') || !fields.is(2, 'ALL')) return null
    const levels = readSample?.(fields, firstLevel) ?? null
    if (levels === null || !last.put(channel, fields)) return null
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
      offset = skipToFrame(bytes, end)
    }
    if (samples.length > 0) onLevels(id, samples)
    // A report about a channel includes its last sample.
    if (offset < bytes.length) for (const [channel, text] of last.list()) store.putSample(channel, text)
    return bytes.subarray(offset)
  }
}

/** The field with the first level in ` SAMPLE 1 ALL AX 100 030 `. */
const firstLevel = 3
const maxChannel = 99
/** More than the longest sample, that of an Axient channel with four antennas and frequency diversity. */
const maxSampleBytes = 128

/** The levels in the last sample of each channel, as the device sent them. */
class LastSamples {
  readonly #texts: (Buffer | undefined)[] = []
  readonly #lengths: number[] = []

  /** Returns false if the sample is too long. */
  put(channel: number, fields: Fields): boolean {
    let text = this.#texts[channel]
    if (text === undefined) {
      text = Buffer.alloc(maxSampleBytes)
      this.#texts[channel] = text
    }
    const length = fields.copyFrom(firstLevel, text)
    this.#lengths[channel] = length
    return length > 0
  }

  /** Returns the channel numbers with their samples. */
  list(): readonly (readonly [number, string])[] {
    return this.#texts.flatMap((text, channel) =>
      text === undefined ? [] : [[channel, text.toString('latin1', 0, this.#lengths[channel])] as const],
    )
  }
}
