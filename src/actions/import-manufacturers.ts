/** The manufacturers of a file, and the settings: of each, and of the house. */

import type { SourceDeps } from '../manufacturers/sources.ts'
import { Refusal } from '../model/errors.ts'
import { findRepeatedCode, type HouseFile, type SettingValues } from '../model/house-file.ts'
import { isSettingKey, parseSetting } from '../model/settings.ts'
import { type StoredManufacturer, saveManufacturer, saveSetting } from '../store/settings.ts'
import { mergeManufacturer } from './change-manufacturers.ts'
import { ImportFault, type Work } from './import-work.ts'

/** The manufacturers of the file laid over those that are stored, held to what a REST request is held to. */
export async function planManufacturers(
  file: HouseFile,
  stored: readonly StoredManufacturer[],
  { destinations }: Pick<SourceDeps, 'destinations'>,
): Promise<StoredManufacturer[]> {
  const entries = file.manufacturers ?? []
  const repeated = findRepeatedCode(entries)
  if (repeated !== null) throw new ImportFault(`manufacturers.${repeated.key}`, repeated.trouble)
  return Promise.all(
    entries.map(async ({ settings: _, ...change }, at) => {
      const before = stored.find(({ code }) => code === change.code)
      try {
        return await mergeManufacturer({ destinations }, change, before)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        const [key = '', ...trouble] = (error.details ?? error.message).split(': ')
        throw new ImportFault(`manufacturers.${at}.${key}`, trouble.join(': '))
      }
    }),
  )
}

export async function putManufacturers(work: Work, planned: readonly StoredManufacturer[]): Promise<void> {
  const { tx, secrets, file, before } = work
  for (const record of planned) {
    const stored = before.manufacturers.find(({ code }) => code === record.code)
    if (work.count('manufacturers', stored, record)) await saveManufacturer(tx, secrets, record)
  }
  for (const [at, { code, settings = {} }] of (file.manufacturers ?? []).entries()) {
    await putSettings(work, settings, code, `manufacturers.${at}.settings`)
  }
  await putSettings(work, file.settings ?? {}, null, 'settings')
}

async function putSettings(
  work: Work,
  values: SettingValues,
  manufacturer: string | null,
  path: string,
): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    if (!isSettingKey(key)) continue
    const text = String(value)
    const parsed = parseSetting(key, text)
    if (!parsed.ok) throw new ImportFault(`${path}.${key}`, `expected ${parsed.expected}`)
    const stored = work.before.settings.find((one) => one.manufacturer === manufacturer && one.key === key)
    if (work.count('settings', stored?.value, text)) await saveSetting(work.tx, { manufacturer, key, value: text })
  }
}
