/** The arrangement of a show, which a scene stores. */

import type { Group } from '../../contract/groups.ts'
import type { Performer } from '../../contract/performers.ts'
import type { Arrangement, SceneBody } from '../../contract/shows.ts'
import type { SlotRecord } from '../../contract/slots.ts'
import type { Assignment, Unit } from '../equipment/hardware.ts'
import { frequencyOf, type Receiver } from '../equipment/receiver.ts'
import { fieldsOf, nothingPlanned, type SlotFields } from '../equipment/slot-entry.ts'
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
  readonly version: number
}

export interface StoredScene extends Scene {
  readonly arrangement: Arrangement
}

export function toSceneBody({ id, show_id, title, created_at, by, recalled_at, version }: Scene): SceneBody {
  return {
    ...{ id, show_id, title, by },
    created_at: toTimestamp(created_at),
    recalled_at: recalled_at === null ? null : toTimestamp(recalled_at),
    version,
  }
}

/** The stored records that make up an arrangement. */
export interface Arranged {
  readonly receivers: readonly Pick<Receiver, 'channels'>[]
  readonly placeholders: readonly Placeholder[]
  readonly records: readonly SlotRecord[]
  readonly groups: readonly Group[]
  readonly performers: readonly Performer[]
  readonly units: readonly Pick<Unit, 'id' | 'name' | 'channel_id'>[]
  /** The active assignments. */
  readonly assignments: readonly Assignment[]
}

export type SceneSlot = Arrangement['slots'][number]

/** With all entries; a scene of version 1.0.0 has only some of them. */
export type PresentSlot = SceneSlot & { readonly entered: SlotFields }

/** Captures the slots in the groups of a show; all slots if it has no groups. */
export function captureArrangement({ group_ids }: Pick<Show, 'group_ids'>, arranged: Arranged): Arrangement {
  const hasAll = group_ids.length === 0
  const groups = arranged.groups.filter(({ id }) => hasAll || group_ids.includes(id))
  const included = new Set(groups.flatMap((group) => group.slots))
  const slots = toSceneSlots(arranged).filter(({ slot }) => hasAll || included.has(slot))
  const performerIds = new Set(slots.map(({ entered }) => entered.performer))
  return {
    slots,
    groups: groups.map(({ id, title, slots }) => ({ id, title, slots })),
    performers: arranged.performers
      .filter(({ id }) => hasAll || performerIds.has(id))
      .map(({ id, name }) => ({ id, name })),
    units: [],
  }
}

/** Slots of channels of sites are not included. */
export function toSceneSlots({ receivers, records }: Arranged): PresentSlot[] {
  const channels = new Map(receivers.flatMap((receiver) => receiver.channels.map((channel) => [channel.id, channel])))
  return records.flatMap(({ slot, title: name, kind, channel_id, placeholder_id, performer, ...entered }) => {
    const channel = channels.get(channel_id ?? 0)
    if (channel === undefined && placeholder_id === null) return []
    return [
      {
        ...{ slot, channel_id, placeholder_id, kind, name },
        frequency: channel === undefined ? null : frequencyOf(channel),
        entered: fieldsOf({ ...entered, performer: performer?.id ?? null }),
      },
    ]
  })
}

export function listFrequencies(
  channels: readonly { readonly id: number; readonly frequency: string | null }[],
): (readonly [number, string])[] {
  return channels.flatMap(({ id, frequency }) => (frequency === null ? [] : [[id, frequency] as const]))
}

/** The arrangement of a scene of version 1.0.0. */
interface FormerArrangement extends Omit<Arrangement, 'slots'> {
  readonly channels: readonly (Pick<SceneSlot, 'slot' | 'name' | 'frequency'> & { readonly id: number })[]
  readonly placeholders: readonly (Pick<SceneSlot, 'slot' | 'kind' | 'frequency'> & {
    readonly id: number
    readonly name: string
  })[]
}

export function toArrangement(stored: Arrangement | FormerArrangement): Arrangement {
  if ('slots' in stored) return stored
  const { channels, placeholders, ...rest } = stored
  return {
    ...rest,
    slots: [
      ...channels.map(({ id, ...slot }) => {
        return { ...slot, channel_id: id, placeholder_id: null, kind: 'wireless' as const, entered: {} }
      }),
      ...placeholders.map(({ id, slot, kind, name, frequency }) => ({
        ...{ slot, channel_id: null, placeholder_id: id, kind, name, frequency: null },
        entered: { label: name || null, planned: { ...nothingPlanned, frequency } },
      })),
    ],
  }
}
