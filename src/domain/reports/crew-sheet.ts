/** The crew sheet: performers and their packs, by slot. */

import type { Group } from '../../contract/groups.ts'
import type { Performer } from '../../contract/performers.ts'
import type { CrewSheet } from '../../contract/reports.ts'
import type { SlotRecord } from '../../contract/slots.ts'
import { byteOrderMark, toLine, toTextCell } from '../csv.ts'
import type { Channel } from '../equipment/receiver.ts'
import { listChannelsOfShow, type Show, toShowBody } from '../shows.ts'

interface SlotState {
  readonly channels: readonly Channel[]
  /** By slot. Those of other channels are omitted. */
  readonly records: readonly SlotRecord[]
  readonly groups: readonly Pick<Group, 'id' | 'title' | 'slots'>[]
}

export interface SlotOfShow {
  readonly record: SlotRecord
  /** Null for a placeholder. */
  readonly channel: Channel | null
}

export interface CrewSheetState extends SlotState {
  readonly performers: readonly Pick<Performer, 'id' | 'notes'>[]
  /** Returns the last reported name of the channel's transmitter. */
  packOf(channelId: number): string | null
}

type CrewRow = CrewSheet['rows'][number]

/** Lists the channels and placeholders of a show; without a show, all of them. */
export function toCrewSheet(show: Show | null, state: CrewSheetState): CrewSheet {
  const rows = listSlotsOfShow(show, state).map(({ record, channel }) => toRow(record, channel, state))
  return { show: show && toShowBody(show), rows }
}

/** Lists the slots of the channels and placeholders of a show; without a show, all of them. */
export function listSlotsOfShow(show: Show | null, state: SlotState): readonly SlotOfShow[] {
  const { records, groups } = state
  const channels = new Map(channelsOf(show, state).map((channel) => [channel.id, channel]))
  const slots = new Set(groups.filter(({ id }) => show?.group_ids.includes(id)).flatMap((group) => group.slots))
  return records.flatMap((record): SlotOfShow | [] => {
    const { slot, channel_id } = record
    const channel = channel_id === null ? null : channels.get(channel_id)
    if (channel === undefined) return []
    if (channel === null && show !== null && show.group_ids.length > 0 && !slots.has(slot)) return []
    return { record, channel }
  })
}

function channelsOf(show: Show | null, { channels, groups }: SlotState): readonly Channel[] {
  if (show === null) return channels
  const ids = new Set(listChannelsOfShow(show, channels, groups))
  return channels.filter(({ id }) => ids.has(id))
}

function toRow(
  { slot, title, performer, role, planned }: SlotRecord,
  channel: Channel | null,
  { performers, packOf, groups }: CrewSheetState,
): CrewRow {
  const { transmitter, frequency } = channel ?? { transmitter: null, frequency: planned.frequency }
  return {
    slot,
    name: title ?? '',
    role: role ?? performers.find(({ id }) => id === performer?.id)?.notes ?? '',
    pack: transmitter?.name ?? (channel && packOf(channel.id)) ?? '',
    frequency: transmitter?.frequency ?? frequency ?? '',
    groups: titlesOf(slot, groups),
  }
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
