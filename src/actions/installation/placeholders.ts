import { placeholderFields, placeholderKind } from '../../contract/placeholders.ts'
import { type Body, slot } from '../../contract/schema.ts'
import { insertPlaceholder, savePlaceholder } from '../../storage/slots.ts'
import { defineSection, list, record } from './entries.ts'
import type { Installation } from './export-installation.ts'
import type { ImportContext } from './import-context.ts'

/** A placeholder is identified by its slot. */
const PlaceholderEntry = record(
  { slot, kind: placeholderKind, ...placeholderFields },
  'a placeholder with at least a slot and a kind',
)
type PlaceholderEntry = Body<typeof PlaceholderEntry>

export const placeholderSection = defineSection(
  list(PlaceholderEntry, 'a list of placeholders'),
  exportPlaceholders,
  importPlaceholders,
)

function exportPlaceholders({ placeholders }: Installation): PlaceholderEntry[] {
  return placeholders
    .toSorted((a, b) => a.slot - b.slot)
    .map(({ id: _, created_at: __, version: ___, ...fields }) => fields)
}

async function importPlaceholders(work: ImportContext, entries: readonly PlaceholderEntry[] = []): Promise<void> {
  for (const entry of entries) {
    const stored = work.before.placeholders.find(({ slot }) => slot === entry.slot)
    const placeholder = { name: '', frequency: null, note: '', created_at: work.now, ...stored, ...entry }
    if (!work.count('placeholders', stored, placeholder)) continue
    if (stored === undefined) await insertPlaceholder(work.tx, placeholder)
    else await savePlaceholder(work.tx, { ...placeholder, id: stored.id })
  }
}
