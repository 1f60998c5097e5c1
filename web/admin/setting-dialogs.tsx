/** Dialogs to edit and reset a setting. */

import { type SettingKind, type Settings, settingKinds } from '../../src/contract/settings.ts'
import { parseSetting } from '../../src/domain/settings.ts'
import type { Problem } from '../api.ts'
import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { Removal } from '../parts/action-dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useShowMessage } from '../parts/messages.tsx'
import { configAddress, formatSetting, type SettingRow, settingDescription, settingTitle } from './setting-row.ts'

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
  const showMessage = useShowMessage()
  const { key, scopeName } = row
  const setting = settingTitle(key)
  const send = (values: FormData) => {
    const body = { key, value: String(values.get('value')).trim() }
    return api.write('POST', configAddress(row), body, 'object')
  }
  const done = async (settings: Settings) => {
    onClose()
    showMessage({ text: t('settings.changed', { setting, value: formatSetting(key, settings[key]) }) })
    await onDone()
  }
  return (
    <FormDialog
      title={t('settings.changeTitle', { setting, scope: scopeName })}
      action={t('settings.save')}
      check={(values) => valueProblem(row, values)}
      {...{ send, onClose }}
      onDone={done}
    >
      <p className="hint">{settingDescription(key)}</p>
      <ValueField row={row} />
    </FormDialog>
  )
}

function ValueField({ row: { key, value } }: Pick<DialogProps, 'row'>) {
  const kind: SettingKind = settingKinds[key]
  const title = settingTitle(key)
  if (kind.type === 'integer') {
    return (
      <Field
        name="value"
        label={`${title} (${t(`settings.units.${kind.unit === '%' ? 'percent' : kind.unit}`)})`}
        hint={t('settings.bounds', { min: kind.min, max: kind.max, value: kind.default })}
        // The numeric keyboard of some phones has no minus sign.
        inputMode={kind.min < 0 ? 'text' : 'numeric'}
        autoComplete="off"
        defaultValue={String(value)}
      />
    )
  }
  const values = kind.type === 'boolean' ? [true, false] : (kind.values as readonly SettingRow['value'][])
  const options = values.map((option) => ({ value: String(option), text: formatSetting(key, option) }))
  return <SelectField name="value" label={title} options={options} defaultValue={String(value)} />
}

/** Checks the service's validation rule before the request is sent. */
function valueProblem({ key }: SettingRow, values: FormData): Problem | null {
  const kind: SettingKind = settingKinds[key]
  if (kind.type !== 'integer' || parseSetting(key, String(values.get('value')).trim()).ok) return null
  return { kind: 'refused', field: 'value', detail: t('settings.expected', { min: kind.min, max: kind.max }) }
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
