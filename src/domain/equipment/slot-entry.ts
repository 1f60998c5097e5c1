/** A user's entries about a slot. It belongs to the channel or placeholder in the slot, and moves with it. */

import type { SlotColor } from '../../contract/values.ts'
import { isSameJson } from '../json.ts'
import type { SlotHolder } from './slots.ts'

export interface PlannedCarrier {
  /** MHz with three decimals. */
  readonly frequency: string | null
  /** Id of a frequency profile. */
  readonly profile: string | null
  readonly transmitter: string | null
}

export interface SlotFields {
  readonly label: string | null
  readonly color: SlotColor | null
  /** Id of a performer. */
  readonly performer: number | null
  readonly role: string | null
  readonly note: string | null
  readonly planned: PlannedCarrier
  /** The slots of spare equipment. */
  readonly spares: readonly number[]
}

export interface SlotEntry extends SlotFields {
  readonly id: number
  /** Either this or `placeholder_id` is null. */
  readonly channel_id: number | null
  readonly placeholder_id: number | null
  /** Changes with every edit, and is never reused. */
  readonly version: number
}

export type EntryHolder = Pick<SlotHolder, 'kind' | 'id'>

export function holderOf({
  channel_id,
  placeholder_id,
}: Pick<SlotEntry, 'channel_id' | 'placeholder_id'>): EntryHolder {
  return channel_id === null ? { kind: 'placeholder', id: placeholder_id ?? 0 } : { kind: 'channel', id: channel_id }
}

export const nothingPlanned: PlannedCarrier = { frequency: null, profile: null, transmitter: null }

export const emptyFields: SlotFields = {
  ...{ label: null, color: null, performer: null, role: null, note: null },
  planned: nothingPlanned,
  spares: [],
}

export function fieldsOf({ label, color, performer, role, note, planned, spares }: SlotFields): SlotFields {
  return { label, color, performer, role, note, planned, spares }
}

export function isEmptyEntry(fields: SlotFields): boolean {
  return isSameJson(fieldsOf(fields), emptyFields)
}

/** Fields of `winner` that are not empty replace those of `other`. */
export function mergeFields(winner: SlotFields, other: SlotFields): SlotFields {
  const { planned, spares } = winner
  return {
    label: winner.label ?? other.label,
    color: winner.color ?? other.color,
    // A role belongs to its performer.
    ...(winner.performer === null
      ? { performer: other.performer, role: winner.role ?? other.role }
      : {
          performer: winner.performer,
          role: winner.role ?? (winner.performer === other.performer ? other.role : null),
        }),
    note: winner.note ?? other.note,
    planned: {
      frequency: planned.frequency ?? other.planned.frequency,
      profile: planned.profile ?? other.planned.profile,
      transmitter: planned.transmitter ?? other.planned.transmitter,
    },
    spares: spares.length > 0 ? spares : other.spares,
  }
}
