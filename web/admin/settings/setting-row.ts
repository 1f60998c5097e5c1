import { type AlertKind, alertKinds } from '../../../src/contract/alert-kinds.ts'
import type { SettingsBody } from '../../../src/contract/configuration.ts'
import {
  defaultSettings,
  type labelledSettings,
  type NumberSetting,
  type SettingKey,
  type SettingKind,
  type SettingSubject,
  settingKeys,
  settingKinds,
} from '../../../src/contract/settings.ts'
import type { SettingScope } from '../../../src/domain/settings.ts'
import { formatDbm, formatPercent, formatUnit } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { versionOf } from '../../parts/forms/entries.ts'

type Explained = SettingsBody['settings'][SettingKey]

export const settingTopics = ['settings', 'groups'] as const

export interface SettingRow extends SettingScope {
  readonly key: SettingKey
  readonly value: Explained['value']
  readonly source: Explained['source']
  readonly scopeName: string
  /** Of its scope. */
  readonly version?: number | undefined
}

export const alertAspects = ['enabled', 'delay_seconds', 'severity'] as const
type AlertAspect = (typeof alertAspects)[number]

export interface AlertRow {
  readonly kind: AlertKind
  readonly settings: Readonly<Record<AlertAspect, SettingRow>>
}

export function rowsOf(scope: SettingsBody, scopeName: string, subject: SettingSubject): readonly SettingRow[] {
  const { settings, manufacturer, group } = scope
  const version = versionOf(scope)
  return settingKeys
    .filter((key) => settingKinds[key].subject === subject && isSettable(key, { manufacturer, group }))
    .map((key) => ({ key, manufacturer, group, scopeName, version, ...settings[key] }))
}

function isSettable(key: SettingKey, { manufacturer, group }: SettingScope): boolean {
  const { isPerManufacturer, isPerGroup } = settingKinds[key]
  return group === null ? manufacturer === null || isPerManufacturer : isPerGroup
}

export function alertRowsOf(rows: readonly SettingRow[]): readonly AlertRow[] {
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return alertKinds.flatMap((kind) => {
    const enabled = byKey.get(`alert_${kind}_enabled`)
    const delay_seconds = byKey.get(`alert_${kind}_delay_seconds`)
    const severity = byKey.get(`alert_${kind}_severity`)
    if (enabled === undefined || delay_seconds === undefined || severity === undefined) return []
    return [{ kind, settings: { enabled, delay_seconds, severity } }]
  })
}

export function scopeKey({ manufacturer, group }: SettingScope): string {
  if (group !== null) return `group:${group}`
  return manufacturer === null ? '' : `manufacturer:${manufacturer}`
}

export function configAddress({ manufacturer, group }: SettingScope, query: Readonly<Record<string, string>> = {}) {
  const params = new URLSearchParams(query)
  if (manufacturer !== null) params.set('manufacturer', manufacturer)
  if (group !== null) params.set('group', String(group))
  return `/api/config/?${params}` as const
}

const alertKey = /^alert_(.+)_(enabled|delay_seconds|severity)$/

export function settingTitle(key: SettingKey): string {
  const [, kind, aspect] = alertKey.exec(key) ?? []
  if (kind === undefined) return t(`settings.keys.${key as keyof typeof labelledSettings}.title`)
  const alert = t(`alerts.kinds.${kind as AlertKind}`)
  return t(`settings.alertKeys.${aspect as AlertAspect}.title`, { alert })
}

export function settingDescription(key: SettingKey): string {
  const [, kind, aspect] = alertKey.exec(key) ?? []
  if (kind === undefined) return t(`settings.keys.${key as keyof typeof labelledSettings}.description`)
  return t(`settings.alertKeys.${aspect as AlertAspect}.description`)
}

export function isNumber(kind: SettingKind): kind is NumberSetting {
  return kind.type === 'integer' || kind.type === 'decimal'
}

type ChoiceValue = Extract<(typeof settingKinds)[SettingKey], { readonly type: 'choice' }>['values'][number]

/** False if the browser does not know the default. */
export function isChanged({ key, value, source }: SettingRow): boolean {
  return hasKnownDefault(key) ? value !== defaultSettings[key] : source !== 'default'
}

/** Some defaults depend on the installation. */
export function hasKnownDefault(key: SettingKey): boolean {
  const kind: SettingKind = settingKinds[key]
  return kind.hasOwnDefault !== true
}

export function formatSetting(key: SettingKey, value: SettingRow['value']): string {
  if (typeof value === 'boolean') return value ? t('parts.form.on') : t('parts.form.off')
  const kind: SettingKind = settingKinds[key]
  if (typeof value === 'string') return kind.type === 'choice' ? t(`settings.values.${value as ChoiceValue}`) : value
  switch (isNumber(kind) ? kind.unit : undefined) {
    case 'd':
      return formatUnit('day', value)
    case 'GB':
      return formatUnit('gigabyte', value)
    case 's':
      return formatUnit('second', value)
    case 'min':
      return formatUnit('minute', value)
    case 'dBm':
      return formatDbm(value)
    default:
      return formatPercent(value)
  }
}
