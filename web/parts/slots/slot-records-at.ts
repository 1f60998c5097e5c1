import type { DataAtTimeBody } from '../../../src/contract/history.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import { namesOfChannel, titleOf } from '../../../src/domain/equipment/slot-record.ts'
import { recordOf } from '../../app/slot-records.ts'
import type { WatchState } from '../../app/watch-state.ts'

type Today = Pick<WatchState, 'slotRecords' | 'performers'>

/** The performers of that time. Labels, colors and roles are not recorded, so the current ones are used. */
export function slotRecordsAt(
  { receivers, assignments }: Pick<DataAtTimeBody, 'receivers' | 'assignments'>,
  today: Today,
): SlotRecord[] {
  const assigned = new Map(assignments.map((assignment) => [assignment.channel_id, assignment]))
  const pictures = new Map(today.performers.map(({ id, picture }) => [id, picture]))
  const channels = receivers.flatMap((receiver) =>
    receiver.channels.flatMap((channel): SlotRecord[] => {
      const record = recordOf(today.slotRecords, { kind: 'channel', id: channel.id })
      if (record === undefined) return []
      const { id, name } = assigned.get(channel.id)?.performer ?? { id: null, name: null }
      const title = titleOf({ performer: name, label: record.label, ...namesOfChannel(receiver, channel) })
      // A performer of a site has no id.
      const performer = id === null ? null : { id, name, picture: pictures.get(id) ?? null }
      const role = record.performer?.id === performer?.id ? record.role : null
      return [{ ...record, ...title, slot: channel.slot, performer, role }]
    }),
  )
  return [...channels, ...[...today.slotRecords.values()].filter(({ placeholder_id }) => placeholder_id !== null)]
}
