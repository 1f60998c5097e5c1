/** The arrangement of a show, which a scene stores. */

import type { Group } from '../../contract/groups.ts'
import type { Performer } from '../../contract/performers.ts'
import type { Arrangement, SceneBody } from '../../contract/shows.ts'
import type { Assignment, Unit } from '../equipment/hardware.ts'
import { type Channel, frequencyOf, type Receiver } from '../equipment/receiver.ts'
import type { Placeholder } from '../equipment/slots.ts'
import type { Show } from '../shows.ts'
import { toTimestamp } from '../timestamp.ts'

/** Frequencies in MHz by channel id. */
export type Frequencies = ReadonlyMap<number, string>

/** A scene without its arrangement. Times are epoch milliseconds. */
export interface Scene {
  readonly id: number
  readonly show_id: number
  readonly title: string
  readonly created_at: number
  /** The name of the person who stored it. */
  readonly by: string
  /** Null if it was never recalled. */
  readonly recalled_at: number | null
}

export interface StoredScene extends Scene {
  readonly arrangement: Arrangement
}

export function toSceneBody({ id, show_id, title, created_at, by, recalled_at }: Scene): SceneBody {
  return {
    ...{ id, show_id, title, by },
    created_at: toTimestamp(created_at),
    recalled_at: recalled_at === null ? null : toTimestamp(recalled_at),
  }
}

/** The stored records that make up an arrangement. */
export interface Arranged {
  readonly receivers: readonly Pick<Receiver, 'name' | 'channels'>[]
  readonly placeholders: readonly Placeholder[]
  readonly groups: readonly Group[]
  readonly performers: readonly Performer[]
  readonly units: readonly Pick<Unit, 'id' | 'name' | 'channel_id'>[]
  /** The active assignments. */
  readonly assignments: readonly Assignment[]
}

/** Captures the slots in the groups of a show; all slots if it has no groups. */
export function captureArrangement({ group_ids }: Pick<Show, 'group_ids'>, arranged: Arranged): Arrangement {
  const hasAll = group_ids.length === 0
  const groups = arranged.groups.filter(({ id }) => hasAll || group_ids.includes(id))
  const slots = new Set(groups.flatMap((group) => group.slots))
  const isIncluded = ({ slot }: { readonly slot: number }) => hasAll || slots.has(slot)
  const channels = arranged.receivers.flatMap((receiver) =>
    receiver.channels.filter(isIncluded).map((channel) => ({
      id: channel.id,
      name: nameOfChannel(receiver, channel),
      slot: channel.slot,
      frequency: frequencyOf(channel),
    })),
  )
  const channelIds = new Set(channels.map(({ id }) => id))
  const assignmentOf = new Map(arranged.assignments.map((assignment) => [assignment.wireless_unit, assignment]))
  const units = arranged.units
    .filter(({ channel_id }) => hasAll || (channel_id !== null && channelIds.has(channel_id)))
    .map(({ id, name }) => {
      const { performer = null, role = null } = assignmentOf.get(id) ?? {}
      return { id, name, performer, role }
    })
  const performerIds = new Set(units.map(({ performer }) => performer))
  return {
    channels,
    placeholders: arranged.placeholders
      .filter(isIncluded)
      .map(({ id, slot, name, kind, frequency }) => ({ id, slot, name, kind, frequency })),
    groups: groups.map(({ id, title, slots }) => ({ id, title, slots })),
    performers: arranged.performers
      .filter(({ id }) => hasAll || performerIds.has(id))
      .map(({ id, name }) => ({ id, name })),
    units,
  }
}

/** Returns the name that the pages show for a channel. */
export function nameOfChannel(receiver: Pick<Receiver, 'name'>, { transmitter, name }: Channel): string {
  return transmitter?.name ?? name ?? receiver.name
}

export function listFrequencies(
  channels: readonly { readonly id: number; readonly frequency: string | null }[],
): (readonly [number, string])[] {
  return channels.flatMap(({ id, frequency }) => (frequency === null ? [] : [[id, frequency] as const]))
}
