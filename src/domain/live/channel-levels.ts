/** The levels of a channel in the messages of the live interface, version 2. */

import type { ChannelBody } from '../../contract/resources/channels.ts'
import type { ChannelDetails } from '../equipment/details.ts'
import { type LevelDetail, levelDetails } from '../levels/level-sample.ts'

/**
 * The levels in `details` that `levels` messages contain. A change of these alone is not announced as a change of the
 * channel.
 */
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

/** The other levels in `details`, which are announced in `channel` messages. */
const unlistedLevels = levelDetails.filter((name) => !(detailLevels as readonly string[]).includes(name))

export function hasOtherUnlistedLevels(before: ChannelDetails | undefined, after: ChannelDetails | undefined): boolean {
  return unlistedLevels.some((name) => (before?.[name] ?? null) !== (after?.[name] ?? null))
}

/** The current levels of a channel: those of its transmitter while there is one, otherwise the channel's own. */
export interface ChannelLevels extends Partial<Pick<ChannelDetails, (typeof detailLevels)[number]>> {
  readonly rf_level: number | null
  readonly audio_level: number | null
}

export function levelsOfBody({ transmitter, rf_level, audio_level, details }: ChannelBody): ChannelLevels {
  const levels = transmitter ?? { rf_level, audio_level }
  return { ...details, rf_level: levels.rf_level, audio_level: levels.audio_level }
}

/** The entry of a channel in a `levels` message, as JSON: without and with the levels of `levels=full`. */
export interface LevelEntry {
  readonly basic: string
  readonly full: string
}

export function toLevelEntry(channelId: number, levels: ChannelLevels): LevelEntry {
  const { rf_level, audio_level, quality, rf_a, rf_b, rf_c, rf_d, antennas, audio_peak } = levels
  const basic = [channelId, rf_level, audio_level, quality]
  return {
    basic: toJson(basic),
    full: toJson([...basic, rf_a, rf_b, rf_c, rf_d, antennas, audio_peak]),
  }
}

/** Serializes an entry without the nulls at its end. */
function toJson(values: readonly unknown[]): string {
  const last = values.findLastIndex((value) => value !== null && value !== undefined)
  return JSON.stringify(values.slice(0, last + 1))
}
