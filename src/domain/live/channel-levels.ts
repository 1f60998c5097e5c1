/** The levels of a channel in the messages of the live interface, version 2. */

import { type LevelDetail, type LevelField, levelDetails } from '../levels/level-sample.ts'

/** The levels in `details` that `levels` messages contain. If only these change, no `channel` message is sent. */
export const detailLevels = [
  'quality',
  'rf_a',
  'rf_b',
  'rf_c',
  'rf_d',
  'antennas',
  'audio_peak',
  // The same value as `audio_level`.
  'audio_rms',
] as const satisfies readonly LevelDetail[]

/** The levels in `details` that `channel` messages announce, not `levels` messages. */
export const unlistedLevels = levelDetails.filter((name) => !(detailLevels as readonly string[]).includes(name))

/**
 * The levels in an entry of a `levels` message, in the order after the channel id. Those starting with `rf_a` are only
 * sent with `levels=full`.
 */
export const entryLevels = [
  'rf_level',
  'audio_level',
  'quality',
  'rf_a',
  'rf_b',
  'rf_c',
  'rf_d',
  'antennas',
  'audio_peak',
] as const satisfies readonly (LevelField | LevelDetail)[]
