import { performerFields } from '../../contract/performers.ts'
import { type Body, name } from '../../contract/schema.ts'
import { insertPerformer, savePerformer } from '../../storage/hardware.ts'
import { lockPictures, removeUnusedPictures, savePictureText } from '../../storage/pictures.ts'
import { expectedPicture } from '../equipment/edit-pictures.ts'
import { defineSection, list, record, sortBy } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'

const PerformerEntry = record({ name, ...performerFields }, 'a performer with at least a name')
type PerformerEntry = Body<typeof PerformerEntry>

export const performerSection = defineSection(
  list(PerformerEntry, 'a list of performers'),
  exportPerformers,
  importPerformers,
)

/** The pictures are data URLs. */
function exportPerformers({ performers }: Installation): PerformerEntry[] {
  return sortBy(performers, ({ name }) => name).map(({ id: _, version: __, ...fields }) => fields)
}

async function importPerformers(work: ImportContext, entries: readonly PerformerEntry[] = []): Promise<void> {
  const { tx, before } = work
  const pick = createPicker(before.performers)
  await lockPictures(tx)
  for (const [index, entry] of entries.entries()) {
    const stored = pick(({ name }) => name === entry.name)
    const entered = { notes: '', picture: null, ...stored, ...entry }
    if (!work.count('performers', stored, entered)) continue
    const picture = entered.picture === null ? null : await savePictureText(tx, entered.picture)
    if (picture === undefined) throw new ImportError(`performers.${index}.picture`, expectedPicture)
    const performer = { ...entered, picture }
    if (stored === undefined) await insertPerformer(tx, performer)
    else await savePerformer(tx, { ...performer, id: stored.id })
  }
  await removeUnusedPictures(tx)
}
