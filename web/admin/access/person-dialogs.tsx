import type { UserBody } from '../../../src/contract/access.ts'
import { roles } from '../../../src/contract/values.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Removal } from '../../parts/dialogs/dialog.tsx'
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx'
import { changedFields } from '../../parts/forms/entries.ts'
import { Field, PasswordField, SelectField, TickField } from '../../parts/forms/field.tsx'
import { newPasswordProblem } from '../../parts/forms/form.tsx'

const path = '/api/admin/users/'
export const roleOptions = roles.map((value) => ({ value, text: t(`shell.roles.${value}`) }))

/** Of a user or token. */
export function ListenField({ permissions = [] }: { readonly permissions?: UserBody['permissions'] }) {
  return (
    <TickField
      name="listen"
      label={t('people.listen')}
      hint={t('people.listenHint')}
      defaultChecked={permissions.includes('listen')}
    />
  )
}

export function permissionsIn(values: FormData): UserBody['permissions'] {
  return values.has('listen') ? ['listen'] : []
}

export type PersonQuestion =
  | { readonly kind: 'add' }
  | { readonly kind: 'change' | 'reset' | 'totp' | 'remove'; readonly user: UserBody }

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
    case 'totp':
      return <RemoveApp user={question.user} {...rest} />
    case 'remove':
      return <Remove user={question.user} {...rest} />
    default:
      return question satisfies never
  }
}

function Add(props: DialogProps) {
  const { api } = useServices()
  return (
    <FormDialog
      title={t('people.add')}
      action={t('people.addAction')}
      check={(values) => newPasswordProblem(values, 'password', String(values.get('username')))}
      edit={{ address: path, record: null }}
      send={(values) => {
        const body = {
          username: values.get('username'),
          role: values.get('role'),
          password: values.get('password'),
          permissions: permissionsIn(values),
        }
        return api.write('POST', path, body, 'object')
      }}
      done={({ username }) => t('people.added', { name: plainText(username) })}
      {...props}
    >
      <Field
        name="username"
        label={t('people.username')}
        hint={t('people.usernameHint')}
        autoComplete="off"
        maxLength={64}
      />
      <SelectField name="role" label={t('people.role')} options={roleOptions} />
      <PasswordField
        name="password"
        label={t('people.password')}
        hint={t('people.passwordHint')}
        autoComplete="new-password"
      />
      <ListenField />
    </FormDialog>
  )
}

function Change({ user, ...props }: AboutUser) {
  const { api } = useServices()
  const name = plainText(user.username)
  const bodyOf = (values: FormData) => ({
    role: values.get('role'),
    permissions: permissionsIn(values),
    is_active: values.has('is_active'),
  })
  return (
    <FormDialog
      title={t('people.changeTitle', { name })}
      action={t('people.save')}
      edit={{ address: `${path}${user.id}/`, record: user }}
      send={(values, { before, version }) => {
        const change = changedFields(bodyOf(before), bodyOf(values))
        return api.write('PATCH', `${path}${user.id}/`, change, 'object', version)
      }}
      done={() => t('people.changed', { name })}
      {...props}
    >
      {({ issuer, role, permissions, is_active }) => (
        <>
          {issuer === null ? (
            <SelectField
              name="role"
              label={t('people.role')}
              options={roleOptions}
              defaultValue={role}
              hint={t('people.changeHint')}
            />
          ) : (
            <p className="hint">{t('people.providerHint')}</p>
          )}
          <ListenField permissions={permissions} />
          <TickField name="is_active" label={t('people.isActive')} defaultChecked={is_active} />
        </>
      )}
    </FormDialog>
  )
}

function Reset({ user, ...props }: AboutUser) {
  const { api } = useServices()
  const name = plainText(user.username)
  return (
    <FormDialog
      title={t('people.resetTitle', { name })}
      action={t('people.resetAction')}
      check={(values) => newPasswordProblem(values, 'password', user.username)}
      edit={{ address: `${path}${user.id}/?password`, record: user }}
      send={(values, { version }) =>
        api.write('PATCH', `${path}${user.id}/`, Object.fromEntries(values), 'object', version)
      }
      done={() => t('people.resetDone', { name })}
      {...props}
    >
      <p className="hint">{t('people.resetConsequence')}</p>
      <PasswordField
        name="password"
        label={t('people.newPassword')}
        hint={t('people.passwordHint')}
        autoComplete="new-password"
      />
    </FormDialog>
  )
}

function RemoveApp({ user, ...props }: AboutUser) {
  const name = plainText(user.username)
  return (
    <Removal
      title={t('people.totpTitle', { name })}
      action={t('people.totp')}
      done={t('people.totpRemoved', { name })}
      path={`${path}${user.id}/totp/`}
      {...props}
    >
      <p>{t('people.totpConsequence')}</p>
    </Removal>
  )
}

function Remove({ user, ...props }: AboutUser) {
  const name = plainText(user.username)
  return (
    <Removal
      title={t('people.removeTitle', { name })}
      action={t('people.remove')}
      done={t('people.removed', { name })}
      path={`${path}${user.id}/`}
      record={user}
      {...props}
    >
      <p>{t(user.issuer === null ? 'people.removeConsequence' : 'people.removeProviderConsequence')}</p>
    </Removal>
  )
}
