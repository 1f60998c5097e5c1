/** The filters of `GET /api/data.json` and of the live interface: one manufacturer, one group, or both. */

import type { Group } from '../../contract/groups.ts'
import type { LiveChange } from '../../contract/live-messages.ts'
import type { ChannelAssignment } from '../../contract/performers.ts'
import type { PlaceholderBody } from '../../contract/placeholders.ts'

import type { Receiver } from '../equipment/receiver.ts'
import { type EquipmentFilter, includesSite } from '../equipment/sites.ts'
import type { SettingScope } from '../settings.ts'

export interface LiveFilter extends EquipmentFilter {
  /** Id of a group. Includes only channels whose slots are in it, and their receivers. */
  readonly group?: number | undefined
}

export interface GroupMembers {
  readonly channels: ReadonlySet<number>
  readonly receivers: ReadonlySet<number>
  readonly manufacturers: ReadonlySet<string>
  readonly placeholders: ReadonlySet<number>
}

/** A group that does not exist has no members. */
export function findMembers(
  group: Group | undefined,
  receivers: readonly Receiver[],
  placeholders: readonly PlaceholderBody[],
): GroupMembers {
  const slots = new Set(group?.slots)
  const members = {
    channels: new Set<number>(),
    receivers: new Set<number>(),
    manufacturers: new Set<string>(),
    placeholders: new Set(placeholders.filter(({ slot }) => slots.has(slot)).map(({ id }) => id)),
  }
  for (const receiver of receivers) {
    for (const { id, slot } of receiver.channels) {
      if (!slots.has(slot)) continue
      members.channels.add(id)
      members.receivers.add(receiver.id)
      members.manufacturers.add(receiver.manufacturer)
    }
  }
  return members
}

/** Returns the receivers with only those channels that are members. The receivers must be members themselves. */
export function selectReceivers(receivers: readonly Receiver[], members: GroupMembers): Receiver[] {
  return receivers.map((receiver) => ({
    ...receiver,
    channels: receiver.channels.filter(({ id }) => members.channels.has(id)),
  }))
}

export function includesAssignment({ channel_id }: ChannelAssignment, channels: ReadonlySet<number> | null): boolean {
  return channels === null || (channel_id !== null && channels.has(channel_id))
}

/** The subject of a message. An absent or null field restricts nothing. */
export interface LiveSubject {
  readonly manufacturer?: string | null
  /** The site that monitors it; null for this installation. */
  readonly site?: string | null
  /** The group whose settings changed. */
  readonly group?: number | null
  readonly receiverId?: number | null
  readonly channelId?: number | null
}

/** True if a client with these filters receives the message. */
export function includesSubject(
  { manufacturer = null, site, receiverId = null, channelId = null }: LiveSubject,
  filter: LiveFilter,
  members: GroupMembers | null,
): boolean {
  if (filter.manufacturer !== undefined && manufacturer !== null && manufacturer !== filter.manufacturer) return false
  if (site !== undefined && !includesSite(filter, site)) return false
  if (members === null) return true
  if (channelId !== null) return members.channels.has(channelId)
  if (receiverId !== null) return members.receivers.has(receiverId)
  return manufacturer === null || members.manufacturers.has(manufacturer)
}

/** Returns the scope of the settings that a client with this filter receives. */
export function settingScopeOf({ manufacturer, group }: LiveFilter): SettingScope {
  return group === undefined ? { manufacturer: manufacturer ?? null, group: null } : { manufacturer: null, group }
}

/** Messages that contain a whole list. A client with a filter receives only the matching entries. */
export type ListType = Extract<LiveChange['type'], 'groups' | 'placeholders' | 'assignments' | 'discovered' | 'queue'>

export const listTypes: ReadonlySet<string> = new Set<ListType>([
  'groups',
  'placeholders',
  'assignments',
  'discovered',
  'queue',
])

/** True if this change can change the members of a group. A `channel` message contains a slot if the channel is new. */
export function changesMembers(change: LiveChange): boolean {
  switch (change.type) {
    case 'groups':
    case 'placeholders':
    case 'slots':
    case 'channel_removed':
    case 'receiver_added':
    case 'receiver_removed':
      return true
    case 'channel':
      return change.slot !== undefined
    default:
      return false
  }
}
