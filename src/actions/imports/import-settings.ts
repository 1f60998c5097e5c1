/** Imports the settings of one scope. */

import { defaultSettings, isSettingKey } from '../../contract/settings.ts'
import {
  findConflict,
  indexSettings,
  parseSetting,
  type ScopeSettings,
  type SettingScope,
} from '../../domain/settings.ts'
import { saveSetting } from '../../storage/settings.ts'
import { type ImportContext, ImportError } from './import-context.ts'

/** `path` is the position of the settings in the file. */
export async function putSettings(
  { tx, before, count }: ImportContext,
  settings: ScopeSettings = {},
  { manufacturer, group }: SettingScope,
  path: string,
): Promise<void> {
  const { global } = indexSettings(before.settings)
  const conflict =
    manufacturer === null && group === null && findConflict({ ...defaultSettings, ...global, ...settings })
  if (conflict) throw new ImportError(`${path}.HISTORY_SECONDS_DAYS`, conflict)
  for (const [key, value] of Object.entries(settings)) {
    if (!isSettingKey(key)) continue
    const text = String(value)
    const parsed = parseSetting(key, text)
    if (!parsed.ok) throw new ImportError(`${path}.${key}`, `expected ${parsed.expected}`)
    const stored = before.settings.find(
      (setting) => setting.manufacturer === manufacturer && setting.group === group && setting.key === key,
    )
    if (count('settings', stored?.value, text)) await saveSetting(tx, { manufacturer, group, key, value: text })
  }
}
