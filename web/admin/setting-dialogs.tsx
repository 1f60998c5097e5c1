/** Questions about a setting: another value, or none of its own any more. */

import { parseSetting, type Settings, settingKinds } from '../../src/model/settings.ts'
import { isObject, type Problem } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { Removal } from '../parts/deed-dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useSay } from '../parts/messages.tsx'
import { words } from '../words.ts'
import { type SettingRow, scopeName } from './setting-row.ts'

const texts = words.settings

export interface SettingQuestion {
  readonly kind: 'change' | 'forget'
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
  return kind === 'change' ? <Change row={row} {...rest} /> : <Forget row={row} {...rest} />
}

function Change({ row, onDone, onClose }: DialogProps) {
  const { api } = useSurroundings()
  const say = useSay()
  const { key, manufacturer } = row
  const { title, says, unit } = texts.keys[key]
  const send = (values: FormData) => {
    const body = { key, value: String(values.get('value')).trim(), manufacturer }
    return api.write('POST', '/api/config/', body, isObject<Settings>)
  }
  const done = async (settings: Settings) => {
    onClose()
    say({ text: texts.changed(title, texts.value(settings[key], unit)) })
    await onDone()
  }
  return (
    <FormDialog
      title={texts.changeTitle(title, scopeName(manufacturer))}
      action={texts.save}
      check={(values) => valueProblem(row, values)}
      {...{ send, onClose }}
      onDone={done}
    >
      <p className="hint">{says}</p>
      <ValueField row={row} />
    </FormDialog>
  )
}

function ValueField({ row: { key, value } }: Pick<DialogProps, 'row'>) {
  const { title, unit } = texts.keys[key]
  const kind = settingKinds[key]
  if (kind.type === 'boolean') {
    const options = [
      { value: 'true', text: texts.on },
      { value: 'false', text: texts.off },
    ]
    return <SelectField name="value" label={title} options={options} defaultValue={String(value)} />
  }
  return (
    <Field
      name="value"
      label={`${title} (${unit})`}
      hint={texts.bounds(kind.min, kind.max)}
      inputMode="numeric"
      autoComplete="off"
      defaultValue={String(value)}
    />
  )
}

/** The service's own rule, told before anything is sent. */
function valueProblem({ key }: SettingRow, values: FormData): Problem | null {
  const kind = settingKinds[key]
  if (kind.type === 'boolean' || parseSetting(key, String(values.get('value')).trim()).ok) return null
  return { kind: 'refused', field: 'value', detail: texts.expected(kind.min, kind.max) }
}

function Forget({ row: { key, manufacturer }, onDone, onClose }: DialogProps) {
  const { title } = texts.keys[key]
  const scope = manufacturer === null ? '' : `?${new URLSearchParams({ manufacturer })}`
  return (
    <Removal
      title={texts.forgetTitle(title, scopeName(manufacturer))}
      action={texts.forget}
      done={texts.forgotten(title)}
      path={`/api/admin/settings/${key}/${scope}`}
      {...{ onDone, onClose }}
    >
      <p>{manufacturer === null ? texts.forgetGlobal : texts.forgetOwn}</p>
    </Removal>
  )
}
