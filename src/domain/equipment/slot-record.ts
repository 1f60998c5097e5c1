/** The record of a slot: what people entered about it, and the equipment in it. */

import type { Performer } from '../../contract/performers.ts'
import type { SlotRecord } from '../../contract/slots.ts'
import { type TitleSource, titleSources } from '../../contract/values.ts'
import { isSameJson } from '../json.ts'
import type { Channel, Receiver } from './receiver.ts'
import { emptyFields, type SlotEntry } from './slot-entry.ts'
import type { Placeholder } from './slots.ts'
import { slotKindOf } from './unit-type.ts'

/** The names that the title of a slot can have. */
export type TitleNames = Readonly<Partial<Record<TitleSource, string | null>>>

export type Title = Pick<SlotRecord, 'title' | 'title_from'>

export type TitleOf = (receiver: Receiver, channel: Channel) => Title

/** Returns the first known name; an empty one is unknown. */
export function titleOf(names: TitleNames): Title {
  const from = titleSources.find((source) => names[source])
  return from === undefined ? { title: null, title_from: null } : { title: names[from] ?? null, title_from: from }
}

type Named = { readonly name: string | null }

interface NamedChannel extends Named {
  readonly channel: number
  readonly transmitter: Named | null
  readonly last_transmitter?: Named | null
}

/** Returns the names that the equipment of a channel reports. A transmitter that is off keeps its name. */
export function namesOfChannel(receiver: Pick<Receiver, 'name'>, channel: NamedChannel): TitleNames {
  return { channel: channel.name, transmitter: packOf(channel), receiver: `${receiver.name} ${channel.channel}` }
}

function packOf({ transmitter, last_transmitter }: NamedChannel): string | null {
  return (transmitter ?? last_transmitter)?.name ?? null
}

/** The title of a channel of another installation is the one that it announces. */
export function titleOfChannel(
  receiver: Receiver,
  channel: Channel,
  entered: Pick<TitleNames, 'performer' | 'label'> = {},
): Title {
  return channel.origin?.title ?? titleOf({ ...entered, ...namesOfChannel(receiver, channel) })
}

type SlotPerformer = Pick<Performer, 'id' | 'name' | 'picture'>

interface Entered {
  readonly entry: SlotEntry | undefined
  /** The performer of the entry. */
  readonly performer: SlotPerformer | undefined
}

export function toChannelRecord(
  receiver: Receiver,
  channel: Channel,
  { entry, performer }: Entered,
  unitId: number | null,
): SlotRecord {
  return {
    slot: channel.slot,
    ...titleOfChannel(receiver, channel, { performer: performer?.name ?? null, label: entry?.label ?? null }),
    kind: slotKindOf(receiver.device_type),
    ...toEntered({ entry, performer }),
    channel_id: channel.id,
    placeholder_id: null,
    unit_id: unitId,
  }
}

export function toPlaceholderRecord({ id, slot, kind }: Placeholder, { entry, performer }: Entered): SlotRecord {
  return {
    slot,
    ...titleOf({ performer: performer?.name ?? null, label: entry?.label ?? null }),
    kind,
    ...toEntered({ entry, performer }),
    channel_id: null,
    placeholder_id: id,
    unit_id: null,
  }
}

function toEntered({ entry, performer }: Entered) {
  const { label, color, role, note, planned, spares } = entry ?? emptyFields
  const known = performer && { id: performer.id, name: performer.name, picture: performer.picture }
  return { label, color, performer: known ?? null, role, note, planned, spares, version: entry?.version ?? 0 }
}

/** True if a change of the receiver can change the records of its slots. */
export function changesRecords(before: Receiver | undefined, after: Receiver | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after
  if (before.name !== after.name || before.device_type !== after.device_type) return true
  if (before.manufacturer !== after.manufacturer || before.channels.length !== after.channels.length) return true
  if (before.channels === after.channels) return false
  return after.channels.some((channel, index) => {
    const known = before.channels[index]
    return (
      known === undefined ||
      known.id !== channel.id ||
      known.slot !== channel.slot ||
      known.name !== channel.name ||
      (known.transmitter === null) !== (channel.transmitter === null) ||
      packOf(known) !== packOf(channel) ||
      !isSameJson(known.origin?.title, channel.origin?.title)
    )
  })
}
