/** Creates a token for a script. */

import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { serviceNow } from '../app/service-time.ts'
import { Field, SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import type { NewToken } from './created-token.tsx'
import { roleOptions } from './person-dialogs.tsx'
import { EndFields, endOf, endProblem } from './token-end.tsx'

interface CreateTokenProps {
  onCreated(newToken: NewToken): void
  onDone(): Promise<void>
  onClose(): void
}

export function CreateToken({ onCreated, onDone, onClose }: CreateTokenProps) {
  const { api } = useServices()
  const send = (values: FormData) => {
    const body = { name: values.get('name'), role: values.get('role'), expires_at: endOf(values, serviceNow()) }
    return api.write('POST', '/api/admin/tokens/', body, 'object')
  }
  const done = async ({ name, token }: NewToken) => {
    onClose()
    onCreated({ name, token })
    await onDone()
  }
  return (
    <FormDialog
      title={t('tokens.create')}
      action={t('tokens.createAction')}
      check={(values) => endProblem(values, serviceNow())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <Field name="name" label={t('tokens.name')} hint={t('tokens.nameHint')} autoComplete="off" maxLength={255} />
      <SelectField name="role" label={t('tokens.role')} options={roleOptions} />
      <EndFields />
    </FormDialog>
  )
}
