import { placeholderFields, placeholderKind } from '../../contract/placeholders.ts'
import { type Body, slot } from '../../contract/schema.ts'
import type { Placeholder } from '../../domain/equipment/slots.ts'
import { insertPlaceholder, savePlaceholder } from '../../storage/slots.ts'
import { record } from './entries.ts'
import type { ImportContext } from './import-context.ts'

/** A placeholder is identified by its slot. */
export const PlaceholderEntry = record(
  { slot, kind: placeholderKind, ...placeholderFields },
  'a placeholder with at least a slot and a kind',
)
export type PlaceholderEntry = Body<typeof PlaceholderEntry>

export function exportPlaceholders(placeholders: readonly Placeholder[]): PlaceholderEntry[] {
  return placeholders.toSorted((a, b) => a.slot - b.slot).map(({ id: _, created_at: __, ...fields }) => fields)
}

/** Call it after the receivers were imported, which frees the slots. */
export async function importPlaceholders(work: ImportContext, entries: readonly PlaceholderEntry[]): Promise<void> {
  for (const entry of entries) {
    const stored = work.before.placeholders.find(({ slot }) => slot === entry.slot)
    const placeholder = { name: '', frequency: null, note: '', created_at: work.now, ...stored, ...entry }
    if (!work.count('placeholders', stored, placeholder)) continue
    if (stored === undefined) await insertPlaceholder(work.tx, placeholder)
    else await savePlaceholder(work.tx, { ...placeholder, id: stored.id })
  }
}
