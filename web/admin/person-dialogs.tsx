/** Questions about people: a new one, another role, a new password, none any more. */

import { roles } from '../../src/model/access.ts'
import type { UserBody } from '../../src/model/people.ts'
import { newPasswordProblem } from '../access/new-password.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { Removal } from '../parts/deed-dialog.tsx'
import { Field, PasswordField, SelectField, TickField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useSay } from '../parts/messages.tsx'
import { words } from '../words.ts'

const texts = words.people

const path = '/api/admin/users/'
export const roleOptions = roles.map((value) => ({ value, text: words.shell.roles[value] }))

export type PersonQuestion =
  | { readonly kind: 'add' }
  | { readonly kind: 'change' | 'reset' | 'remove'; readonly user: UserBody }

interface DialogProps {
  onDone(): Promise<void>
  onClose(): void
}

type AboutUser = DialogProps & { readonly user: UserBody }

export function PersonDialog({ question, ...rest }: DialogProps & { readonly question: PersonQuestion }) {
  switch (question.kind) {
    case 'add':
      return <Add {...rest} />
    case 'change':
      return <Change user={question.user} {...rest} />
    case 'reset':
      return <Reset user={question.user} {...rest} />
    case 'remove':
      return <Remove user={question.user} {...rest} />
    default:
      return question satisfies never
  }
}

function useFinish({ onDone, onClose }: DialogProps) {
  const say = useSay()
  return async (text: string) => {
    onClose()
    say({ text })
    await onDone()
  }
}

function Add(props: DialogProps) {
  const { api } = useSurroundings()
  const finish = useFinish(props)
  return (
    <FormDialog
      title={texts.add}
      action={texts.addAction}
      check={(values) => newPasswordProblem(values, 'password', String(values.get('username')))}
      send={(values) => api.write('POST', path, Object.fromEntries(values), isObject<UserBody>)}
      onDone={({ username }) => finish(texts.added(plainText(username)))}
      onClose={props.onClose}
    >
      <Field name="username" label={texts.username} hint={texts.usernameHint} autoComplete="off" maxLength={64} />
      <SelectField name="role" label={texts.role} options={roleOptions} />
      <PasswordField name="password" label={texts.password} hint={texts.passwordHint} autoComplete="new-password" />
    </FormDialog>
  )
}

function Change({ user, ...props }: AboutUser) {
  const { api } = useSurroundings()
  const finish = useFinish(props)
  const name = plainText(user.username)
  const send = (values: FormData) => {
    const change = { role: String(values.get('role')), is_active: values.has('is_active') }
    return api.write('PATCH', `${path}${user.id}/`, change, isObject<UserBody>)
  }
  return (
    <FormDialog
      title={texts.changeTitle(name)}
      action={texts.save}
      send={send}
      onDone={() => finish(texts.changed(name))}
      onClose={props.onClose}
    >
      <SelectField
        name="role"
        label={texts.role}
        options={roleOptions}
        defaultValue={user.role}
        hint={texts.changeHint}
      />
      <TickField name="is_active" label={texts.isActive} defaultChecked={user.is_active} />
    </FormDialog>
  )
}

function Reset({ user, ...props }: AboutUser) {
  const { api } = useSurroundings()
  const finish = useFinish(props)
  const name = plainText(user.username)
  return (
    <FormDialog
      title={texts.resetTitle(name)}
      action={texts.resetAction}
      check={(values) => newPasswordProblem(values, 'password', user.username)}
      send={(values) => api.write('PATCH', `${path}${user.id}/`, Object.fromEntries(values), isObject<UserBody>)}
      onDone={() => finish(texts.resetDone(name))}
      onClose={props.onClose}
    >
      <p className="hint">{texts.resetFollows}</p>
      <PasswordField name="password" label={texts.newPassword} hint={texts.passwordHint} autoComplete="new-password" />
    </FormDialog>
  )
}

function Remove({ user, ...props }: AboutUser) {
  const name = plainText(user.username)
  return (
    <Removal
      title={texts.removeTitle(name)}
      action={texts.remove}
      done={texts.removed(name)}
      path={`${path}${user.id}/`}
      {...props}
    >
      <p>{texts.removeFollows}</p>
    </Removal>
  )
}
