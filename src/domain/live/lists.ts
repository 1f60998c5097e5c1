/** Lists, sources and levels in the messages of the live interface, version 2. */

import type { SourceBody } from '../../contract/live-messages.ts'
import type { ChannelAssignment, Performer } from '../../contract/performers.ts'
import type { Assignment, Unit } from '../equipment/hardware.ts'
import type { ManufacturerHealth } from '../equipment/health.ts'
import { type LevelDetail, type LevelField, levelDetails } from '../levels/level-sample.ts'

/** Omits assignments of units that no longer exist. */
export function toChannelAssignments(
  assignments: readonly Assignment[],
  performers: readonly Performer[],
  unitOf: (id: number) => Unit | undefined,
): ChannelAssignment[] {
  const names = new Map(performers.map(({ id, name }) => [id, name]))
  return assignments.flatMap(({ performer: id, wireless_unit }) => {
    const unit = unitOf(wireless_unit)
    if (unit === undefined) return []
    return [{ channel_id: unit.channel_id, wireless_unit, performer: { id, name: names.get(id) ?? '' } }]
  })
}

export function toSourceBodies(manufacturers: readonly ManufacturerHealth[]): SourceBody[] {
  return manufacturers.flatMap(({ code, sources }) =>
    sources.map(({ source: address, status, error, silent_since }) => ({ code, address, status, error, silent_since })),
  )
}

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
