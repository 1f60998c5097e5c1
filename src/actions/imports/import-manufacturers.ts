/** Imports the manufacturers in a file with their settings, and the global settings. */

import { RequestError } from '../../domain/errors.ts'
import { findRepeatedCode, type InstallationFile } from '../../domain/installation-file.ts'
import { globalScope } from '../../domain/settings.ts'
import type { SourceDeps } from '../../manufacturers/sources.ts'
import { type StoredManufacturer, saveManufacturer } from '../../storage/settings.ts'
import { mergeManufacturer } from '../sources/change-manufacturers.ts'
import { type ImportContext, ImportError } from './import-context.ts'
import { putSettings } from './import-settings.ts'

/** Merges the manufacturers in the file into the stored ones, with the same validation as a REST request. */
export async function planManufacturers(
  file: InstallationFile,
  stored: readonly StoredManufacturer[],
  { destinations }: Pick<SourceDeps, 'destinations'>,
): Promise<StoredManufacturer[]> {
  const entries = file.manufacturers ?? []
  const repeated = findRepeatedCode(entries)
  if (repeated !== null) throw new ImportError(`manufacturers.${repeated.key}`, repeated.problem)
  return Promise.all(
    entries.map(async ({ settings: _, ...change }, index) => {
      const before = stored.find(({ code }) => code === change.code)
      try {
        return await mergeManufacturer({ destinations }, change, before)
      } catch (error) {
        if (!(error instanceof RequestError)) throw error
        const [key = '', ...messageParts] = (error.details ?? error.message).split(': ')
        throw new ImportError(`manufacturers.${index}.${key}`, messageParts.join(': '))
      }
    }),
  )
}

export async function putManufacturers(work: ImportContext, planned: readonly StoredManufacturer[]): Promise<void> {
  const { tx, secrets, file, before } = work
  for (const record of planned) {
    const stored = before.manufacturers.find(({ code }) => code === record.code)
    if (work.count('manufacturers', stored, record)) await saveManufacturer(tx, secrets, record)
  }
  for (const [index, { code, settings }] of (file.manufacturers ?? []).entries()) {
    await putSettings(work, settings, { manufacturer: code, group: null }, `manufacturers.${index}.settings`)
  }
  await putSettings(work, file.settings, globalScope, 'settings')
}
