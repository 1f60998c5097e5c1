/** The entry about a slot, as the values of a form. */

import type { SlotChange, SlotRecord } from '../../../src/contract/slots.ts'
import { type SlotColor, slotColors } from '../../../src/contract/values.ts'
import { nothingPlanned } from '../../../src/domain/equipment/slot-entry.ts'
import { listSlotHolders } from '../../../src/domain/equipment/slots.ts'
import { t } from '../../app/i18n.ts'
import type { WatchState } from '../../app/watch-state.ts'

/** A new performer has no id. */
export interface ChosenPerformer {
  readonly id: number | null
  readonly name: string
}

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

export function formatPerformer(performer: ChosenPerformer | null): string {
  return performer === null ? '' : JSON.stringify({ id: performer.id, name: performer.name })
}

export function parsePerformer(text: string): ChosenPerformer | null {
  return text === '' ? null : JSON.parse(text)
}

/** Contains only values that the form has fields for. */
export function toSlotChange(values: FormData, { planned }: SlotRecord): SlotChange {
  const has = (name: string) => values.has(name)
  const text = (name: string) => String(values.get(name) ?? '').trim() || null
  const performer = parsePerformer(text('performer') ?? '')
  const isNew = performer !== null && performer.id === null
  return {
    ...(has('performer') && (isNew ? { performer_name: performer.name } : { performer_id: performer?.id ?? null })),
    ...(has('role') && { role: text('role') }),
    ...(has('label') && { label: text('label') }),
    ...(has('color') && { color: slotColors.find((color) => color === text('color')) ?? null }),
    ...(has(frequencyField) && { planned: { ...planned, frequency: toMegahertz(text(frequencyField) ?? '') } }),
    ...(has('note') && { note: text('note') }),
  }
}

/** The name of the field, also for errors. */
export const frequencyField = 'planned.frequency'

/** Three decimals, as the service requires. Other texts are left for its error message. */
export function toMegahertz(text: string): string | null {
  const typed = text.trim()
  if (typed === '') return null
  const number = Number(typed.replace(',', '.').replace(/\s*MHz$/i, ''))
  return Number.isFinite(number) ? number.toFixed(3) : typed
}

/** Another person may have moved the channel or placeholder of the record. */
export function presentSlot(record: SlotRecord, { receivers, placeholders }: WatchState): number {
  const { slot, channel_id, placeholder_id } = record
  const holder = listSlotHolders(receivers.values(), placeholders).find(
    ({ kind, id }) => id === (kind === 'channel' ? channel_id : placeholder_id),
  )
  return holder?.slot ?? slot
}

export function colorName(color: SlotColor | ''): string {
  return color === '' ? t('slot.noColor') : t(`card.colors.${color}`)
}
