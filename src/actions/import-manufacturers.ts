/** The manufacturers of a file, and the settings: of each, and of the house. */

import { getPlugin } from '../manufacturers/index.ts'
import { listSources } from '../manufacturers/sources.ts'
import { findRepeatedCode, type ManufacturerEntry, type SettingValues } from '../model/house-file.ts'
import { MaskError, unmaskSecrets } from '../model/secrets.ts'
import { isSettingKey, parseSetting } from '../model/settings.ts'
import type { Config } from '../store/secrets.ts'
import { type StoredManufacturer, saveManufacturer, saveSetting } from '../store/settings.ts'
import { ImportFault, type Work } from './import-work.ts'

export async function putManufacturers(work: Work): Promise<void> {
  const { tx, secrets, file, before } = work
  const entries = file.manufacturers ?? []
  const repeated = findRepeatedCode(entries)
  if (repeated !== null) throw new ImportFault(`manufacturers.${repeated.key}`, repeated.trouble)
  for (const [at, entry] of entries.entries()) {
    const path = `manufacturers.${at}`
    const stored = before.manufacturers.find(({ code }) => code === entry.code)
    const record = mergeManufacturer(entry, stored, path)
    if (work.count('manufacturers', stored, record)) await saveManufacturer(tx, secrets, record)
    await putSettings(work, entry.settings ?? {}, entry.code, `${path}.settings`)
  }
  await putSettings(work, file.settings ?? {}, null, 'settings')
}

function mergeManufacturer(
  { settings: _, config = {}, ...given }: ManufacturerEntry,
  stored: StoredManufacturer | undefined,
  path: string,
): StoredManufacturer {
  const plugin = given.plugin ?? stored?.plugin ?? given.code
  let name = given.name ?? stored?.name ?? given.code
  const merged: Record<string, unknown> = { ...stored?.config, ...unmask(config, stored?.config ?? {}, path) }
  for (const [key, value] of Object.entries(config)) if (value === null) delete merged[key]
  try {
    name = given.name ?? stored?.name ?? getPlugin(plugin).name
    listSources({ plugin, config: merged })
  } catch (error) {
    const { message } = error as Error
    throw new ImportFault(error instanceof RangeError ? `${path}.plugin` : `${path}.config`, message)
  }
  return {
    code: given.code,
    name,
    plugin,
    api_enabled: given.api_enabled ?? stored?.api_enabled ?? true,
    config: merged,
    secretsUnreadable: stored?.secretsUnreadable ?? false,
  }
}

function unmask(config: Config, stored: Config, path: string): Config {
  try {
    return unmaskSecrets(config, stored) as Config
  } catch (error) {
    if (!(error instanceof MaskError)) throw error
    throw new ImportFault(`${path}.config.${error.message}`, 'put the secret in, or export --with-secrets')
  }
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
