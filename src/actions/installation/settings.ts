/** Settings of one scope: of the installation, a manufacturer or a group. */

import Type from 'typebox'
import {
  defaultSettings,
  isSettingKey,
  type SettingKey,
  type SettingKind,
  settingKeys,
  settingKinds,
} from '../../contract/settings.ts'
import {
  describeValues,
  findConflict,
  globalScope,
  indexSettings,
  parseSetting,
  type ScopeSettings,
  type SettingScope,
} from '../../domain/settings.ts'
import { saveSetting } from '../../storage/settings.ts'
import { defineSection, partial, record } from './entries.ts'
import { type ImportContext, ImportError } from './import-context.ts'

const section = (keys: readonly SettingKey[]) =>
  Type.Optional(
    Type.Unsafe<ScopeSettings>(
      record(partial(Object.fromEntries(keys.map((key) => [key, schemaOf(key)]))), `a section of ${keys.join(', ')}`),
    ),
  )

function schemaOf(key: SettingKey): Type.TSchema {
  const kind: SettingKind = settingKinds[key]
  const description = describeValues(kind)
  switch (kind.type) {
    case 'boolean':
      return Type.Boolean({ description })
    case 'integer':
      return Type.Integer({ minimum: kind.min, maximum: kind.max, description })
    case 'decimal':
      return Type.Number({ minimum: kind.min, maximum: kind.max, description })
    case 'choice':
      return Type.Enum([...kind.values], { description })
    case 'time_zone':
    case 'list':
      return Type.String({ description })
  }
}

export const settingSection = defineSection(
  section(settingKeys),
  ({ settings }) => exportSettings(indexSettings(settings).global),
  (work, settings) => importSettings(work, settings, globalScope, 'settings'),
)
export const manufacturerSettings = section(settingKeys.filter((key) => settingKinds[key].isPerManufacturer))
export const groupSettings = section(settingKeys.filter((key) => settingKinds[key].isPerGroup))

/** Returns the values in the order of the table of settings, so that equal installations give equal files. */
export function exportSettings(settings: ScopeSettings = {}): ScopeSettings {
  const entries = settingKeys.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]]))
  return Object.fromEntries(entries)
}

/** `path` is the position of the settings in the file. */
export async function importSettings(
  work: ImportContext,
  settings: ScopeSettings = {},
  { manufacturer, group }: SettingScope,
  path: string,
): Promise<void> {
  const { tx, before } = work
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
    if (work.count('settings', stored?.value, text)) await saveSetting(tx, { manufacturer, group, key, value: text })
  }
}
