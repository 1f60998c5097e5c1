import type { ConfigBody, SettingsBody } from '../../../src/contract/configuration.ts'
import {
  type BooleanSetting,
  type ChoiceSetting,
  type NumberSetting,
  type SettingKind,
  settingKinds,
  type TimeZoneSetting,
} from '../../../src/contract/settings.ts'
import { parseSetting } from '../../../src/domain/settings.ts'
import type { Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useResource } from '../../app/resource.ts'
import { Removal } from '../../parts/dialogs/dialog.tsx'
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx'
import { versionOf } from '../../parts/forms/entries.ts'
import { Field, SelectField } from '../../parts/forms/field.tsx'
import {
  configAddress,
  formatSetting,
  isNumber,
  type SettingRow,
  scopeKey,
  settingDescription,
  settingTitle,
  settingTopics,
} from './setting-row.ts'

export interface SettingQuestion {
  readonly kind: 'change' | 'reset'
  readonly row: SettingRow
}

interface DialogProps {
  readonly row: SettingRow
  onDone(): Promise<void>
  onClose(): void
}

export function SettingDialog({
  question: { kind, row },
  ...rest
}: Omit<DialogProps, 'row'> & { question: SettingQuestion }) {
  return kind === 'change' ? <Change row={row} {...rest} /> : <Reset row={row} {...rest} />
}

function Change({ row, onDone, onClose }: DialogProps) {
  const { api } = useServices()
  const { key, scopeName } = row
  const setting = settingTitle(key)
  const { body: scopes } = useResource('/api/admin/settings/', 'list', settingTopics)
  const latest = scopes?.find((scope) => scopeKey(scope) === scopeKey(row))
  return (
    <FormDialog
      title={t('settings.changeTitle', { setting, scope: scopeName })}
      action={t('settings.save')}
      check={(values) => valueProblem(row, values)}
      edit={{
        address: `${configAddress(row)}&key=${key}`,
        record: row,
        latest: latest && settingOf(latest, row),
        read: (current) => ({ ...row, value: (current as ConfigBody)[key], version: versionOf(current) }),
      }}
      send={(values, { version }) => {
        const body = { key, value: String(values.get('value')).trim() }
        return api.write('POST', configAddress(row), body, 'object', version)
      }}
      done={(settings) => t('settings.changed', { setting, value: formatSetting(key, settings[key]) })}
      {...{ onDone, onClose }}
    >
      {(present) => (
        <>
          <p className="hint">{settingDescription(key)}</p>
          <ValueField row={present} />
        </>
      )}
    </FormDialog>
  )
}

function settingOf(scope: SettingsBody, row: SettingRow): SettingRow {
  return { ...row, ...scope.settings[row.key], version: versionOf(scope) }
}

function ValueField({ row: { key, value } }: Pick<DialogProps, 'row'>) {
  const kind: SettingKind = settingKinds[key]
  const title = settingTitle(key)
  if (isNumber(kind)) {
    return (
      <Field
        name="value"
        label={
          kind.unit === null ? title : `${title} (${t(`settings.units.${kind.unit === '%' ? 'percent' : kind.unit}`)})`
        }
        hint={boundsOf(kind)}
        // The numeric keyboard of some phones has no minus sign.
        inputMode={kind.min < 0 ? 'text' : kind.type === 'decimal' ? 'decimal' : 'numeric'}
        autoComplete="off"
        defaultValue={String(value)}
      />
    )
  }
  if (kind.type === 'list') {
    return <Field name="value" label={title} autoComplete="off" defaultValue={String(value)} required={false} />
  }
  const options = listValues(kind, value).map((option) => ({ value: String(option), text: formatSetting(key, option) }))
  return <SelectField name="value" label={title} options={options} defaultValue={String(value)} />
}

function listValues(
  kind: BooleanSetting | ChoiceSetting | TimeZoneSetting,
  value: SettingRow['value'],
): readonly SettingRow['value'][] {
  switch (kind.type) {
    case 'boolean':
      return [true, false]
    case 'choice':
      return kind.values
    case 'time_zone':
      // The browser may not list the current time zone.
      return [...new Set([value, ...Intl.supportedValuesOf('timeZone')])].sort()
  }
}

/** The default of a decimal setting depends on the installation. */
function boundsOf({ type, min, max, default: value }: NumberSetting): string {
  return type === 'integer' ? t('settings.bounds', { min, max, value }) : t('settings.boundsDecimal', { min, max })
}

/** Applies the service's rule before the request is sent. */
function valueProblem({ key }: SettingRow, values: FormData): Problem | null {
  const kind: SettingKind = settingKinds[key]
  if (!isNumber(kind) || parseSetting(key, String(values.get('value')).trim()).ok) return null
  const { min, max, type } = kind
  const detail = type === 'integer' ? t('settings.expected', { min, max }) : t('settings.expectedDecimal', { min, max })
  return { kind: 'refused', field: 'value', detail }
}

function Reset({ row, onDone, onClose }: DialogProps) {
  const { key, manufacturer, group, scopeName } = row
  const setting = settingTitle(key)
  return (
    <Removal
      title={t('settings.resetTitle', { setting, scope: scopeName })}
      action={t('settings.reset')}
      done={t('settings.resetDone', { setting })}
      path={configAddress(row, { key })}
      record={row}
      {...{ onDone, onClose }}
    >
      <p>
        {group !== null && t('settings.resetGroup')}
        {manufacturer !== null && t('settings.resetManufacturer')}
        {group === null && manufacturer === null && t('settings.resetGlobal')}
      </p>
    </Removal>
  )
}
