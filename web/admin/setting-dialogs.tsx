/** Dialogs to edit and reset a setting. */

import type { Settings } from '../../src/contract/resources/settings.ts'
import { parseSetting, settingKinds } from '../../src/domain/settings.ts'
import type { Problem } from '../api.ts'
import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { Removal } from '../parts/action-dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useShowMessage } from '../parts/messages.tsx'
import { formatSetting, type SettingRow, scopeName } from './setting-row.ts'

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
  const { key, manufacturer } = row
  const send = (values: FormData) => {
    const body = { key, value: String(values.get('value')).trim(), manufacturer }
    return api.write('POST', '/api/config/', body, 'object')
  }
  const done = async (settings: Settings) => {
    onClose()
    showMessage({
      text: t('settings.changed', {
        setting: t(`settings.keys.${key}.title`),
        value: formatSetting(key, settings[key]),
      }),
    })
    await onDone()
  }
  return (
    <FormDialog
      title={t('settings.changeTitle', { setting: t(`settings.keys.${key}.title`), scope: scopeName(manufacturer) })}
      action={t('settings.save')}
      check={(values) => valueProblem(row, values)}
      {...{ send, onClose }}
      onDone={done}
    >
      <p className="hint">{t(`settings.keys.${key}.description`)}</p>
      <ValueField row={row} />
    </FormDialog>
  )
}

function ValueField({ row: { key, value } }: Pick<DialogProps, 'row'>) {
  const kind = settingKinds[key]
  if (kind.type === 'boolean') {
    const options = [
      { value: 'true', text: t('settings.on') },
      { value: 'false', text: t('settings.off') },
    ]
    return (
      <SelectField
        name="value"
        label={t(`settings.keys.${key}.title`)}
        options={options}
        defaultValue={String(value)}
      />
    )
  }
  return (
    <Field
      name="value"
      label={`${t(`settings.keys.${key}.title`)} (${key === 'polling_interval' ? t('units.s') : t('units.percent')})`}
      hint={t('settings.bounds', { min: kind.min, max: kind.max })}
      inputMode="numeric"
      autoComplete="off"
      defaultValue={String(value)}
    />
  )
}

/** Checks the service's validation rule before the request is sent. */
function valueProblem({ key }: SettingRow, values: FormData): Problem | null {
  const kind = settingKinds[key]
  if (kind.type === 'boolean' || parseSetting(key, String(values.get('value')).trim()).ok) return null
  return { kind: 'refused', field: 'value', detail: t('settings.expected', { min: kind.min, max: kind.max }) }
}

function Reset({ row: { key, manufacturer }, onDone, onClose }: DialogProps) {
  const address = `/api/admin/settings/${key}/` as const
  return (
    <Removal
      title={t('settings.resetTitle', { setting: t(`settings.keys.${key}.title`), scope: scopeName(manufacturer) })}
      action={t('settings.reset')}
      done={t('settings.resetDone', { setting: t(`settings.keys.${key}.title`) })}
      path={manufacturer === null ? address : `${address}?${new URLSearchParams({ manufacturer })}`}
      {...{ onDone, onClose }}
    >
      <p>{manufacturer === null ? t('settings.resetGlobal') : t('settings.resetManufacturer')}</p>
    </Removal>
  )
}
