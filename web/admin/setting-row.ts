/** One setting of one scope, as the page lists it. */

import { type ExplainedSettings, type SettingKey, type SettingsBody, settingKinds } from '../../src/model/settings.ts'
import { words } from '../words.ts'

const texts = words.settings

export type SettingRow = ExplainedSettings[SettingKey] & {
  readonly key: SettingKey
  /** Null: of all. */
  readonly manufacturer: string | null
}

const keys = Object.keys(settingKinds) as SettingKey[]

export function rowsOf({ manufacturer, settings }: SettingsBody): readonly SettingRow[] {
  return keys.map((key) => ({ key, manufacturer, ...settings[key] }))
}

export function scopeName(manufacturer: string | null): string {
  return manufacturer === null ? texts.everyMaker : texts.ofMaker(manufacturer)
}
