/** Lists that the live interface, version 2, announces as a whole, and the status of the sources. */

import type { SourceBody } from '../../contract/live-messages.ts'
import type { ChannelAssignment, Performer } from '../../contract/performers.ts'
import type { Assignment, Unit } from '../equipment/hardware.ts'
import type { ManufacturerHealth } from '../equipment/health.ts'

/** Omits assignments of units that no longer exist. */
export function toChannelAssignments(
  assignments: readonly Assignment[],
  performers: readonly Pick<Performer, 'id' | 'name'>[],
  unitOf: (id: number) => Unit | undefined,
): ChannelAssignment[] {
  const names = new Map(performers.map(({ id, name }) => [id, name]))
  return assignments.flatMap(({ performer: id, wireless_unit }) => {
    const unit = unitOf(wireless_unit)
    if (unit === undefined) return []
    return [{ channel_id: unit.channel_id, wireless_unit, performer: { id, name: names.get(id) ?? '' } }]
  })
}

/** Returns the names of the performers by channel id. */
export function toPerformerNames(assignments: readonly ChannelAssignment[]): ReadonlyMap<number, string> {
  return new Map(
    assignments.flatMap(({ channel_id, performer }) => (channel_id === null ? [] : [[channel_id, performer.name]])),
  )
}

export function toSourceBodies(manufacturers: readonly ManufacturerHealth[]): SourceBody[] {
  return manufacturers.flatMap(({ code, sources }) =>
    sources.map(({ source: address, status, error, silent_since }) => ({ code, address, status, error, silent_since })),
  )
}
