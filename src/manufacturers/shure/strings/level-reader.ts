/** Reads meter values as soon as they arrive, because a device sends up to ten a second per channel. */

import type { LevelSample } from '../../../domain/levels/level-sample.ts'
import type { OnLevels } from '../../plugin.ts'
import { Fields, skipToFrame } from './message-fields.ts'
import type { PropertyStore } from './property-store.ts'
import { overloadKey } from './samples.ts'
import type { StringsDevice } from './translate.ts'

/**
 * Creates a function that takes received bytes, beginning with a frame, and passes the levels in the leading frames to
 * `onLevels`. It returns the bytes from the first frame that is incomplete or contains anything else. If the overload
 * of a channel begins or ends, a report of it precedes them, because an overload is a property and not a level.
 */
export function createLevelReader(
  { id, family }: Pick<StringsDevice, 'id' | 'family'>,
  store: Pick<PropertyStore, 'dropSample'>,
  onLevels: OnLevels,
): (bytes: Buffer) => Buffer {
  const { readSample, maxChannels } = family
  // On UHF-R, the meters also show the presence of a transmitter, which is not a level.
  if (readSample === null || family.name === 'uhfr') return (bytes) => bytes
  const overloads = createOverloads()
  /** By channel number: true if the channel's sample has been removed from the store. */
  const isDropped: boolean[] = []

  return (bytes) => {
    const samples: LevelSample[] = []
    let reports = ''
    let offset = skipToFrame(bytes, 0)
    while (offset < bytes.length) {
      const end = fields.readFrame(bytes, offset)
      const channel = end < 0 ? null : readSampleChannel(maxChannels)
      const sample = channel === null ? null : readSample(fields, fields.is(2, 'ALL') ? 3 : 2)
      if (channel === null || sample === null) break
      const { rf_level, audio_level, details, isOverloaded } = sample
      samples.push({ channel, rf_level, audio_level, details })
      if (typeof isOverloaded === 'boolean') reports += overloads.report(channel, isOverloaded)
      // The sample in the store is older. It is removed, because otherwise a report about the channel would include it.
      if (isDropped[channel] !== true) {
        isDropped[channel] = true
        store.dropSample(channel)
      }
      offset = skipToFrame(bytes, end)
    }
    if (samples.length > 0) onLevels(id, samples)
    // The remaining bytes may contain samples, which the caller adds to the store.
    if (offset < bytes.length) isDropped.length = 0
    const rest = bytes.subarray(offset)
    return reports === '' ? rest : Buffer.concat([Buffer.from(reports), rest])
  }
}

/** Returns the channel of the sample in `fields`; null for any other frame. */
function readSampleChannel(maxChannels: number): number | null {
  return fields.is(0, 'SAMPLE') ? fields.byte(1, maxChannels) : null
}

/** An overload ends after this many samples without overload (two seconds), so that it does not flicker. */
const samplesUntilEnd = 20

function createOverloads() {
  /** The number of samples until the overload ends, by channel number; 0 without overload. */
  const remaining: number[] = []
  return {
    /** Returns a report in the form of a frame if the overload has begun or ended, or is known for the first time. */
    report(channel: number, isOverloaded: boolean): string {
      const before = remaining[channel]
      const after = isOverloaded ? samplesUntilEnd : Math.max(0, (before ?? 0) - 1)
      const isOn = after > 0
      remaining[channel] = after
      if (before !== undefined && isOn === before > 0) return ''
      return `< REP ${channel} ${overloadKey} ${isOn ? 'ON' : 'OFF'} >`
    },
  }
}

/** Shared by all readers, because each message is read completely before the next one. */
const fields = new Fields()
