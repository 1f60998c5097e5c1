/** A row of the settings table: one setting, for one manufacturer or for all of them. */

import type { SettingsBody } from '../../src/contract/resources/settings.ts'
import { type ExplainedSettings, type SettingKey, settingKinds } from '../../src/domain/settings.ts'
import { formatDuration, formatPercent } from '../format.ts'
import { t } from '../i18n.ts'

export type SettingRow = ExplainedSettings[SettingKey] & {
  readonly key: SettingKey
  /** Manufacturer code; null for the value that applies to all manufacturers. */
  readonly manufacturer: string | null
}

const keys = Object.keys(settingKinds) as SettingKey[]

export function rowsOf({ manufacturer, settings }: SettingsBody): readonly SettingRow[] {
  return keys.map((key) => ({ key, manufacturer, ...settings[key] }))
}

export function scopeName(manufacturer: string | null): string {
  return manufacturer === null ? t('settings.allManufacturers') : t('settings.oneManufacturer', { code: manufacturer })
}

export function formatSetting(key: SettingKey, value: number | boolean): string {
  if (typeof value === 'boolean') return value ? t('settings.on') : t('settings.off')
  return key === 'polling_interval' ? formatDuration(value * 1000) : formatPercent(value)
}
