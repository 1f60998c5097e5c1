/** Imports, and actions that can be undone. */

import Type from 'typebox'
import { type Body, listOf, named, text, textOrNull, whole, wholeOrNull } from '../described.ts'

export const Undone = named('Undone', 'An action that was undone.', {
  action: text('The action, for instance `cast.import`.'),
  records: whole('Number of records that were restored.'),
})
export type Undone = Body<typeof Undone>

export const RecordChange = named('RecordChange', 'A difference between the stored records and the requested ones.', {
  what: text('What changes, for instance `performer`, `assignment`, `placeholder`, `channel_slot` or `group`.'),
  id: wholeOrNull('Id of the record; null if it does not exist yet.'),
  from: Type.Unknown({ description: 'The values before, or null if the record is added.' }),
  to: Type.Unknown({ description: 'The values after, or null if the assignment ends.' }),
})
export type RecordChange = Body<typeof RecordChange>

const column = (name: string) => wholeOrNull(`Index of the column with the ${name}, from 0; null: no such column.`)

export const CastImport = named('CastImport', 'The result of an import of a cast list, or its preview.', {
  changes: listOf(RecordChange, 'What the import changes.'),
  skipped: listOf(
    Type.Object({
      row: whole('Number of the row in the text, from 1.'),
      name: textOrNull('The name in this row.'),
      reason: text('Why it was not imported.'),
    }),
    'Rows and values that are not imported.',
  ),
  columns: Type.Object(
    {
      slot: column('slot'),
      name: column("performer's name"),
      role: column('role'),
      note: column('note'),
      photo: column('address of a photo'),
      pack: column('pack'),
    },
    { description: 'The columns that were used.' },
  ),
  undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing changes.'),
})
export type CastImport = Body<typeof CastImport>

export const MicboardImport = named(
  'MicboardImport',
  "The result of an import of micboard's config.json, or its preview.",
  {
    changes: listOf(RecordChange, 'What the import changes.'),
    skipped: listOf(
      Type.Object({
        slot: whole('Slot in the file.'),
        name: textOrNull('Extended name of the slot.'),
        reason: text('Why it was not imported.'),
      }),
      'Slots and names that are not imported.',
    ),
    undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing changes.'),
  },
)
export type MicboardImport = Body<typeof MicboardImport>
