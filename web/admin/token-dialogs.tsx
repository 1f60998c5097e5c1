/** Dialogs to create, edit and revoke tokens. */

import type { TokenBody } from '../../src/contract/resources/accounts.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { serviceNow } from '../app/service-time.ts'
import { Removal } from '../parts/action-dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useShowMessage } from '../parts/messages.tsx'
import { CreateToken } from './create-token.tsx'
import type { NewToken } from './created-token.tsx'
import { KioskLink } from './kiosk-link.tsx'
import { roleOptions } from './person-dialogs.tsx'
import { EndFields, endOf, endProblem } from './token-end.tsx'

const path = '/api/admin/tokens/'

export type TokenQuestion =
  | { readonly kind: 'create' | 'kiosk' }
  | { readonly kind: 'change' | 'revoke'; readonly token: TokenBody }

interface DialogProps {
  onCreated(newToken: NewToken): void
  onDone(): Promise<void>
  onClose(): void
}

export function TokenDialog({ question, ...rest }: DialogProps & { readonly question: TokenQuestion }) {
  switch (question.kind) {
    case 'create':
      return <CreateToken {...rest} />
    case 'kiosk':
      return <KioskLink {...rest} />
    case 'change':
      return <Change token={question.token} {...rest} />
    case 'revoke':
      return <Revoke token={question.token} {...rest} />
    default:
      return question satisfies never
  }
}

type AboutToken = Pick<DialogProps, 'onDone' | 'onClose'> & { readonly token: TokenBody }

function Change({ token, onDone, onClose }: AboutToken) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const name = plainText(token.name)
  const send = (values: FormData) => {
    const body = { name: values.get('name'), role: values.get('role'), expires_at: endOf(values, serviceNow()) }
    return api.write('PATCH', `${path}${token.id}/`, body, 'object')
  }
  const done = async () => {
    onClose()
    showMessage({ text: t('tokens.changed', { name }) })
    await onDone()
  }
  return (
    <FormDialog
      title={t('tokens.changeTitle', { name })}
      action={t('tokens.save')}
      check={(values) => endProblem(values, serviceNow())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <Field name="name" label={t('tokens.name')} defaultValue={token.name} autoComplete="off" maxLength={255} />
      <SelectField name="role" label={t('tokens.role')} options={roleOptions} defaultValue={token.role} />
      <EndFields keep={true} />
    </FormDialog>
  )
}

function Revoke({ token, onDone, onClose }: AboutToken) {
  const name = plainText(token.name)
  return (
    <Removal
      title={t('tokens.revokeTitle', { name })}
      action={t('tokens.revoke')}
      done={t('tokens.revoked', { name })}
      path={`${path}${token.id}/`}
      {...{ onDone, onClose }}
    >
      <p>{t('tokens.revokeConsequence')}</p>
    </Removal>
  )
}
