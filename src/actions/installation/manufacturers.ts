import { manufacturerFields } from '../../contract/manufacturers.ts'
import { type Body, code } from '../../contract/schema.ts'
import { isSecretName, mask, maskSecrets } from '../../domain/access/secrets.ts'
import { findRepeatedCode } from '../../domain/equipment/manufacturer-config.ts'
import { RequestError } from '../../domain/errors.ts'
import { indexSettings } from '../../domain/settings.ts'
import type { Outbound } from '../../manufacturers/sources.ts'
import { type StoredManufacturer, saveManufacturer } from '../../storage/settings.ts'
import { mergeManufacturer } from '../sources/change-manufacturers.ts'
import { defineSection, type ExportOptions, list, record, sortBy, whenNotEmpty } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { type ImportContext, ImportError } from './import-context.ts'
import { exportSettings, importSettings, manufacturerSettings } from './settings.ts'

const ManufacturerEntry = record(
  { code, ...manufacturerFields, settings: manufacturerSettings },
  'a manufacturer with at least a code',
)
type ManufacturerEntry = Body<typeof ManufacturerEntry>

export const manufacturerSection = defineSection(
  list(ManufacturerEntry, 'a list of manufacturers'),
  exportManufacturers,
  importManufacturers,
)

function exportManufacturers(installation: Installation, { withSecrets }: ExportOptions): ManufacturerEntry[] {
  const settings = indexSettings(installation.settings).manufacturers
  return sortBy(installation.manufacturers, ({ code }) => code).map(
    ({ secretsUnreadable, config, version: _, ...fields }) => ({
      ...fields,
      config: exportConfig(config, withSecrets, secretsUnreadable),
      ...whenNotEmpty('settings', exportSettings(settings.get(fields.code))),
    }),
  )
}

function exportConfig(config: StoredManufacturer['config'], withSecrets: boolean, isUnreadable: boolean) {
  const readable = maskUnreadable(config, isUnreadable)
  return (withSecrets ? readable : maskSecrets(readable)) as StoredManufacturer['config']
}

/** Replaces secrets that could not be decrypted (null) with `********`, so that an import keeps the stored secrets. */
function maskUnreadable(value: unknown, isUnreadable: boolean, isSecret = false): unknown {
  if (value === null) return isSecret && isUnreadable ? mask : null
  if (Array.isArray(value)) return value.map((item) => maskUnreadable(item, isUnreadable, isSecret))
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value as object).map(([name, item]) => [
      name,
      maskUnreadable(item, isUnreadable, isSecret || isSecretName(name)),
    ]),
  )
}

/**
 * Merges the entries into the stored manufacturers, with the same validation as a REST request. This resolves host
 * names, which takes time, so it happens before the transaction.
 */
export async function planManufacturers(
  entries: readonly ManufacturerEntry[],
  stored: readonly StoredManufacturer[],
  destinations: Outbound['destinations'],
): Promise<StoredManufacturer[]> {
  const repeated = findRepeatedCode(entries)
  if (repeated !== null) throw new ImportError(`manufacturers.${repeated.key}`, repeated.problem)
  return Promise.all(
    entries.map(async ({ settings: _, ...change }, index) => {
      const before = stored.find(({ code }) => code === change.code)
      try {
        return await mergeManufacturer(destinations, change, before)
      } catch (error) {
        if (!(error instanceof RequestError)) throw error
        const [key = '', ...messageParts] = (error.details ?? error.message).split(': ')
        throw new ImportError(`manufacturers.${index}.${key}`, messageParts.join(': '))
      }
    }),
  )
}

async function importManufacturers(work: ImportContext, entries: readonly ManufacturerEntry[] = []): Promise<void> {
  for (const manufacturer of work.planned.manufacturers) {
    const stored = work.before.manufacturers.find(({ code }) => code === manufacturer.code)
    if (work.count('manufacturers', stored, manufacturer)) await saveManufacturer(work.tx, work.secrets, manufacturer)
  }
  for (const [index, { code, settings }] of entries.entries()) {
    await importSettings(work, settings, { manufacturer: code, group: null }, `manufacturers.${index}.settings`)
  }
}
