/** The entry about a slot, as the texts of a form. */

import type { SlotChange, SlotRecord } from '../../../src/contract/slots.ts'
import type { SlotColor } from '../../../src/contract/values.ts'
import { nothingPlanned } from '../../../src/domain/equipment/slot-entry.ts'
import { listSlotHolders } from '../../../src/domain/equipment/slots.ts'
import { isSameJson } from '../../../src/domain/json.ts'
import type { WatchState } from '../../app/watch-state.ts'

/** A new performer has no id. */
export interface ChosenPerformer {
  readonly id: number | null
  readonly name: string
}

export interface SlotEntries {
  readonly performer: ChosenPerformer | null
  readonly role: string
  readonly label: string
  readonly color: SlotColor | ''
  readonly frequency: string
  readonly note: string
}

export type EntryName = keyof SlotEntries

const names = ['performer', 'role', 'label', 'color', 'frequency', 'note'] as const satisfies readonly EntryName[]

/** Of a slot about which nothing is known. */
export function emptyRecord(slot: number): SlotRecord {
  return {
    ...{ slot, title: null, title_from: null, label: null, color: null, kind: 'wireless' },
    ...{ performer: null, role: null, note: null, planned: nothingPlanned, spares: [] },
    ...{ channel_id: null, placeholder_id: null, unit_id: null, version: 0 },
  }
}

/** An empty slot has no version. */
export function versionOf({ channel_id, placeholder_id, version }: SlotRecord): number | undefined {
  return channel_id === null && placeholder_id === null ? undefined : version
}

export function entriesOf({ performer, role, label, color, planned, note }: SlotRecord): SlotEntries {
  return {
    performer: performer && { id: performer.id, name: performer.name },
    role: role ?? '',
    label: label ?? '',
    color: color ?? '',
    frequency: planned.frequency ?? '',
    note: note ?? '',
  }
}

/** Contains the given entries alone. */
export function toSlotChange(entries: Partial<SlotEntries>, { planned }: SlotRecord): SlotChange {
  const { performer, role, label, color, frequency, note } = entries
  const isNew = performer != null && performer.id === null
  return {
    ...(performer !== undefined &&
      (isNew ? { performer_name: performer.name } : { performer_id: performer?.id ?? null })),
    ...(role !== undefined && { role: role.trim() || null }),
    ...(label !== undefined && { label: label.trim() || null }),
    ...(color !== undefined && { color: color || null }),
    ...(frequency !== undefined && { planned: { ...planned, frequency: toMegahertz(frequency) } }),
    ...(note !== undefined && { note: note.trim() || null }),
  }
}

/** Three decimals, as the service requires. Other texts are left for its error message. */
export function toMegahertz(text: string): string | null {
  const typed = text.trim()
  if (typed === '') return null
  const number = Number(typed.replace(',', '.').replace(/\s*MHz$/i, ''))
  return Number.isFinite(number) ? number.toFixed(3) : typed
}

export function changedEntries(before: SlotEntries, after: SlotEntries): readonly EntryName[] {
  return names.filter((name) => !isSameJson(before[name], after[name]))
}

/** Another person may have moved the channel or placeholder of the record. */
export function presentSlot(record: SlotRecord, { receivers, placeholders }: WatchState): number {
  const { slot, channel_id, placeholder_id } = record
  const holder = listSlotHolders(receivers.values(), placeholders).find(
    ({ kind, id }) => id === (kind === 'channel' ? channel_id : placeholder_id),
  )
  return holder?.slot ?? slot
}
