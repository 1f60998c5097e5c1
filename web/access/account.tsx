import { useState } from 'react'
import type { UserBody } from '../../src/contract/access.ts'
import { SignOut } from '../app/account.tsx'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSession } from '../app/session.ts'
import { Shell } from '../app/shell.tsx'
import { Ago } from '../parts/age.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { PasswordField } from '../parts/forms/field.tsx'
import { Form, newPasswordProblem } from '../parts/forms/form.tsx'

export function Account() {
  const session = useSession()
  return (
    <Shell title={t('access.account.title')}>
      {session === null ? null : session.user === null ? (
        <p>{t('access.account.noUser')}</p>
      ) : (
        <Person user={session.user} />
      )}
    </Shell>
  )
}

function Person({ user }: { user: UserBody }) {
  return (
    <>
      <section className="panel">
        <dl className="pairs">
          <dt>{t('access.account.signedInAs')}</dt>
          <dd>
            <bdi>{plainText(user.username)}</bdi>
          </dd>
          <dt>{t('access.account.role')}</dt>
          <dd>{t(`shell.roles.${user.role}`)}</dd>
          <dt>{t('access.account.lastLogin')}</dt>
          <dd>
            <Ago at={user.last_login_at} />
          </dd>
        </dl>
        <SignOut />
      </section>
      {user.issuer === null ? (
        <section className="panel">
          <h2>{t('access.account.change')}</h2>
          <PasswordForm username={user.username} />
        </section>
      ) : (
        <p>{t('access.account.provider', { host: plainText(new URL(user.issuer).host) })}</p>
      )}
    </>
  )
}

function PasswordForm({ username }: { username: string }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  // Resets the form after a successful change.
  const [round, setRound] = useState(0)
  const send = (values: FormData) => api.write('POST', '/api/auth/password', Object.fromEntries(values), 'object')
  const done = async () => {
    await api.session(true)
    setRound(round + 1)
    showMessage({ text: t('access.account.changed') })
  }
  return (
    <Form
      key={round}
      action={t('access.account.action')}
      check={(values) => newPasswordProblem(values, 'new_password', username)}
      send={send}
      onDone={done}
    >
      <PasswordField name="current_password" label={t('access.account.current')} autoComplete="current-password" />
      <PasswordField
        name="new_password"
        label={t('access.account.next')}
        hint={t('access.setUp.passwordHint')}
        autoComplete="new-password"
      />
    </Form>
  )
}
