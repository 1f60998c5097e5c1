/** The crew sheet: performers and their packs, by slot. */

import type { Group } from '../../contract/groups.ts'
import type { Performer } from '../../contract/performers.ts'
import type { CrewSheet } from '../../contract/reports.ts'
import { byteOrderMark, toLine, toTextCell } from '../csv.ts'
import type { Channel } from '../equipment/receiver.ts'
import type { Placeholder } from '../equipment/slots.ts'
import { listChannelsOfShow, type Show, toShowBody } from '../shows.ts'

export interface CrewSheetState {
  readonly channels: readonly Channel[]
  readonly placeholders: readonly Placeholder[]
  readonly groups: readonly Pick<Group, 'id' | 'title' | 'slots'>[]
  readonly performers: readonly Pick<Performer, 'id' | 'name' | 'notes'>[]
  /** Returns the last reported name of the channel's transmitter. */
  packOf(channelId: number): string | null
  /** The active assignments. */
  readonly assignments: readonly {
    readonly channelId: number
    /** Id of the performer. */
    readonly performer: number
    readonly role: string | null
  }[]
}

type CrewRow = CrewSheet['rows'][number]

/** Lists the channels and placeholders of a show; without a show, all of them. */
export function toCrewSheet(show: Show | null, state: CrewSheetState): CrewSheet {
  const { placeholders, groups } = state
  const channels = channelsOf(show, state)
  const slots = new Set(groups.filter(({ id }) => show?.group_ids.includes(id)).flatMap((group) => group.slots))
  const isListed = ({ slot }: Placeholder) => show === null || show.group_ids.length === 0 || slots.has(slot)
  const rows = [
    ...channels.map((channel) => toChannelRow(channel, state)),
    ...placeholders.filter(isListed).map(toPlaceholderRow),
  ]
  return {
    show: show && toShowBody(show),
    rows: rows.sort((a, b) => a.slot - b.slot).map((row) => ({ ...row, groups: titlesOf(row.slot, groups) })),
  }
}

function channelsOf(show: Show | null, { channels, groups }: CrewSheetState): readonly Channel[] {
  if (show === null) return channels
  const ids = new Set(listChannelsOfShow(show, channels, groups))
  return channels.filter(({ id }) => ids.has(id))
}

function toChannelRow(channel: Channel, { performers, assignments, packOf }: CrewSheetState): Omit<CrewRow, 'groups'> {
  const { id, slot, name, frequency, transmitter } = channel
  const assignment = assignments.find(({ channelId }) => channelId === id)
  const performer = performers.find((candidate) => candidate.id === assignment?.performer)
  return {
    slot,
    name: performer?.name ?? name ?? '',
    role: assignment?.role ?? performer?.notes ?? '',
    pack: transmitter?.name ?? packOf(id) ?? '',
    frequency: transmitter?.frequency ?? frequency ?? '',
  }
}

function toPlaceholderRow({ slot, name, frequency }: Placeholder): Omit<CrewRow, 'groups'> {
  return { slot, name, role: '', pack: '', frequency: frequency ?? '' }
}

function titlesOf(slot: number, groups: CrewSheetState['groups']): readonly string[] {
  return groups.filter(({ slots }) => slots.includes(slot)).map(({ title }) => title)
}

export function toCrewSheetCsv({ rows }: CrewSheet): string {
  const lines = rows.map(({ slot, name, role, pack, frequency, groups }) =>
    toLine([String(slot), ...[name, role, pack, frequency, groups.join('; ')].map(toTextCell)]),
  )
  return byteOrderMark + toLine(['slot', 'name', 'role', 'pack', 'frequency', 'group']) + lines.join('')
}
