import type { PlaceholderInData } from '../../src/contract/placeholders.ts'
import type { SlotRecord } from '../../src/contract/slots.ts'
import { type EntryHolder, holderOf } from '../../src/domain/equipment/slot-entry.ts'
import { plainText } from './format.ts'
import { t } from './i18n.ts'
import type { WatchState } from './watch-state.ts'

type Records = WatchState['slotRecords']

/** Finds the record of a channel or placeholder, also after its slot changed and before the message with its record. */
export function recordOf(slotRecords: Records, holder: EntryHolder): SlotRecord | undefined {
  return byHolder(slotRecords).get(keyOf(holder))
}

const indexes = new WeakMap<Records, ReadonlyMap<string, SlotRecord>>()

/** Indexes the records once, because each of thousands of channels looks for its own. */
function byHolder(slotRecords: Records): ReadonlyMap<string, SlotRecord> {
  const known = indexes.get(slotRecords)
  if (known !== undefined) return known
  const index = new Map([...slotRecords.values()].map((record) => [keyOf(holderOf(record)), record]))
  indexes.set(slotRecords, index)
  return index
}

function keyOf({ kind, id }: EntryHolder): string {
  return `${kind} ${id}`
}

/** `7 Nora` */
export function slotTitle({ slot, title }: { readonly slot: number; readonly title: string }): string {
  return t('alerts.channelOption', { slot, name: title })
}

/** A new placeholder has no record yet, and may be without a name. */
export function placeholderTitle(slotRecords: Records, { id, name }: Pick<PlaceholderInData, 'id' | 'name'>): string {
  return plainText(recordOf(slotRecords, { kind: 'placeholder', id })?.title ?? name)
}

/** Null unless the Content-Security-Policy allows it: a data URL, or a path on this service. */
export function showable(picture: string | null): string | null {
  return picture !== null && /^(data:image\/|\/(?!\/))/.test(picture) ? picture : null
}
